//! File tests as text, and several systems compared.

use crate::found;
use report::{FilesComparisonError, Style, check_up, files_comparison};
use results::{FileState, FileSystemRole, FileTests, Run, WarningCode};

/// A run, and what it found before this became tables.
#[derive(Clone)]
struct Case {
    run: Run,
    files: FileTests,
}

impl Case {
    fn done(&self) -> Run {
        Run {
            tables: self.files.tables(self.run.target.kind),
            row_warnings: self.files.row_warnings(),
            other_targets: self.files.memory.iter().cloned().collect(),
            ..self.run.clone()
        }
    }

    fn screen(&self, style: &Style) -> String {
        check_up(&self.done(), style)
    }
}

/// Systems beside each other.
fn compared(cases: &[Case], against: Option<u32>) -> Result<String, FilesComparisonError> {
    let runs: Vec<Run> = cases.iter().map(Case::done).collect();
    let models = |target: &str| vec![format!("{target} is a PDP-11/23")];
    files_comparison(&runs, against, &Style::default(), &models)
}

fn run(id: i64, factor: f64) -> Case {
    let mut run = sample::run();
    run.id = Some(id);
    run.settings.command = "files".into();
    run.measurements.clear();
    run.curves.clear();
    let mut files = found::files();
    for test in &mut files.tests {
        if test.system == FileSystemRole::Target {
            test.elapsed_seconds = test.elapsed_seconds.scale(factor);
        }
    }
    Case { run, files }
}

