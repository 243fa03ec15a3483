//! What archived runs give back: the same text, and rows for other programs.

use serde_json::Value;

use crate::support::{self, Ended, Scratch};

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
fn curves_are_exported_as_points_and_figures() {
    let scratch = Scratch::new();
    let args = ["curve", DEVICE, "--level", "2ms", "--seed", "1", "--quiet"];
    scratch.check(&args, 0, "Saved as run 1");
    let run = exported(&scratch, "1", "json").json();
    let points = exported(&scratch, "1", "points").stdout;
    let (columns, found) = rows(&points);
    assert_eq!(
        Some(found.len()),
        run["curves"][0]["points"].as_array().map(Vec::len)
    );
    for (row, point) in found
        .iter()
        .zip(run["curves"][0]["points"].as_array().expect("points"))
    {
        let cell = |name: &str| row[columns.iter().position(|it| *it == name).expect("a column")];
        assert_eq!(cell("clients"), point["clients"].to_string());
        assert_eq!(
            cell("load_per_s").parse().ok(),
            point["load"]["value"].as_f64()
        );
        assert_eq!(cell("scout"), point["is_scout"].to_string());
    }
    // Its levels, highest load and points stand among the figures.
    let figures = exported(&scratch, "1", "csv").stdout;
    let (columns, found) = rows(&figures);
    let table = columns.iter().position(|it| *it == "table");
    let table = table.expect("a column");
    for name in ["levels", "saturation", "points"] {
        assert!(found.iter().any(|row| row[table] == name), "{figures}");
    }
    exported(&scratch, "1", "markdown");
    let metrics = exported(&scratch, "1", "openmetrics").stdout;
    assert!(metrics.contains("seekstone_iops_per_second{"), "{metrics}");

    let refused = |form: &str, expected: &str| {
        let args = ["runs", "export", "1", "--form", form];
        let ended = scratch.check(&args, 2, "");
        assert!(ended.error().contains(expected), "{}", ended.error());
        let there =
            "--form json, csv, markdown, html, svg, openmetrics, influx, parquet, points, text";
        assert!(ended.error().contains(there), "{}", ended.error());
    };
    refused("replicates", "run 1 has no repetitions");
    refused("intervals", "run 1 has no intervals");
}

/// `compare` took ranges; `show` and `delete` took single numbers.
#[test]
fn runs_are_shown_and_deleted_by_ranges() {
    let scratch = Scratch::new();
    for saved in 1..=4 {
        let args = ["trial", "sim:mm1", "--seed", "1", "-q", "--md", "-"];
        scratch.check(&args, 0, "");
        let show = ["runs", "show"];
        scratch.check(&show, 0, &format!("run {saved}: Workload on sim:mm1"));
    }
    let shown = scratch
        .check(&["runs", "show", "1..2", "latest", "2"], 0, "")
        .stdout;
    let heads = shown
        .lines()
        .filter(|it| it.contains(": Workload on sim:mm1"));
    let heads: Vec<&str> = heads.map(|it| it.split(':').next().unwrap_or(it)).collect();
    assert_eq!(heads, ["run 1", "run 2", "run 4"]);
    scratch.check(&["runs", "delete", "1..2", "4"], 0, "deleted: 3");
    scratch.check(
        &["runs", "show", "1..2"],
        2,
        "the archive has no run in 1..2",
    );
    scratch.check(
        &["runs", "delete", "a.json"],
        2,
        "name runs of the archive by number",
    );
    scratch.check(&["runs", "show", "latest"], 0, "run 3: ");
}

/// Bug: a second `--beside` was an error, and a page took none.
#[test]
fn several_runs_are_drawn_together() {
    let scratch = Scratch::new();
    let models = ["sim:mm1", "sim:mmc?servers=4&mean=1ms", "sim:mm1"];
    for (model, saved) in models.iter().zip(1..) {
        let args = ["curve", model, "--level", "2ms", "--seed", "1", "-q"];
        scratch.check(&args, 0, &format!("Saved as run {saved}"));
    }
    let beside: [&[&str]; 2] = [&["2", "latest"], &["--beside", "2", "--beside", "latest"]];
    for (form, beside) in [("svg", beside[0]), ("html", beside[0]), ("svg", beside[1])] {
        let args = [&["runs", "export", "1", "--form", form], beside].concat();
        let drawn = scratch.check(&args, 0, "").stdout;
        assert!(drawn.contains("servers=4"), "{form}");
        assert!(
            form == "html" || drawn.contains("sim:mm1, run 3"),
            "{drawn}"
        );
    }
    let export = |ids: &str, form: &str| {
        let args = ["runs", "export", ids, "--form", form];
        scratch.check(&args, 0, "").stdout
    };
    let lines = |ids: &str, form: &str| export(ids, form).lines().count();
    for form in ["csv", "points"] {
        let each: usize = ["1", "2", "3"].map(|id| lines(id, form) - 1).iter().sum();
        assert_eq!(
            lines("1..3", form),
            each + 1,
            "{form}: the heading stands once"
        );
    }
    let all: Value = serde_json::from_str(&export("1..3", "json")).expect("JSON");
    let ids: Vec<_> = all
        .as_array()
        .expect("runs")
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    let metrics = ["runs", "export", "1..3", "--form", "openmetrics"];
    scratch.check(&metrics, 2, "this form holds one run");
    let missing = ["runs", "export", "1", "--form", "svg", "--beside", "9"];
    scratch.check(
        &missing,
        1,
        "it holds runs between 1 and 3. `runs list` names them",
    );
}

