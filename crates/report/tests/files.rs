//! File tests as text, as CSV, and several systems beside each other.

use report::{FilesComparisonError, Style, check_up, csv_files, files_comparison, sample};
use results::{FileState, FileSystemRole, Run};

fn run(id: i64, factor: f64) -> Run {
    let mut run = sample::run();
    run.id = Some(id);
    run.settings.command = "files".into();
    run.measurements.clear();
    run.curve = None;
    let mut files = sample::files();
    for test in &mut files.tests {
        if test.system == FileSystemRole::Target {
            test.elapsed_seconds = test.elapsed_seconds.scale(factor);
        }
    }
    run.files = Some(files);
    run
}

#[test]
fn every_figure_of_a_row_is_shown() {
    let style = Style {
        width: 160,
        all: true,
        ..Style::default()
    };
    let text = check_up(&run(7, 1.0), &style);
    for expected in [
        "Durable: files and directories synced",
        "As it is, counts times 100",
        "Memory disk, as it is",
        "TEST4 SPACE2",
        "~0.021",
        "0.01213 .. 0.01288",
        "TEST3: create",
        "4.31",
        "~ wider interval than was asked for",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
}

#[test]
fn a_narrow_page_keeps_time_and_interval() {
    let style = Style {
        width: 60,
        ..Style::default()
    };
    let text = check_up(&run(7, 1.0), &style);
    let row = text.lines().find(|line| line.contains("TEST3"));
    let row = row.expect("a row");
    assert!(row.contains("0.0125") && row.contains(".."), "{row}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
}

#[test]
fn csv_has_a_line_for_each_row_and_a_field_for_each_column() {
    let text = csv_files(&run(7, 1.0)).expect("file tests");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 5);
    let columns = lines[0].split(',').count();
    for line in &lines[1..] {
        assert_eq!(
            line.replace(", ", " ").split(',').count(),
            columns,
            "{line}"
        );
    }
    assert!(
        lines[1].starts_with("target,3,,as-is,1,300,2,0.0125,"),
        "{}",
        lines[1]
    );
    assert_eq!(csv_files(&sample::run()), None);
}

#[test]
fn systems_stand_from_the_slowest_to_the_fastest() {
    let style = Style::default();
    let runs = [run(1, 1.0), run(2, 10.0)];
    let text = files_comparison(&runs, None, &style).expect("a table");
    let place = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("{what} in\n{text}"))
    };
    // Run 2 is slowest; the memory disks come last.
    assert!(place("[1]") < place("run 2") && place("run 2") < place("run 1"));
    assert!(place("[3]") < place("memory disk"));
    for expected in [
        "host storage-7",
        "mounted ",
        "TEST3 durable",
        "+-3 %",
        "14.3",
    ] {
        place(expected);
    }
    let with_ratios = files_comparison(&runs, Some(2), &style).expect("a table");
    assert!(with_ratios.contains("x10.0 ("), "{with_ratios}");
    assert!(with_ratios.contains("ratio to system [2]"));
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let style = Style::default();
    let mut none = sample::run();
    none.id = Some(4);
    let refused = files_comparison(&[run(1, 1.0), none], None, &style);
    assert_eq!(refused, Err(FilesComparisonError::NoFiles("4".into())));
    let refused = files_comparison(&[run(1, 1.0)], Some(9), &style);
    assert_eq!(refused, Err(FilesComparisonError::NoSuchSystem(9, 2)));
    let mut other = run(2, 1.0);
    let files = other.files.as_mut().expect("file tests");
    files.memory = None;
    files.tests.retain(|it| it.system == FileSystemRole::Target);
    for test in &mut files.tests {
        test.state = FileState::Cold;
    }
    let mut one = run(1, 1.0);
    one.files.as_mut().expect("file tests").memory = None;
    let refused = files_comparison(&[one, other], None, &style);
    assert_eq!(refused, Err(FilesComparisonError::NothingShared));
}
