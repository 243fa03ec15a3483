//! Rounds of file tests: files are there before they are read, repeats come until they are enough,
//! and what is known in advance is found.

use std::collections::{BTreeMap, BTreeSet};

use procedure::{
    DeviceRead, FileCell, FileItem, FilePlayed, FileStep, FilesPlan, FilesProcedure, RoundOrder,
    RoundsRule, file_test, growth, over_memory,
};
use random::{Purpose, Stream};
use results::{FileComparison, FilePass, FileState, FileSystemRole};
use stats::RepeatsEnd;
use units::Duration;
use workload::{DecusTest, FilesShape, MetadataPhase, MetadataSpec, Spacing};

fn rule(passes: Option<u32>) -> RoundsRule {
    RoundsRule {
        rounds: passes,
        precision: 0.05,
        rounds_min: 1,
        rounds_max: 100,
        budget: Duration::from_secs(1000),
    }
}

fn plan(items: Vec<FileItem>, passes: Option<u32>) -> FilesPlan {
    FilesPlan {
        items,
        roles: vec![FileSystemRole::Target, FileSystemRole::Memory],
        states: FileState::ALL.to_vec(),
        scales: vec![1, 10],
        device: DeviceRead::OwnFile,
        rule: rule(passes),
        order: RoundOrder::Random,
        seed: 11,
    }
}

fn everything() -> Vec<FileItem> {
    FilesPlan::decus(&DecusTest::ALL, &[Spacing::Space2, Spacing::Space8])
}

/// What is on each file system, step by step.
#[derive(Default)]
struct Disks {
    /// Tests whose files are there, and what lies in their midst.
    made: BTreeMap<FileSystemRole, (BTreeSet<DecusTest>, Spacing)>,
    is_cold: bool,
}

impl Disks {
    fn follow(&mut self, step: &FileStep) {
        match step {
            FileStep::Initialise(role) => drop(self.made.insert(*role, Default::default())),
            FileStep::Prepare(cell) => self.play(cell),
            FileStep::Space(cell, spacing) => {
                let (made, there) = self.made.get_mut(&cell.role).expect("initialised");
                assert!(made.contains(&DecusTest::Test3), "SPACE needs the files");
                let expected = match spacing {
                    Spacing::Space8 => Spacing::Space2,
                    _ => Spacing::None,
                };
                assert_eq!(*there, expected, "before {spacing:?}");
                *there = *spacing;
            }
            FileStep::DropCaches(_) | FileStep::StandIn(_) | FileStep::SharedFile(_) => {}
            FileStep::Measure { cell, .. } => {
                assert_eq!(cell.state == FileState::Cold, self.is_cold, "{cell:?}");
                self.play(cell);
            }
        }
        self.is_cold = matches!(step, FileStep::DropCaches(_));
    }

    fn play(&mut self, cell: &FileCell) {
        let (made, there) = self.made.get_mut(&cell.role).expect("initialised");
        let FileItem::Decus(test, spacing) = cell.item else {
            return;
        };
        if let Some(needed) = test.needs() {
            assert!(made.contains(&needed), "{test:?} needs {needed:?}");
            assert!(!test.is_spaced() || *there == spacing, "{cell:?}");
        } else {
            assert!(made.insert(test), "{test:?} finds its own files");
        }
    }
}

/// Run to the end, each pass taking what `time` says; returns the passes of each cell.
fn run(plan: FilesPlan, mut time: impl FnMut(&FileCell) -> f64) -> BTreeMap<FileCell, Vec<u32>> {
    let mut procedure = FilesProcedure::new(plan);
    let mut passes: BTreeMap<FileCell, Vec<u32>> = BTreeMap::new();
    let mut disks = Disks::default();
    let mut spent = Duration::ZERO;
    while let Some(step) = procedure.next_step(spent) {
        disks.follow(&step);
        if let FileStep::Measure { cell, pass } = step {
            let elapsed = Duration::from_secs_f64(time(&cell));
            spent += elapsed;
            procedure.record(&cell, elapsed);
            passes.entry(cell).or_default().push(pass);
        }
    }
    assert_eq!(
        passes.len(),
        procedure.cells().len(),
        "no test is forgotten"
    );
    passes
}

