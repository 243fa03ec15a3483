//! Invented times of programs that use files.

use results::{
    DirectoryUse, FileCallTimes, FileComparison, FilePass, FileState, FileSystemRole, FileTest,
    FileTests, FileTransfers, MetadataTree, RankShare, StonewallFigures, StonewallPass, Warning,
    WarningCode,
};

use sample::estimate;

/// Two tests on a target and on a memory disk, in two states and at two scales.
pub fn files() -> FileTests {
    use FileState::{AsIs, Durable};
    use FileSystemRole::{Memory, Target};
    let mut tests = vec![
        test(
            (Target, AsIs, 1),
            ("3", "", "make 300 one-block files"),
            0.0125,
        ),
        test(
            (Target, AsIs, 1),
            ("4", "SPACE2", "read, modify, rewrite at random"),
            0.021,
        ),
        test(
            (Target, Durable, 1),
            ("3", "", "make 300 one-block files"),
            1.43,
        ),
        test(
            (Target, AsIs, 100),
            ("3", "", "make 300 one-block files"),
            1.62,
        ),
        test(
            (Memory, AsIs, 1),
            ("3", "", "make 300 one-block files"),
            0.0029,
        ),
    ];
    tests[1].is_precise = false;
    tests[1].warnings = vec![Warning::warn(WarningCode::Drift, "A doubt about one row.")];
    FileTests {
        workload: "decus".into(),
        clients: 1,
        precision: Some(0.05),
        passes: None,
        cache_drop: "own-files".into(),
        device: "own file".into(),
        tree: Some(MetadataTree {
            files: 10_000,
            depth: 0,
            fan_out: 10,
            file_bytes: 3901,
            directories: DirectoryUse::Shared,
            is_reordered: true,
        }),
        transfers: Some(FileTransfers {
            client_bytes: 64 << 20,
            transfer_bytes: 47_008,
            directories: DirectoryUse::Shared,
            is_reordered: true,
            in_a_row: 1,
            order: Default::default(),
        }),
        is_sampled: false,
        stonewall_ns: Some(30_000_000_000),
        hosts: vec![host(0, "node1", 41_200.0), host(1, "node2", 39_800.0)],
        memory: Some(sample::rich_target()),
        tests,
        over_memory: vec![comparison(AsIs, 1, 4.31)],
        growth: vec![comparison(AsIs, 100, 1.3)],
    }
}

fn host(rank: u32, name: &str, rate: f64) -> RankShare {
    RankShare {
        rank,
        host: name.into(),
        amount: 120_000,
        per_second: rate,
        first_in: 7 - 5 * rank,
        last_in: 2 + 5 * rank,
        busy_share: 0.97 + 0.02 * f64::from(rank),
        processors_used: Some(0.42),
        ..RankShare::default()
    }
}

fn comparison(state: FileState, scale: u32, ratio: f64) -> FileComparison {
    FileComparison {
        system: FileSystemRole::Target,
        test: "3".into(),
        spacing: String::new(),
        state,
        scale,
        ratio: estimate(ratio, 0.04),
    }
}

fn test(
    (system, state, scale): (FileSystemRole, FileState, u32),
    (test, spacing, title): (&str, &str, &str),
    seconds: f64,
) -> FileTest {
    let pass = |number: u32| FilePass {
        number,
        is_warm_up: number == 1,
        elapsed_ns: (seconds * 1e9) as u64,
        calls: 900,
        bytes: 153_600,
        cpu_user_ns: Some(1_000_000),
        cpu_system_ns: Some(5_000_000),
        device_reads: Some(3),
        device_writes: Some(300),
        items: (spacing == "SPACE2").then_some(182_014),
        stonewall: (spacing == "SPACE2").then_some(StonewallPass {
            elapsed_ns: 30_010_000_000,
            items: 161_119,
            bytes: 82_492_928,
            items_least: 70_112,
            items_most: 91_007,
        }),
    };
    FileTest {
        system,
        test: test.into(),
        spacing: spacing.into(),
        title: title.into(),
        state,
        scale,
        items: 300 * scale,
        elapsed_seconds: estimate(seconds, 0.03),
        items_per_second: estimate(300.0 / seconds, 0.03),
        calls_per_second: estimate(900.0 / seconds, 0.03),
        bytes_per_second: Some(estimate(153_600.0 / seconds, 0.03)),
        stonewall: (spacing == "SPACE2").then(|| StonewallFigures {
            elapsed_seconds: estimate(30.01, 0.001),
            items_per_second: estimate(21_400.0, 0.03),
            bytes_per_second: Some(estimate(10_956_800.0, 0.03)),
            items_least: 70_112,
            items_most: 91_007,
        }),
        calls: vec![FileCallTimes {
            kind: "create".into(),
            count: 300,
            mean_ns: 21_000.5,
            median_ns: Some(20_000),
            p99_ns: Some(60_000),
            max_ns: 412_000,
        }],
        is_precise: true,
        passes: (1..=3).map(pass).collect(),
        warnings: Vec::new(),
    }
}