/// Percentiles of intervals of any length, which add up to the trial.
#[test]
fn latency_over_time_is_exported_as_a_series() {
    let scratch = Scratch::new();
    let args = [
        "trial",
        "sim:mm1?mean=100us&stall=1s@5000",
        "--rate",
        "2k",
        "--duration",
        "10s",
        "--seed",
        "1",
        "--quiet",
    ];
    scratch.check(&args, 0, "Saved as run 1");
    let run = exported(&scratch, "1", "json").json();
    let all = run["measurements"][0]["completions_all"].as_f64();
    let series = |more: &[&str]| -> Vec<Vec<f64>> {
        let args = ["runs", "export", "1", "--form", "series"];
        let text = scratch.check(&[&args[..], more].concat(), 0, "").stdout;
        let (columns, rows) = rows(&text);
        let places = ["end_s", "operations", "p99_us", "max_us"];
        let places =
            places.map(|name| columns.iter().position(|it| *it == name).expect("a column"));
        let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
        let cells = |row: Vec<&str>| places.iter().map(|&at| number(row[at])).collect();
        rows.into_iter().map(cells).collect()
    };
    for (every, count) in [("100ms", 100), ("500ms", 20), ("1s", 10), ("10s", 1)] {
        let found = series(&["--every", every]);
        let ends = found.iter().map(|row| row[0]);
        let each = 10.0 / f64::from(count);
        let expected = (1..=count).map(|it| f64::from(it) * each);
        let off = ends.zip(expected).map(|(end, it)| (end - it).abs());
        assert_eq!(found.len(), count as usize, "{every}");
        assert!(off.fold(0.0, f64::max) < 0.02, "{every}: {found:?}");
        let operations: f64 = found.iter().map(|row| row[1]).sum();
        // The last moment of a trial is in none of its slots.
        let off = all.expect("a count") - operations;
        assert!(
            (0.0..50.0).contains(&off),
            "{every}: {operations} of {all:?}"
        );
    }
    // The stall after the 5000th operation is where it was: some interval waited for a second.
    let worst = series(&[])
        .into_iter()
        // Nothing may have been completed in an interval of the stall.
        .filter(|row| row[3].is_finite())
        .max_by(|left, right| left[3].total_cmp(&right[3]));
    let worst = worst.expect("an interval");
    assert!((900_000.0..2_000_000.0).contains(&worst[3]), "{worst:?}");
    assert!((2.5..5.0).contains(&worst[0]), "{worst:?}");
    // Windows are those of one form, which need not be named.
    let every = ["runs", "export", "--every", "1s", "--form", "json"];
    scratch.check(&every[..4], 0, "begin_s,end_s");
    scratch.check(&every, 2, "--form series");
    let uneven = [
        "runs", "export", "1", "--form", "series", "--every", "250ms",
    ];
    let refused = scratch.check(&uneven, 2, "");
    assert!(
        refused.error().contains("Use a multiple of 100ms"),
        "{}",
        refused.error()
    );
}