const fn tree() -> MetadataSpec {
    MetadataSpec::in_own_trees(1_000, 2, 10)
}

/// A flat tree has no directories to make.
#[test]
fn phases_without_anything_to_do_are_left_out() {
    let flat = MetadataSpec { depth: 0, ..tree() };
    let left = FilesPlan::metadata(&flat).len();
    let dirs = [
        MetadataPhase::MakeDirectories,
        MetadataPhase::RemoveDirectories,
    ];
    let empty = dirs.iter().filter(|&&phase| flat.items(phase) == 0).count();
    assert_eq!((empty, left), (2, 7));
}

#[test]
fn every_test_finds_the_files_that_it_needs() {
    let all = FilesPlan::decus(&DecusTest::ALL, &[]);
    assert_eq!((all.len(), everything().len()), (14, 14 + 2 * 5));
    let some = [DecusTest::Test4, DecusTest::Test7, DecusTest::Test9];
    for items in [
        everything(),
        all,
        FilesPlan::decus(&some, &[Spacing::Space8]),
        FilesPlan::metadata(&tree()),
    ] {
        for order in [RoundOrder::Random, RoundOrder::Paper] {
            let plan = FilesPlan {
                order,
                ..plan(items.clone(), Some(3))
            };
            let warm_up = u32::from(order == RoundOrder::Random);
            let found = run(plan, |_| 0.1);
            for (cell, passes) in found {
                let expected: Vec<u32> = (1..=3 + warm_up).collect();
                assert_eq!(passes, expected, "{cell:?}");
            }
        }
    }
}

/// With durable or cold rows alone there was no row of the memory disk to compare them with.
#[test]
fn the_memory_disk_is_as_it_is_whatever_the_target_is() {
    for states in [
        &FileState::ALL[..],
        &[FileState::Cold],
        &[FileState::Durable],
    ] {
        let plan = FilesPlan {
            states: states.to_vec(),
            ..plan(everything(), None)
        };
        let cells = FilesProcedure::new(plan);
        let states_of = |role| -> BTreeSet<FileState> {
            let cells = cells.cells().iter().filter(|cell| cell.role == role);
            cells.map(|cell| cell.state).collect()
        };
        assert_eq!(
            states_of(FileSystemRole::Target),
            states.iter().copied().collect()
        );
        assert_eq!(
            states_of(FileSystemRole::Memory),
            BTreeSet::from([FileState::AsIs])
        );
    }
}

/// TEST11 was measured again under "counts times 10", though it read the same; and durable on a
/// device that is only read.
#[test]
fn test_11_is_measured_where_it_says_something() {
    use FileState::{AsIs, Cold, Durable};
    use FileSystemRole::{Memory, Target};
    let rows_of = |scales: &[u32], device: DeviceRead| -> Vec<(FileSystemRole, u32, FileState)> {
        let plan = FilesPlan {
            scales: scales.to_vec(),
            device,
            ..plan(everything(), None)
        };
        let procedure = FilesProcedure::new(plan);
        let cells = procedure.cells().iter();
        let is_11 =
            |cell: &&FileCell| cell.item == FileItem::Decus(DecusTest::Test11, Spacing::None);
        let others = procedure.cells().iter().filter(|cell| !is_11(cell));
        assert!(others.into_iter().all(|cell| scales.contains(&cell.scale)));
        cells
            .filter(is_11)
            .map(|cell| (cell.role, cell.scale, cell.state))
            .collect()
    };
    let of_target = [(Target, 1, AsIs), (Target, 1, Cold), (Target, 1, Durable)];
    let of_memory = (Memory, 1, AsIs);
    for scales in [&[1][..], &[1, 10], &[10, 100]] {
        let own = rows_of(scales, DeviceRead::OwnFile);
        assert_eq!(own, [&of_target[..], &[of_memory]].concat());
        let named = rows_of(scales, DeviceRead::Named);
        assert_eq!(named, [&of_target[..2], &[of_memory]].concat());
    }
}

