//! A run with every field set, for tests of this crate and of those that store runs. The numbers
//! are invented.

mod setup;
mod study;

pub use setup::{all_clients, reads, setup};
pub use study::study;

use results::environment::{
    BackgroundIo, BlockDevice, CountersDelta, DeviceActivity, DeviceTime, FileSystem, Pressure,
    ProcessIo, RaidActivity, RaidState, TargetKind, Throttle,
};
use results::{
    Access, Caution, CpuCost, Curve, CurveLevel, CurvePoint, Environment, ErrorClass, ErrorCount,
    Generator, KindTimes, Lateness, LevelOutcome, Measurement, Resolution, RoomWait, Run,
    RunVerdict, Saturation, TargetDescription, Times, Trust, Warning, WarningCode, Work,
};
use stats::{CONFIDENCE, Drift, DriftVerdict, Estimate, PercentileEstimate, Verdict};

/// A complete run of the check-up.
pub fn run() -> Run {
    let answer = "Random reads: one client waits 47 us; from about 60,000 per second on the \
                  response time grows faster than the load.";
    Run {
        verdict: Some(RunVerdict {
            sentence: answer.into(),
            trust: Trust::Reliable,
            because: Vec::new(),
            goals: None,
        }),
        elapsed_ns: 58_214_000_000,
        measurements: measurements(),
        curves: vec![curve()],
        findings: vec![
            answer.into(),
            "A durable write costs 26 times as much as a read: applications that wait for each \
             write are bound by it."
                .into(),
        ],
        warnings: vec![
            Warning::info(
                WarningCode::VirtualDisk,
                "This is a virtual machine: its host may cache.",
            ),
            Warning::warn(
                WarningCode::NotFromDevice,
                "Data written less than 20 s ago may have been answered by the host's cache",
            )
            .advise("ask for --soak to see past it."),
        ],
        ..Run::empty(setup(), environment(), target())
    }
}

fn environment() -> Environment {
    Environment {
        hosts: Vec::new(),
        seekstone_version: "0.1.0".into(),
        host_name: "storage-7".into(),
        kernel: "Linux 6.12.1".into(),
        architecture: "x86_64".into(),
        cpu_model: Some("Example CPU 2.4 GHz".into()),
        cpus_online: 8,
        cpus_allowed: 8,
        cpu_limit: None,
        memory_total_bytes: Some(23 << 30),
        memory_available_bytes: Some(20 << 30),
        memory_limit_bytes: None,
        swap_total_bytes: Some(0),
        swap_free_bytes: Some(0),
        virtualised: Some("KVM".into()),
        clock_source: Some("tsc".into()),
        started_at: "2001-02-03T04:05:06Z".into(),
        load_average: Some([0.25, 0.5, 0.75]),
        pressure_io: Some(Pressure {
            some_percent: 1.5,
            full_percent: 0.5,
        }),
        steal_share: Some(0.012),
        commit: None,
    }
}

fn target() -> TargetDescription {
    TargetDescription {
        given: ".".into(),
        path: "/srv/data".into(),
        kind: TargetKind::Directory,
        size_bytes: None,
        allocated_bytes: None,
        file_system: Some(FileSystem {
            kind: "ext4".into(),
            source: "/dev/vda1".into(),
            mount_point: "/".into(),
            options: vec!["rw".into(), "relatime".into()],
            super_options: vec!["rw".into(), "errors=remount-ro".into()],
            read_only: false,
            size_bytes: Some(100 << 30),
            available_bytes: Some(79 << 30),
            files_free: Some(6_123_456),
        }),
        devices: vec![BlockDevice {
            name: "vda1".into(),
            number: "254:1".into(),
            transport: Some("virtio".into()),
            partition_of: Some("vda".into()),
            rotational: Some(false),
            scheduler: Some("none".into()),
            write_cache: Some("write back".into()),
            size_bytes: Some(100 << 30),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            minimum_io_bytes: Some(4096),
            optimal_io_bytes: Some(0),
            read_ahead_kib: Some(128),
            max_sectors_kib: Some(1280),
            requests: Some(256),
            discard: Some(true),
            removable: Some(false),
            ..BlockDevice::default()
        }],
        memory_backed: false,
        remote: false,
        raid: None,
    }
}