/// A database's administrator asks when p99 was high, and how often.
#[test]
fn stalls_are_told_with_their_period_and_shown_in_their_second() {
    let scratch = Scratch::new();
    let args = [
        "trial",
        "sim:mm1?mean=1ms&stall=500ms@every:10s",
        "--rate",
        "700/s",
        "--duration",
        "60s",
        "--interval",
        "1s",
        "--seed",
        "1",
        "--quiet",
    ];
    let screen = scratch
        .check(&args, 0, "5 I/O stalls of 502 ms, every 10.0 s.")
        .stdout;
    let rows = || {
        screen
            .lines()
            .filter(|it| it.contains(" s  ") && it.contains(" ms  "))
    };
    assert_eq!(rows().count(), 20, "{screen}");
    for second in ["10.0 s", "20.0 s", "30.0 s", "40.0 s", "50.0 s"] {
        let row = rows().find(|it| it.trim_start().starts_with(second));
        let row = row.unwrap_or_else(|| panic!("no {second} in {screen}"));
        assert!(
            row.ends_with("███████████████") || row.ends_with("###############"),
            "{row}"
        );
    }
    let all = scratch
        .check(&["runs", "show", "1", "--all"], 0, "59.0 s")
        .stdout;
    assert!(!all.contains("of 60 intervals"), "{all}");
}