#[test]
fn a_test_that_varies_is_repeated_more_often() {
    let mut stream = Stream::new(3, 0, Purpose::Think);
    let noisy = FileItem::Decus(DecusTest::Test2, Spacing::None);
    let found = run(plan(everything(), None), |cell| {
        let noise = if cell.item == noisy { 0.6 } else { 0.001 };
        0.01 * (1.0 + noise * (stream.unit() - 0.5))
    });
    for (cell, passes) in &found {
        let is_noisy = cell.item == noisy;
        // The first, ten, and three that confirm them are enough for what does not vary.
        assert_eq!(passes.len() > 14, is_noisy, "{cell:?}: {passes:?}");
    }
}

#[test]
fn a_budget_ends_the_run_once_each_test_has_an_interval() {
    let mut stream = Stream::new(3, 0, Purpose::Think);
    let mut plan = plan(everything(), None);
    plan.rule.budget = Duration::from_secs(1);
    let found = run(plan, |_| stream.unit());
    assert!(found.values().all(|passes| passes.len() == 3), "{found:?}");
}

#[test]
fn the_order_of_rounds_differs_and_is_the_seeds() {
    let order = |seed: u64| {
        let mut procedure = FilesProcedure::new(FilesPlan {
            seed,
            ..plan(everything(), Some(2))
        });
        let mut steps = Vec::new();
        while let Some(step) = procedure.next_step(Duration::ZERO) {
            if let FileStep::Measure { cell, .. } = step {
                procedure.record(&cell, Duration::from_millis(1));
                steps.push(cell);
            }
        }
        steps
    };
    let first = order(1);
    assert_eq!(first, order(1));
    assert_ne!(first, order(2));
    let round = first.len() / 3;
    assert_ne!(first[..round], first[round..2 * round]);
}

fn played(seconds: &[f64]) -> FilePlayed {
    let mut all = FilePlayed::new(true);
    for (number, seconds) in (1..).zip(seconds) {
        let pass = FilePass {
            number,
            is_warm_up: false,
            elapsed_ns: (seconds * 1e9) as u64,
            calls: 900,
            bytes: 153_600,
            cpu_user_ns: Some(1_000_000),
            cpu_system_ns: None,
            device_reads: Some(u64::from(number)),
            device_writes: None,
            items: None,
            stonewall: None,
        };
        all.add(pass, &BTreeMap::new());
    }
    all
}

fn cell(role: FileSystemRole, scale: u32) -> FileCell {
    FileCell {
        role,
        scale,
        state: FileState::AsIs,
        item: FileItem::Decus(DecusTest::Test3, Spacing::None),
    }
}

#[test]
fn a_row_is_the_mean_of_its_passes_without_the_first() {
    let row = file_test(
        &cell(FileSystemRole::Target, 1),
        None,
        2,
        true,
        RepeatsEnd::LookedAt,
        &played(&[9.0, 1.0, 2.0, 3.0]),
    );
    assert!((row.elapsed_seconds.value - 2.0).abs() < 1e-9);
    // Student's t of 2 degrees of freedom is 4.3027; the standard error is 1 / sqrt(3).
    assert!((row.elapsed_seconds.high - 2.0 - 4.302_653 / 3_f64.sqrt()).abs() < 1e-5);
    assert!(row.elapsed_seconds.low < 1e-9, "no time is negative");
    assert!(
        (row.items_per_second.value - 300.0).abs() < 1e-6,
        "300 files, two clients, 2 s"
    );
    assert_eq!(row.items_per_second.high, f64::INFINITY);
    assert!((row.calls_per_second.value - 450.0).abs() < 1e-6);
    let bytes = row.bytes_per_second.expect("bytes were moved");
    assert!((bytes.value - 76_800.0).abs() < 1e-6);
    let mean = |of, unit| row.pass_mean(of, unit).map(|it| it.value);
    let reads = mean(|pass| pass.device_reads, 1.0);
    assert_eq!(reads, Some(3.0), "of passes 2, 3 and 4");
    let user = mean(|pass| pass.cpu_user_ns, 1e-9);
    assert!(user.is_some_and(|it| (it - 0.001).abs() < 1e-12));
    assert_eq!(mean(|pass| pass.cpu_system_ns, 1e-9), None);
    let first: Vec<bool> = row.passes.iter().map(|pass| pass.is_warm_up).collect();
    assert_eq!(first, [true, false, false, false]);
    // Alone, the first pass is all there is.
    let row = file_test(
        &cell(FileSystemRole::Target, 1),
        None,
        1,
        false,
        RepeatsEnd::LookedAt,
        &played(&[9.0]),
    );
    assert!((row.elapsed_seconds.value - 9.0).abs() < 1e-9);
    assert!(!row.elapsed_seconds.is_bounded());
}