#[test]
fn every_figure_of_a_row_is_shown() {
    let style = Style {
        width: 160,
        all: true,
        ..Style::default()
    };
    let text = run(7, 1.0).screen(&style);
    for expected in [
        "durable: files and directories synced",
        "scale",
        "memory",
        "SPACE2",
        "21.0 ms",
        "12.5 ms",
        "12.1 .. 12.9",
        "create",
        "4.31",
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
    let text = run(7, 1.0).screen(&style);
    let row = text.lines().find(|line| line.starts_with("  3 "));
    let row = row.expect("a row");
    assert!(row.contains("1.43 s +-3 %"), "{row}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
}

#[test]
fn systems_stand_from_the_slowest_to_the_fastest() {
    let runs = [run(1, 1.0), run(2, 10.0)];
    let text = compared(&runs, None).expect("a table");
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
    let with_ratios = compared(&runs, Some(2)).expect("a table");
    assert!(with_ratios.contains("x10.0 ("), "{with_ratios}");
    assert!(with_ratios.contains("ratio to system [2]"));
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_reason() {
    let mut none = sample::run();
    none.id = Some(4);
    let refused = files_comparison(
        &[run(1, 1.0).done(), none],
        None,
        &Style::default(),
        &|_| Vec::new(),
    );
    assert_eq!(refused, Err(FilesComparisonError::NoFiles("4".into())));
    let refused = compared(&[run(1, 1.0)], Some(9));
    assert_eq!(refused, Err(FilesComparisonError::NoSuchSystem(9, 2)));
    let mut other = run(2, 1.0);
    let files = &mut other.files;
    files.memory = None;
    files.tests.retain(|it| it.system == FileSystemRole::Target);
    for test in &mut files.tests {
        test.state = FileState::Cold;
    }
    let mut one = run(1, 1.0);
    one.files.memory = None;
    let refused = compared(&[one, other], None);
    assert_eq!(refused, Err(FilesComparisonError::NothingShared));
}

/// A run whose target has these states only, with its memory disk as it is.
fn with_states(id: i64, factor: f64, states: &[FileState]) -> Case {
    let mut run = run(id, factor);
    let files = &mut run.files;
    files.tests.retain(|it| {
        it.scale == 1
            && it.test == "3"
            && (it.system == FileSystemRole::Memory || it.state == FileState::AsIs)
    });
    let one = files.tests.remove(0);
    for &state in states {
        files.tests.push(results::FileTest {
            state,
            ..one.clone()
        });
    }
    run
}

/// The legend claimed an order over tests that all systems have where there were none, and the
/// memory disk of a run in other states had no part in the order.
#[test]
fn the_order_says_over_which_tests_it_is() {
    use FileState::{AsIs, Cold, Durable};
    let one = [with_states(1, 1.0, &[Cold])];
    let text = compared(&one, Some(2)).expect("a table");
    assert!(
        text.contains("[2] ext4") || text.contains("memory disk"),
        "{text}"
    );
    assert!(
        text.contains("over the tests that all of them have"),
        "{text}"
    );
    assert!(
        text.contains("A memory disk has one state, as is"),
        "{text}"
    );
    let cold = text
        .lines()
        .find(|line| line.trim_start().starts_with("TEST3 cold"));
    assert!(cold.is_some_and(|line| line.contains(" x4.31 (")), "{text}");
    let some = [
        with_states(1, 1.0, &[Cold, AsIs]),
        with_states(2, 1.0, &[Cold]),
        with_states(3, 1.0, &[Durable]),
    ];
    let text = compared(&some, None).expect("a table");
    let said = "No test is common to all systems, so they";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("all of them have"), "{text}");
    // That each run has a test in common with its own memory disk is no comparison of runs.
    let none = [
        with_states(1, 1.0, &[Cold]),
        with_states(2, 1.0, &[Durable]),
    ];
    let mut none = none.to_vec();
    for test in &mut none[1].files.tests {
        test.test = "1".into();
    }
    let refused = compared(&none, None);
    assert_eq!(refused, Err(FilesComparisonError::NothingShared));
}

/// Seconds of TEST11 on a small device stood beside those on a large one, and were divided.
#[test]
fn test_11_compares_only_where_as_much_was_read() {
    let with_device = |id: i64, factor: f64, bytes: u64| {
        let mut run = with_states(id, factor, &[FileState::AsIs]);
        let files = &mut run.files;
        files.memory = None;
        let mut read = files.tests[1].clone();
        files.tests = vec![read.clone()];
        read.test = "11".into();
        for pass in &mut read.passes {
            pass.bytes = bytes;
        }
        files.tests.push(read);
        run
    };
    let (whole, small) = (16_384_000, 8_388_608);
    let runs = [with_device(1, 2.0, whole), with_device(2, 1.0, small)];
    let text = compared(&runs, Some(2)).expect("a table");
    let row = |start: &str| {
        let found = text
            .lines()
            .find(|line| line.trim_start().starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in\n{text}"))
            .to_owned()
    };
    assert!(row("TEST3 as-is").contains("x2.00 ("), "{text}");
    // A system over itself is one, for sure.
    assert_eq!(row("TEST3 as-is").matches('x').count(), 1, "{text}");
    let of_small = row("TEST11 as-is, of 8 MiB");
    assert!(
        of_small.contains(" - ") && !of_small.contains('x'),
        "{text}"
    );
    assert!(row("TEST11 as-is  ").ends_with('-'), "{text}");
    let runs = [with_device(1, 2.0, small), with_device(2, 1.0, small)];
    let text = compared(&runs, Some(2)).expect("a table");
    assert_eq!(text.matches("x2.00 (").count(), 2, "{text}");
}

/// Rows that drift are named, in one doubt.
#[test]
fn a_doubt_about_several_rows_is_told_once() {
    let mut run = run(7, 1.0);
    // The page has room for one.
    run.run.warnings.clear();
    let files = &mut run.files;
    for test in &mut files.tests {
        let text = format!("{}: later passes were 9 % slower.", test.name());
        test.warnings = vec![results::Warning::warn(WarningCode::Drift, text)];
    }
    let style = Style {
        width: 400,
        ..Style::default()
    };
    let text = run.screen(&style);
    let said = "warning TEST3 as-is: later passes were 9 % slower. (Also: TEST4 after SPACE2 \
        as-is, \
                TEST3 durable, TEST3 as-is at scale 100 and 1 more.)";
    assert!(text.contains(said), "{text}");
}

/// "1 passes", "1 files", and the time for each file of a test on one file.
#[test]
fn one_is_no_plural_and_a_block_no_file() {
    let mut run = run(7, 1.0);
    let files = &mut run.files;
    files.passes = Some(1);
    files.tree = files
        .tree
        .map(|tree| results::MetadataTree { files: 1, ..tree });
    let style = Style {
        width: 160,
        ..Style::default()
    };
    let text = run.screen(&style);
    let said = ", 1 file of 3901 bytes in one directory of all clients, read by another client";
    assert!(text.contains(said), "{text}");
    assert!(text.contains(", 1 pass."), "{text}");
    assert!(text.contains("node2"), "a row for each rank: {text}");
    let grown = |text: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.trim().starts_with("TEST3 as-is at scale 100"));
        line.expect("a row of growth").to_owned()
    };
    assert!(grown(&text).ends_with("file"), "{text}");
    let files = &mut run.files;
    for test in &mut files.tests {
        test.items = 1;
    }
    let text = run.screen(&style);
    assert!(grown(&text).ends_with("block"), "{text}");
}

/// A model of 1987 has no pages.
#[test]
fn cold_on_a_model_is_about_its_own_cache() {
    let mut run = with_states(7, 1.0, &[FileState::Cold]);
    let style = Style {
        width: 200,
        all: true,
        ..Style::default()
    };
    let cold = "cold: pages of the files dropped";
    assert!(run.screen(&style).contains(cold));
    run.run.target.kind = results::environment::TargetKind::Simulated;
    let text = run.screen(&style);
    assert!(
        text.contains("cold: the system's cache emptied before each pass"),
        "{text}"
    );
    assert!(!text.contains("pages"), "{text}");
}

/// The columns of processor and device had means without intervals, and fell out of narrow pages.
#[test]
fn what_a_pass_costs_has_intervals() {
    let mut run = run(7, 1.0);
    let files = &mut run.files;
    for (reads, pass) in (10..).zip(&mut files.tests[0].passes) {
        pass.device_reads = Some(reads);
    }
    let style = Style {
        width: 100,
        all: true,
        ..Style::default()
    };
    let text = run.screen(&style);
    // Passes 2 and 3 read 11 and 12 times: 11.5 +- 12.7 * 0.5.
    for expected in ["11.5", "5.1 .. 17.9", "5.00 ms", "4.31", "4.14 .. 4.48"] {
        assert!(text.contains(expected), "no {expected} in\n{text}");
    }
    let tables = run.done().tables();
    let files = tables.iter().find(|table| table.name == "files");
    let row = &files.expect("file tests").rows[0];
    let of = |metric: &str| row.figure(metric).expect(metric).value;
    let reads = of("device-reads");
    assert!((reads.low - 5.14).abs() < 0.01, "{reads:?}");
    assert!((reads.high - 17.85).abs() < 0.01, "{reads:?}");
    assert!((of("cpu-user").low - 0.001).abs() < 1e-9);
}

/// Two devices of other sizes had rows of their own, and nothing in common: the paper's figure of
/// merit, in bytes per second, is what a floppy and an RA80 have in common.
#[test]
fn the_figure_of_merit_compares_devices_of_any_size() {
    let device = |id: i64, name: &str, seconds: f64, bytes: u64| {
        let mut run = run(id, 1.0);
        run.run.target.kind = results::environment::TargetKind::Simulated;
        run.run.target.given = format!("sim:rt11?disk={name}");
        run.run.target.file_system = None;
        let files = &mut run.files;
        files.memory = None;
        let mut read = files.tests[0].clone();
        read.system = FileSystemRole::Target;
        read.test = "11".into();
        read.state = FileState::AsIs;
        read.elapsed_seconds = read
            .elapsed_seconds
            .scale(seconds / read.elapsed_seconds.value);
        for pass in &mut read.passes {
            pass.bytes = bytes;
        }
        files.tests = vec![read];
        run
    };
    // The larger one takes longer and is the faster one.
    let runs = [
        device(1, "ra80", 20.0, 16_384_000),
        device(2, "rk05", 10.0, 2_494_464),
    ];
    let text = compared(&runs, Some(1)).expect("a table");
    let merit = text
        .lines()
        .find(|line| line.trim_start().starts_with("merit kB/s"));
    let merit = merit.unwrap_or_else(|| panic!("{text}"));
    assert!(merit.contains("249") && merit.contains("819"), "{merit}");
    assert!(merit.contains("x3.28"), "{merit}");
    assert!(text.find("rk05") < text.find("ra80"), "{text}");
    let described = "    sim:rt11?disk=ra80 is a PDP-11/23\n";
    assert!(text.contains(described), "{text}");
    assert!(!text.contains("RAM"), "{text}");
}

/// Tests in four states took a hundred lines: a row for each test, a column for each state.
#[test]
fn several_states_fit_one_screen() {
    let style = Style::default();
    let text = run(7, 1.0).screen(&style);
    // 40 lines, and what was found out about a row, which is shown in any case.
    let found = text.matches("warning A doubt about one row").count();
    assert!(text.lines().count() <= 40 + found && found == 1, "{text}");
    let mut lines = text.lines();
    let heading = lines.find(|line| line.trim_start().starts_with("test "));
    let heading = heading.unwrap_or_else(|| panic!("no heading in\n{text}"));
    for state in ["as-is", "durable", "as-is, memory"] {
        assert!(heading.contains(state), "{state}: {heading}");
    }
    let row = lines.find(|line| line.starts_with("  3 "));
    assert!(
        row.is_some_and(|row| row.contains("1.43 s +-3 %")),
        "{text}"
    );
    assert!(text.contains("x: over memory"), "{text}");
}

/// Bug: a comparison of file systems ranked them by how fast they make directories.
#[test]
fn files_are_compared_by_the_rate_of_creates() {
    let mut run = with_states(7, 1.0, &[FileState::Cold]);
    let files = &mut run.files;
    files.memory = None;
    let one = files.tests.remove(0);
    let phases = ["mkdir", "create", "stat", "remove"].map(|phase| results::FileTest {
        test: phase.into(),
        system: FileSystemRole::Target,
        bytes_per_second: None,
        ..one.clone()
    });
    files.tests = phases.to_vec();
    let first = |run: &Case| run.done().readings()[0].name.clone();
    assert_eq!(first(&run), "create.files-per-second");
    // Of what was asked for instead, the first.
    run.files.tests.remove(1);
    assert_eq!(first(&run), "stat.files-per-second");
}
