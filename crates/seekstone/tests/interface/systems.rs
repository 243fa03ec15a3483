//! Runs of several systems in one table: performance relative to one of them, makers'
//! specifications and prices.

use std::fs;

use crate::support::Scratch;
use crate::support::tables::{estimate, row, rows};
use serde_json::Value;

const STUDY: &str = r#"
title = "Reads"
replicates = 2
readings = ["iops", "latency"]
[measurement]
kind = "trial"
duration = "2s"
[[factor]]
name = "clients"
levels = ["1"]
"#;

/// One study on devices that take 1, 2 and 4 ms a read: runs 1 to 3.
fn three_systems() -> Scratch {
    let scratch = Scratch::new();
    fs::write(scratch.path("reads.toml"), STUDY).expect("a study");
    for time in ["1ms", "2ms", "4ms"] {
        let target = format!("sim:delay?time={time}");
        let args = [
            "study",
            "reads.toml",
            "-q",
            "--seed",
            "1",
            "--target",
            &target,
        ];
        scratch.check(&args, 0, "Saved as run");
    }
    scratch
}

/// The cells of the first line of the page that begins with `name`, after `title`.
fn line_of<'a>(page: &'a str, title: &str, name: &str) -> Vec<&'a str> {
    let after = page
        .split(title)
        .nth(1)
        .unwrap_or_else(|| panic!("{title:?}: {page}"));
    let line = after.lines().find(|it| it.trim_start().starts_with(name));
    let line = line.unwrap_or_else(|| panic!("{name:?} after {title:?}: {page}"));
    line.split("  ")
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .collect()
}

/// Whether one of the cells is that number.
fn holds(cells: &[&str], number: f64) -> bool {
    cells.iter().any(|cell| cell.parse() == Ok(number))
}

/// Studies of several hosts could only be shown one by one.
#[test]
fn a_study_on_several_systems_is_one_table() {
    let scratch = three_systems();
    let args = ["runs", "compare", "--table", "systems", "1", "2", "3"];
    let page = scratch.check(&args, 0, "").stdout;
    for (figure, place) in [("1, iops", "[2]"), ("1, latency", "[2]")] {
        let found = line_of(&page, figure, place);
        assert!(holds(&found, 0.5), "{found:?}: {page}");
    }
    let means = "Mean performance over 1 row";
    assert!(holds(&line_of(&page, means, "[1]"), 1.0), "{page}");
    assert!(holds(&line_of(&page, means, "[3]"), 0.25), "{page}");
    // Relative to another, and of one figure alone.
    let more = ["--against", "3", "--metric", "iops"];
    let page = scratch.check(&[&args[..], &more].concat(), 0, "").stdout;
    assert!(!page.contains("latency"), "{page}");
    assert!(holds(&line_of(&page, "1, iops", "[1]"), 4.0), "{page}");
}

/// What the makers say and what it costs stands beside what was measured.
#[test]
fn specifications_and_prices_are_compared() {
    let scratch = three_systems();
    let facts = r#"
currency = "USD"
[[system]]
run = 1
name = "fast"
price = 4000
specified = { iops = "2000/s", latency = "0.5 ms" }
facts = { "average seek" = "0.4 ms" }
[[system]]
run = 3
price = 500
"#;
    fs::write(scratch.path("facts.toml"), facts).expect("facts");
    let args = ["runs", "compare", "--table", "systems", "1", "3"];
    let args = [&args[..], &["--facts", "facts.toml"]].concat();
    let page = scratch.check(&args, 0, "average seek 0.4 ms").stdout;
    assert!(page.contains("price 4,000 USD"), "{page}");
    let iops = line_of(&page, "1, iops", "[1] fast");
    assert!(
        iops.contains(&"2000/s") && iops.contains(&"50 %"),
        "{iops:?}"
    );
    let latency = line_of(&page, "1, latency", "[1] fast");
    assert!(latency.contains(&"200 %"), "{latency:?}");
    // A quarter of the performance for an eighth of the price.
    let mean = line_of(&page, "Mean performance", "[2]");
    assert!(mean.contains(&"500 USD") && holds(&mean, 2.0), "{mean:?}");
    fs::write(scratch.path("facts.toml"), "\n[system]\nrun = 1\n").expect("facts");
    scratch.check(
        &args,
        2,
        "facts.toml, line 2: [system] is one table. Write [[system]]",
    );
}