/// A target with all facts that the ordinary one lacks.
pub fn rich_target() -> TargetDescription {
    let mut target = target();
    target.given = "data.img".into();
    target.path = "/srv/data/data.img".into();
    target.kind = TargetKind::File;
    target.size_bytes = Some(8 << 30);
    target.allocated_bytes = Some(3 << 30);
    target.devices[0].throttled = Some(Throttle {
        read_bytes_per_second: Some(100_000_000),
        write_operations_per_second: Some(500),
        group: "/system.slice".into(),
        ..Throttle::default()
    });
    target.raid = Some(RaidState {
        kind: "md".into(),
        level: Some("raid5".into()),
        members: Some(4),
        missing: Some(1),
        state: RaidActivity::Rebuilding {
            percent: Some(37.5),
        },
        source: "/proc/mdstat".into(),
    });
    target
}

/// Two cautions.
pub fn cautions() -> Vec<Caution> {
    vec![
        Caution {
            code: WarningCode::SparseFile,
            cause: "5 GiB of the file were never written: reads of them touch no device".into(),
            advice: "write the file once before reading it".into(),
        },
        Caution {
            code: WarningCode::RaidRebuilding,
            cause: "the RAID is rebuilding".into(),
            advice: "wait until it is done".into(),
        },
    ]
}

/// An estimate with a symmetric interval of `share` on both sides.
pub fn estimate(value: f64, share: f64) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - share),
        high: value * (1.0 + share),
        confidence: CONFIDENCE,
        samples: 1_234.0,
    }
}

/// Differences between the sample's measurements.
struct SampleMeasurement {
    name: &'static str,
    title: &'static str,
    op: &'static str,
    bytes: u64,
    response_ns: f64,
}

fn measurements() -> Vec<Measurement> {
    const MIB: u64 = 1 << 20;
    let kinds = [
        (
            "sequential-write",
            "sequential write 1 MiB, QD4",
            "write",
            MIB,
            435e3,
        ),
        (
            "sequential-read",
            "sequential read 1 MiB, QD4",
            "read",
            MIB,
            301e3,
        ),
        ("cached-read", "cached read, 1 MiB", "read", MIB, 112e3),
        (
            "random-read",
            "random read 4 KiB, QD1",
            "read",
            4096,
            47_100.0,
        ),
        (
            "durable-write",
            "durable write 4 KiB (fsync)",
            "write",
            4096,
            1.24e6,
        ),
        ("files-create", "4 KiB files: create", "create", 4096, 806e3),
    ];
    let kinds = kinds.map(|(name, title, op, bytes, response_ns)| SampleMeasurement {
        name,
        title,
        op,
        bytes,
        response_ns,
    });
    let mut all: Vec<Measurement> = kinds.iter().map(plain).collect();
    (all[2].page_cache_share, all[2].access) = (Some(1.0), Access::Buffered);
    not_converged(&mut all[4]);
    all[5].work = Work::File;
    all
}

/// Makes it too short to converge, with errors.
fn not_converged(durable: &mut Measurement) {
    durable.verdict = Verdict::Budget { is_citable: true };
    durable.driver = "threads".into();
    if let Some(generator) = &mut durable.generator {
        let because = "io_uring is refused here (a sandbox forbids the system call)";
        generator.engine_because = Some(because.into());
    }
    durable.response.mean = estimate(1.24e6, 0.06);
    durable.response.percentiles[2].is_indicative = true;
    durable.warnings.push(Warning::warn(
        WarningCode::NotConverged,
        "durable write 4 KiB (fsync): ended before it was as precise as requested; the \
         interval is valid but wider. Give it more time.",
    ));
    durable.errors.push(ErrorCount {
        kind: "write".into(),
        class: ErrorClass::Space,
        errno: 28,
        name: "no space left on device".into(),
        count: 3,
        response_mean_ns: 80e3,
        response_max_ns: 120_000,
        service_mean_ns: 60e3,
        service_max_ns: 90_000,
    });
}