#[test]
fn passes_that_grow_slower_are_told() {
    let row = |seconds: &[f64]| {
        file_test(
            &cell(FileSystemRole::Target, 1),
            None,
            1,
            true,
            RepeatsEnd::LookedAt,
            &played(seconds),
        )
    };
    let even: Vec<f64> = (0..20).map(|n| 1.0 + 0.01 * f64::from(n % 3)).collect();
    assert!(row(&even).warnings.is_empty());
    let slower: Vec<f64> = (0..20).map(|n| 1.0 + 0.02 * f64::from(n)).collect();
    let said = &row(&slower).warnings[0];
    assert_eq!(said.code.as_str(), "drift");
    // It did not say which row it was about.
    let expected = "TEST3 as-is: later passes were ";
    assert!(said.text().starts_with(expected), "{said}");
    assert!(said.text().contains("slower"), "{said}");
}

#[test]
fn rows_are_compared_with_the_memory_disk_and_the_smallest_scale() {
    let row = |role, scale, seconds: f64| {
        let times = [seconds; 4];
        file_test(
            &cell(role, scale),
            None,
            1,
            true,
            RepeatsEnd::LookedAt,
            &played(&times),
        )
    };
    let rows = [
        row(FileSystemRole::Target, 1, 0.5),
        row(FileSystemRole::Target, 100, 80.0),
        row(FileSystemRole::Memory, 1, 0.1),
        row(FileSystemRole::Memory, 100, 10.0),
    ];
    let found = over_memory(&rows);
    let ratios: Vec<f64> = found.iter().map(|it| it.ratio.value).collect();
    assert_eq!(found.len(), 2);
    assert!((ratios[0] - 5.0).abs() < 1e-9 && (ratios[1] - 8.0).abs() < 1e-9);
    let found = growth(&rows);
    let ratios: Vec<f64> = found.iter().map(|it| it.ratio.value).collect();
    assert_eq!(found.len(), 2);
    assert!((ratios[0] - 1.6).abs() < 1e-9 && (ratios[1] - 1.0).abs() < 1e-9);
    // A row at another scale than all others, as TEST11's, changes nothing about them.
    let item = FileItem::Decus(DecusTest::Test11, Spacing::None);
    let small = FileCell {
        item,
        ..cell(FileSystemRole::Target, 1)
    };
    let small = file_test(
        &small,
        None,
        1,
        true,
        RepeatsEnd::LookedAt,
        &played(&[0.1; 4]),
    );
    let found = growth(&[small, rows[1].clone(), row(FileSystemRole::Target, 10, 5.0)]);
    let names: Vec<String> = found.iter().map(FileComparison::name).collect();
    assert_eq!(names, ["TEST3 as-is at scale 100"]);
    assert!((found[0].ratio.value - 1.6).abs() < 1e-9);
}

#[test]
fn a_metadata_row_counts_what_its_phase_counts() {
    let tree = tree();
    let items = FilesPlan::metadata(&tree);
    let found: Vec<(String, u32)> = items
        .iter()
        .map(|&item| {
            let cell = FileCell {
                item,
                ..cell(FileSystemRole::Target, 1)
            };
            let row = file_test(
                &cell,
                Some(&FilesShape::Tree(tree)),
                1,
                true,
                RepeatsEnd::LookedAt,
                &played(&[1.0, 1.0, 1.0]),
            );
            (row.test, row.items)
        })
        .collect();
    assert_eq!(found[0], ("mkdir".into(), 110));
    assert_eq!(found[1], ("create".into(), 1_000));
    assert_eq!(found[6], ("list".into(), 100));
}
