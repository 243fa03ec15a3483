//! What archived runs give back: the same text, and rows for other programs.

mod support;

use support::{Ended, Scratch};

const DEVICE: &str = "sim:mmc?servers=4&mean=1ms";

#[track_caller]
fn exported(scratch: &Scratch, run: &str, form: &str) -> Ended {
    scratch.check(&["runs", "export", run, "--form", form], 0, "")
}

/// The rows of a CSV text without quotes, by the names of its columns.
fn rows(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect());
    (lines.next().unwrap_or_default(), lines.collect())
}

/// It was a bare header, and the exit code said that all was well.
#[test]
fn curves_are_exported_as_points_and_levels() {
    let scratch = Scratch::new();
    let args = ["curve", DEVICE, "--level", "2ms", "--seed", "1", "--quiet"];
    scratch.check(&args, 0, "Saved as run 1");
    let run = exported(&scratch, "1", "json").json();
    let points = exported(&scratch, "1", "points").stdout;
    let (columns, found) = rows(&points);
    assert_eq!(
        Some(found.len()),
        run["curve"]["points"].as_array().map(Vec::len)
    );
    for (row, point) in found
        .iter()
        .zip(run["curve"]["points"].as_array().expect("points"))
    {
        let cell = |name: &str| row[columns.iter().position(|it| *it == name).expect("a column")];
        assert_eq!(cell("clients"), point["clients"].to_string());
        assert_eq!(
            cell("load_per_s").parse().ok(),
            point["load"]["value"].as_f64()
        );
        assert_eq!(cell("scout"), point["is_scout"].to_string());
    }
    let levels = exported(&scratch, "1", "levels").stdout;
    let (_, found) = rows(&levels);
    assert!(found[0][1..3] == ["2000000", "reached"], "{levels}");
    assert_eq!(found[found.len() - 1][2], "saturation", "{levels}");

    let refused = |form: &str, expected: &str| {
        let args = ["runs", "export", "1", "--form", form];
        let ended = scratch.check(&args, 2, "");
        assert!(ended.error().contains(expected), "{}", ended.error());
        assert!(
            ended
                .error()
                .contains("--form json, points, levels, text, svg"),
            "{}",
            ended.error()
        );
    };
    refused("csv", "run 1 has no measurements");
    refused("series", "run 1 has no series");
    refused("intervals", "run 1 has no intervals");
    refused("markdown", "run 1 has no note");
}

#[test]
fn transfers_are_exported_as_series() {
    let scratch = Scratch::new();
    let args = [
        "transfer",
        "sim:fireball",
        "--size",
        "16MiB",
        "--passes",
        "3",
        "--quiet",
    ];
    scratch.check(&args, 0, "Saved as run 1");
    let run = exported(&scratch, "1", "json").json();
    let text = exported(&scratch, "1", "series").stdout;
    let series = run["transfer"]["series"].as_array().expect("series");
    assert_eq!(text.lines().count(), 1 + series.len(), "{text}");
    let args = ["runs", "export", "1", "--form", "csv"];
    let ended = scratch.check(&args, 2, "");
    assert!(
        ended.error().contains("--form json, series, text, passes"),
        "{}",
        ended.error()
    );
}

#[test]
fn intervals_of_a_trial_are_exported() {
    let scratch = Scratch::new();
    let trial = [
        "trial",
        DEVICE,
        "--duration",
        "2s",
        "--interval",
        "500ms",
        "--quiet",
    ];
    scratch.check(&trial, 0, "Saved as run 1");
    let run = exported(&scratch, "1", "json").json();
    let text = exported(&scratch, "1", "intervals").stdout;
    let (columns, found) = rows(&text);
    assert_eq!(
        columns[..4],
        ["measurement", "users", "end_ns", "length_ns"]
    );
    let column = columns.iter().position(|it| *it == "transactions");
    let sum: f64 = found
        .iter()
        .filter_map(|row| row[column.expect("a column")].parse::<f64>().ok())
        .sum();
    assert_eq!(
        Some(sum),
        run["measurements"][0]["completions_all"].as_f64()
    );
    assert_eq!(found.len(), 4, "{text}");
}

/// A trial was shown in 6 of its 32 lines.
#[test]
fn a_run_is_shown_as_it_was_printed() {
    let scratch = Scratch::new();
    let trial = [
        "trial",
        DEVICE,
        "--clients",
        "4",
        "--budget",
        "10s",
        "--quiet",
    ];
    let curve = ["curve", DEVICE, "--budget", "10s", "--quiet"];
    for (number, args) in [(1, &trial[..]), (2, &curve[..])] {
        let printed = scratch.check(args, 0, "Saved as run").stdout;
        let printed = printed.split("\nSaved as run").next().unwrap_or_default();
        let shown = scratch
            .check(&["runs", "show", &number.to_string()], 0, "")
            .stdout;
        // What was not archived yet when it was printed has no number.
        let body = |text: &str| -> Vec<String> {
            text.lines()
                .skip(1)
                .map(|line| line.trim_end().to_owned())
                .collect()
        };
        assert_eq!(
            body(shown.trim_end()),
            body(printed.trim_end()),
            "run {number}"
        );
    }
}