fn plain(kind: &SampleMeasurement) -> Measurement {
    let throughput = 1e9 / kind.response_ns;
    let completions = (throughput * 6.0) as u64;
    Measurement {
        name: kind.name.into(),
        title: kind.title.into(),
        workload: Some(reads()),
        access: Access::Direct,
        driver: "uring".into(),
        seed: 8213,
        response: times(kind.response_ns),
        service: times(kind.response_ns * 0.97),
        throughput: estimate(throughput, 0.02),
        bandwidth: Some(estimate(throughput * kind.bytes as f64, 0.02)),
        lateness: Lateness {
            mean_ns: 410.0,
            p99_ns: Some(1_900),
            max_ns: 71_000,
        },
        kinds: vec![kind_times(kind, completions)],
        room: Some(RoomWait {
            count: 3,
            share: 1e-6,
            service_ratio: None,
        }),
        cpu: Some(CpuCost {
            per_operation_ns: 9_800.0,
            per_mib_ns: Some(9_800.0 * 1_048_576.0 / kind.bytes as f64),
            cores_busy: 0.21,
        }),
        page_cache_share: Some(0.0),
        counters: Some(counters(kind, completions)),
        completions,
        completions_all: completions,
        bytes_all: completions * kind.bytes,
        duration_ns: 5_700_000_000,
        warmup_ns: 300_000_000,
        effective_depth: 0.97,
        generator: Some(generator()),
        resolution: Some(Resolution::of(completions, 5_700_000_000)),
        verdict: Verdict::Converged,
        drift: steady(),
        snia_steady: Some(true),
        ..Measurement::empty()
    }
}

const fn steady() -> Drift {
    Drift {
        total: 0.004,
        standard_error: 0.006,
        bound: 0.014,
        verdict: DriftVerdict::Steady,
    }
}

fn generator() -> Generator {
    Generator {
        buffer_bytes: 4 << 20,
        huge_page_share: Some(1.0),
        batch: 1,
        processors: vec![2, 3],
        entry_mean_ns: Some(2_400.0),
        entry_longest_ns: Some(31_000),
        engine_because: None,
        busiest_worker: Some(0.31),
        processor_wait: Some(0.02),
        workers_busy: Some(0.22),
        awake_ns: Some(73_000),
        polls: false,
    }
}

fn times(mean_ns: f64) -> Times {
    let percentile = |p, factor: f64, evidence| PercentileEstimate {
        p,
        estimate: (evidence >= 10.0).then(|| estimate(mean_ns * factor, 0.04)),
        is_indicative: evidence < 20.0,
        evidence,
    };
    Times {
        mean: estimate(mean_ns, 0.02),
        percentiles: vec![
            percentile(0.5, 0.95, 600.0),
            percentile(0.9, 1.2, 120.0),
            percentile(0.99, 1.5, 24.0),
            percentile(0.999, 4.0, 2.4),
        ],
        min_ns: (mean_ns * 0.8) as u64,
        max_ns: (mean_ns * 30.0) as u64,
    }
}

fn kind_times(kind: &SampleMeasurement, count: u64) -> KindTimes {
    KindTimes {
        kind: kind.op.into(),
        count,
        bytes: count * kind.bytes,
        service_mean_ns: kind.response_ns * 0.97,
        service_p99_ns: Some((kind.response_ns * 1.4) as u64),
        service_max_ns: (kind.response_ns * 30.0) as u64,
        response_mean_ns: kind.response_ns,
        response_p99_ns: Some((kind.response_ns * 1.5) as u64),
        response_max_ns: (kind.response_ns * 30.0) as u64,
        response: None,
        response_histogram: "HISTFAAAAA==".into(),
        service_histogram: "HISTFAAAAA==".into(),
    }
}