/// IOPS for the money stood in no form, and only as a mean of all figures beside those of another.
#[test]
fn each_rate_has_one_for_the_money_in_every_form() {
    let scratch = three_systems();
    let facts = "currency = \"USD\"\n[[system]]\nrun = 1\nprice = 4000\n\
                 [[system]]\nrun = 3\nprice = 500\n";
    fs::write(scratch.path("facts.toml"), facts).expect("facts");
    let with = |args: &[&str]| {
        let args = [&["runs"], args, &["--facts", "facts.toml"]].concat();
        scratch.check(&args, 0, "").stdout
    };
    let run = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let first = run(&with(&["export", "1"]));
    let levels = ["1", "iops"];
    for of in ["value", "low", "high"] {
        let value = |table: &str, levels: &[&str], metric: &str| {
            let found = estimate(row(&first, table, levels), metric).and_then(|it| it[of].as_f64());
            found.unwrap_or_else(|| panic!("no {metric}: {first}"))
        };
        let (whole, each) = (
            value("trial", &["1"], "iops"),
            value("price", &levels, "per USD"),
        );
        assert!(
            (whole / 4000.0 / each - 1.0).abs() < 1e-9,
            "{whole} and {each}"
        );
    }
    for form in ["csv", "html", "markdown"] {
        let text = with(&["export", "1", "--form", form]);
        assert!(text.contains("per USD"), "{form}: {text}");
    }
    assert!(with(&["show", "1"]).contains("Price: 4,000 USD"));
    assert!(with(&["compare", "1", "3"]).contains("per USD"));
    // A quarter of the rate for an eighth of the money.
    let page = with(&["compare", "1", "3", "--table", "systems"]);
    let found = line_of(&page, "1 iops, per USD", "[2]");
    assert!(holds(&found, 2.0), "{found:?}: {page}");
    // What is imported keeps its price, and has each figure once.
    fs::write(scratch.path("run.json"), with(&["export", "1"])).expect("a run");
    scratch.check(&["runs", "delete", "1"], 0, "");
    scratch.check(&["runs", "import", "run.json"], 0, "");
    let again = run(&scratch.check(&["runs", "export", "4"], 0, "").stdout);
    assert_eq!(rows(&again, "price"), rows(&first, "price"));
    let args = ["runs", "show", "2", "--facts", "facts.toml"];
    scratch.check(&args, 2, "no price of a run that is shown");
}

#[test]
fn mistakes_in_facts_are_one_sentence_with_their_place() {
    let scratch = three_systems();
    let check = |text: &str, expected: &str| {
        fs::write(scratch.path("facts.toml"), text).expect("facts");
        let args = ["runs", "compare", "--table", "systems", "1", "2"];
        let args = [&args[..], &["--facts", "facts.toml"]].concat();
        let ended = scratch.check(&args, 2, "");
        assert!(
            ended.stderr.contains(expected),
            "{expected:?}: {}",
            ended.stderr
        );
    };
    check(
        "[[system]]\nrun = 9",
        "facts of run 9: it is not among the compared runs",
    );
    check(
        "[[system]]\nrun = 1\nprize = 9",
        "facts.toml, line 3: unknown field",
    );
    check("[[system]]\nrun = 1\nprice = -9", "-9 is not a price");
    check(
        "[[system]]\nrun = 1\n[[system]]\nrun = 1",
        "facts of run 1 are given twice",
    );
    let specified = |it: &str| format!("[[system]]\nrun = 1\nspecified = {{ {it} }}");
    check(
        &specified("iopz = \"1/s\""),
        "`iopz` is specified, and no figure of the table is called so. There are `1 iops`, ",
    );
    // It was accepted for the end of its name, and shown nowhere.
    check(
        &specified("\"t=2 iops\" = \"1/s\""),
        "no figure of the table is called so",
    );
    check(
        &specified("iops = \"fast\""),
        "\"iops\" is specified as \"fast\". Give it as in",
    );
}

/// A device of another size took another time for its bytes: `runs compare` called that slower.
#[test]
fn devices_of_two_sizes_compare_by_their_rate() {
    let scratch = Scratch::new();
    for disk in ["rk05", "ra80"] {
        let target = format!("sim:rt11?disk={disk}");
        let args = ["files", &target, "--tests", "11", "--passes", "2", "-q"];
        scratch.check(&args, 0, "Saved as run");
    }
    let args = ["runs", "compare", "--table", "systems", "1", "2"];
    let page = scratch.check(&args, 0, "").stdout;
    assert!(page.contains("throughput"), "{page}");
    assert!(!page.contains("elapsed"), "{page}");
    let page = scratch.check(&["runs", "compare", "1", "2"], 0, "").stdout;
    assert!(
        page.contains("throughput") && !page.contains("elapsed"),
        "{page}"
    );
}

/// The normalisation of the DECUS paper: each site over its own memory disk.
#[test]
fn the_time_over_that_of_memory_is_a_figure() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.display().to_string();
    let args = [
        "files", &target, "--tests", "1", "--passes", "2", "-q", "--state", "as-is",
    ];
    scratch.check(
        &[&args[..], &["--reserve", "0"]].concat(),
        0,
        "Saved as run 1",
    );
    let json = scratch.check(&["runs", "export", "1"], 0, "").json();
    let has_memory = !json["other_targets"].is_null();
    let csv = scratch
        .check(&["runs", "export", "1", "--form", "csv"], 0, "")
        .stdout;
    assert_eq!(csv.contains("over-memory"), has_memory, "{csv}");
}
