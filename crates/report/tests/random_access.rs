//! The screen of random access and its CSV form, with invented figures.

use report::{Style, check_up, csv_measurements, headline, sample};
use results::Run;

/// A run that measured nothing but random access.
fn run() -> Run {
    let mut run = sample::run();
    run.settings.command = "random".into();
    run.measurements.truncate(1);
    run.findings.clear();
    run.warnings.clear();
    run.curve = None;
    run.random = Some(sample::random_access());
    run
}

/// A page whose lines fit into this file.
const NARROW: Style = Style {
    width: 92,
    color: false,
    unicode: true,
    all: false,
};

#[test]
fn a_table_for_each_sweep() {
    insta::assert_snapshot!(check_up(&run(), &NARROW), @"");
}

#[test]
fn all_combinations_stand_in_one_table() {
    let mut run = run();
    let found = run.random.as_mut().expect("random access");
    found.is_crossed = true;
    found.cells.truncate(2);
    found.cells[1].block_bytes = 8192;
    let text = check_up(&run, &NARROW);
    assert!(text.contains("All combinations"), "{text}");
    assert!(
        text.contains("read 8 KiB within 2 MiB, 1 at a time"),
        "{text}"
    );
}

#[test]
fn a_cell_is_a_line_of_numbers() {
    let text = csv_measurements(&run());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 11);
    assert!(lines[0].starts_with("kind,span_bytes,block_bytes,depth,service_mean_ns,"));
    assert!(
        lines[1].starts_with("read,32768,4096,1,52000,50960,53040,"),
        "{}",
        lines[1]
    );
    assert!(lines[9].ends_with(",2,false,true,sample"), "{}", lines[9]);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
}

#[test]
fn the_ends_of_the_spans_are_the_headline() {
    assert_eq!(
        headline(&run()),
        "random read 104 us within 1 GiB (52.0 us within 32 KiB), random write 95.0 us within \
         1 GiB (81.0 us within 32 KiB)"
    );
}