fn counters(kind: &SampleMeasurement, completions: u64) -> CountersDelta {
    let bytes = completions * kind.bytes;
    CountersDelta {
        cpu_ns: completions * 9_800,
        cpu_user_ns: Some(completions * 3_000),
        cpu_system_ns: Some(completions * 6_800),
        minor_faults: Some(321),
        major_faults: Some(0),
        process_io: Some(ProcessIo {
            read_bytes: bytes,
            ..ProcessIo::default()
        }),
        device: Some(DeviceActivity {
            name: "vda".into(),
            reads: completions,
            read_bytes: bytes,
            flushes: Some(0),
            busy_ms: 5_600,
            weighted_ms: 5_700,
            read_ms: Some(5_650),
            write_ms: Some(0),
            ..DeviceActivity::default()
        }),
        steal_ns: Some(12_000_000),
        foreign: Some(BackgroundIo {
            share: 0.02,
            bytes: bytes / 50,
            requests: completions / 50,
        }),
        device_time: Some(DeviceTime {
            read_mean_ns: Some(5_650e6 / completions as f64),
            write_mean_ns: None,
        }),
    }
}

/// A curve with every kind of outcome of a level.
pub fn curve() -> Curve {
    let point = |clients: u32, load: f64, response: f64, is_scout: bool| CurvePoint {
        offered: None,
        at_percentile: None,
        lateness_ns: 0.0,
        cores_busy: None,
        device_time: None,
        bandwidth: Some(estimate(load * 4096.0, 0.02)),
        server: None,
        law: None,
        clients,
        load: estimate(load, 0.02),
        response: estimate(response, 0.03),
        service: estimate(response * 0.98, 0.03),
        response_p99: (!is_scout).then(|| estimate(response * 1.6, 0.06)),
        is_scout,
        is_converged: clients != 64,
    };
    Curve {
        resolution: Some(Resolution::of(212_000, 12_000_000_000)),
        title: "random reads of 4 KiB".into(),
        workload: Some(reads()),
        points: vec![
            point(1, 21_200.0, 47_100.0, false),
            point(2, 39_500.0, 50_600.0, false),
            point(4, 66_000.0, 60_500.0, true),
            point(8, 86_000.0, 93_000.0, false),
            point(16, 97_500.0, 164_000.0, false),
            point(24, 101_000.0, 238_000.0, false),
            point(32, 102_000.0, 314_000.0, true),
            point(64, 103_000.0, 621_000.0, false),
            point(128, 102_500.0, 1_249_000.0, false),
        ],
        levels: levels(),
        saturation: Some(Saturation {
            load: estimate(103_000.0, 0.01),
            clients: 64,
            is_saturated: true,
            is_converged: true,
        }),
        warnings: vec![Warning::info(
            WarningCode::ClosedLoad,
            "Points marked as scouts only showed the way and are never cited.",
        )],
        ..Curve::default()
    }
}

fn levels() -> Vec<CurveLevel> {
    let level = |(level_ns, outcome)| CurveLevel {
        open: None,
        level_ns,
        outcome,
    };
    let reached = |load, share, clients, is_precise| LevelOutcome::Reached {
        load: estimate(load, share),
        clients,
        is_precise,
    };
    let response = estimate(47_100.0, 0.02);
    let (low, high) = (101_000.0, 104_000.0);
    let most = LevelOutcome::NotReached {
        clients: 128,
        load: estimate(102_500.0, 0.01),
        response: estimate(1_249_000.0, 0.03),
    };
    let outcomes = [
        (40_000, LevelOutcome::Exceeded { response }),
        (100_000, reached(87_300.0, 0.02, 8.7, true)),
        (250_000, reached(101_200.0, 0.04, 25.3, false)),
        (1_000_000, LevelOutcome::Between { low, high }),
        (10_000_000, most),
    ];
    outcomes.map(level).to_vec()
}