#[test]
fn the_passes_of_transfers_are_exported() {
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
    let tables = run["tables"].as_array().expect("tables");
    let rows = tables[0]["rows"].as_array().expect("rows");
    let passes = exported(&scratch, "1", "replicates").stdout;
    let throughputs = passes.lines().filter(|line| line.contains(",throughput,"));
    let counted: usize = rows
        .iter()
        .map(|row| row["replicates"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(throughputs.count(), counted, "{passes}");
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
        // The setup stands below what was printed.
        let (shown, setup) = shown.split_once("\nSetup\n").expect("a setup");
        assert!(setup.contains("target sim:mmc"), "{setup}");
        assert_eq!(
            body(shown.trim_end()),
            body(printed.trim_end()),
            "run {number}"
        );
    }
}

#[test]
fn a_run_is_written_in_every_form_that_was_asked_for() {
    let scratch = Scratch::new();
    let trial = ["trial", DEVICE, "--duration", "2s", "--quiet"];
    let forms = [
        ("--csv", "run.csv", ",latency-p99,"),
        ("--markdown", "run.md", "| trial |"),
        (
            "--html",
            "run.html",
            "<h1>Random read 4 KiB, 1 client on sim:mmc?servers=4&amp;mean=1ms</h1>",
        ),
        ("--openmetrics", "run.prom", "# EOF"),
        ("--influx", "run.lp", ",table=measurements,trust="),
        ("--json", "run.json", "\"tables\""),
    ];
    let asked: Vec<&str> = forms.iter().flat_map(|it| [it.0, it.1]).collect();
    scratch.check(&[&trial[..], &asked].concat(), 0, "Saved as run 1");
    for (option, file, expected) in forms {
        let text = std::fs::read_to_string(scratch.path(file)).expect(file);
        assert!(text.contains(expected), "{option}:\n{text}");
    }
    // Bug: an archived run was written by another command alone.
    let shown = [
        "runs",
        "show",
        "1",
        "-o",
        "shown.html",
        "--csv",
        "shown.csv",
    ];
    scratch.check(&shown, 0, "random read 4 KiB, 1 client");
    let read = |file: &str| std::fs::read_to_string(scratch.path(file)).expect(file);
    assert_eq!(read("shown.csv"), read("run.csv"));
    assert!(
        read("shown.html").contains(forms[2].2),
        "{}",
        read("shown.html")
    );
    std::fs::write(scratch.path("own.html"), "own").expect("a file");
    scratch.check(&["runs", "show", "1", "-o", "own.html"], 2, "--force");
    let twice = ["--csv", "-", "--json", "-"];
    let refused = scratch.check(&[&trial[..], &twice].concat(), 2, "");
    let expected = "--json - and --csv - both mean standard output";
    assert!(refused.error().contains(expected), "{}", refused.error());
    let alone = scratch.check(&[&trial[..], &["--csv", "-"]].concat(), 0, "");
    assert!(
        alone.stdout.starts_with("run,command,target,"),
        "{}",
        alone.stdout
    );
}

/// A page is what others are sent: what it holds is archived and measured again elsewhere.
#[test]
fn a_page_is_imported_and_repeated() {
    let scratch = Scratch::new();
    let trial = [
        "trial",
        DEVICE,
        "--duration",
        "2s",
        "--seed",
        "5",
        "--quiet",
    ];
    let page = ["--html", "run.html", "--no-save"];
    scratch.check(&[&trial[..], &page].concat(), 0, "");
    scratch.check(
        &["runs", "import", "run.html"],
        0,
        "run 1: trial of sim:mmc",
    );
    scratch.check(&["runs", "repeat", "--quiet"], 0, "Saved as run 2");
    let same = scratch.check(&["runs", "compare", "1", "2"], 0, "show no difference");
    assert!(!same.stdout.contains("worse"), "{}", same.stdout);
    let again = exported(&scratch, "2", "html").stdout;
    let page = std::fs::read_to_string(scratch.path("run.html")).expect("a page");
    let lead = |page: &str| {
        page.lines()
            .find(|it| it.contains("class=\"lead\""))
            .map(str::to_owned)
    };
    assert!(lead(&page).is_some());
    assert_eq!(lead(&page), lead(&again));
}

/// Only runs of `files` could be compared.
#[test]
fn any_two_runs_are_compared() {
    let scratch = Scratch::new();
    let trial = |device: &str| {
        let args = [
            "trial",
            device,
            "--duration",
            "20s",
            "--seed",
            "1",
            "--quiet",
        ];
        scratch.check(&args, 0, "Saved as run");
    };
    trial("sim:mm1?mean=1ms");
    trial("sim:mm1?mean=2ms");
    trial("sim:mm1?mean=1ms");
    let transfer = ["transfer", "sim:fireball", "--size", "8MiB", "-q"];
    scratch.check(&transfer, 0, "Saved as run 4");
    let slower = scratch
        .check(&["runs", "compare", "1", "2"], 0, "worse")
        .stdout;
    for expected in ["latency ", "iops ", "2.0", "setup.target", "One run a side"] {
        assert!(slower.contains(expected), "no {expected} in\n{slower}");
    }
    // It was said three times.
    assert!(!slower.contains("target.given"), "{slower}");
    let same = scratch
        .check(
            &["runs", "compare", "1", "3"],
            0,
            "No difference is shown in",
        )
        .stdout;
    assert!(
        !same.contains("worse") && same.contains("are the same"),
        "{same}"
    );
    let page = ["runs", "compare", "1", "2", "--html", "compared.html"];
    scratch.check(&page, 0, "worse");
    let page = std::fs::read_to_string(scratch.path("compared.html")).expect("a page");
    assert!(
        page.contains("<span class=\"t invalid\">worse</span>"),
        "{page}"
    );
    let over = ["runs", "compare", "1", "2", "--html", "archive.db"];
    let refused = scratch.check(&over, 2, "");
    assert!(
        refused.error().contains("the archive of runs"),
        "{}",
        refused.error()
    );
    let three = scratch
        .check(&["runs", "compare", "1", "2", "3"], 0, "run 3")
        .stdout;
    assert_eq!(three.matches("compared with run 1").count(), 2, "{three}");
    let refused = scratch.check(&["runs", "compare", "1", "4"], 2, "");
    assert!(
        refused.error().contains("no row in common"),
        "{}",
        refused.error()
    );
    let alone = scratch.check(&["runs", "compare", "1"], 2, "");
    assert!(
        alone.error().contains("two runs or more"),
        "{}",
        alone.error()
    );
}

/// A trial comes out as the job file that `--as-fio` prints, a run of `fio` as the file that it
/// read; fio reads both.
#[test]
fn runs_are_exported_as_job_files() {
    let scratch = Scratch::new();
    let load = ["--writes", "25%", "--clients", "8", "--size", "16MiB"];
    let trial = ["trial", "target", "--duration", "200ms"];
    scratch.target();
    scratch.check(&[&trial[..], &load].concat(), 0, "25 % write");
    let printed = [&trial[..], &load, &["--as-fio"]].concat();
    let printed = scratch.check(&printed, 0, "rwmixread=75").stdout;
    let export = ["runs", "export", "1", "--form", "fio"];
    let exported = scratch.check(&export, 0, "iodepth=8").stdout;
    let place = std::fs::canonicalize(scratch.path("target")).expect("a directory");
    let place = format!("directory={}", place.display());
    assert_eq!(exported.replace(&place, "directory=target"), printed);
    let text = "; mine\n[a]\nioengine=null\nrw=randread\nsize=1m\n[b]\nstonewall\nioengine=null\n\
                rw=write\nsize=1m\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("a job file");
    scratch.check(&["fio", "jobs.fio"], 0, "READ: bw=");
    let export = ["runs", "export", "2", "--form", "fio"];
    let exported = scratch.check(&export, 0, "[a]").stdout;
    assert_eq!(exported.trim_end(), text.trim_end());
    if !support::is_installed("fio") {
        return support::skipped(
            "runs_are_exported_as_job_files: fio's reader",
            "fio is missing",
        );
    }
    for (name, text) in [("trial.fio", &printed), ("fio.fio", &exported)] {
        std::fs::write(scratch.path(name), text).expect("a job file");
        let mut fio = std::process::Command::new("fio");
        fio.args(["--showcmd", name]);
        scratch.settle(&mut fio);
        let ended = support::finish(fio);
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
    }
}
