//! Users on one processor and one disk, against exact mean value analysis.

use crate::procedures::{clients, errno_name};
use engine::{Driver as _, Engine, EngineOptions, KindSet, OnError};
use procedure::{
    Circumstances, Monitor, Preparation, Standstill, Trial, UnitCounts, run_inline, summarise,
};
use results::{Access, Measurement, TransactionLoad};
use sim::SimSpec;
use stats::Channel;
use units::{Bytes, Duration, Instant};
use workload::{ClientSpec, Gap, GapShape, LoadFactor, Records, TargetId, UserProfile, UsersSpec};

/// The disk of the model, nanoseconds for one I/O.
const DISK_NS: f64 = 1e7;
const DEVICE: &str = "sim:mm1?mean=10ms";
const SLOT: Duration = Duration::from_millis(1);

fn profile(ios: u32, cpu: Duration, think: Gap) -> UserProfile {
    UserProfile {
        name: "user".into(),
        users: 1,
        ios,
        io_size: 4096,
        reads: 1,
        writes: 0,
        think,
        cpu_ns: cpu.as_nanos(),
        memory: 0,
        load: LoadFactor::Constant,
        records: Records::New,
        transactions: None,
    }
}

/// Throughput (per second) and response time (s) of a closed network: stations with these demands
/// (s), and a think time (s). M. Reiser, S. Lavenberg, "Mean-Value Analysis of Closed Multichain
/// Queueing Networks", J. ACM 27(2), 1980.
fn mean_values(demands: &[f64], think: f64, users: u32) -> (f64, f64) {
    let mut queues = vec![0.0; demands.len()];
    let (mut rate, mut response) = (0.0, 0.0);
    for n in 1..=users {
        let residence = demands
            .iter()
            .zip(&queues)
            .map(|(demand, queue)| demand * (1.0 + queue));
        let residence: Vec<f64> = residence.collect();
        response = residence.iter().sum();
        rate = f64::from(n) / (think + response);
        queues = residence.iter().map(|time| rate * time).collect();
    }
    (rate, response)
}

fn measure(profiles: Vec<UserProfile>, users: u32, device: &str, seconds: u64) -> Found {
    let ramp = Some(f64::from(users));
    measure_seeded(profiles, users, device, (seconds, 1), ramp)
}

fn measure_seeded(
    profiles: Vec<UserProfile>,
    users: u32,
    device: &str,
    (seconds, seed): (u64, u64),
    ramp: Option<f64>,
) -> Found {
    let device = SimSpec::parse(device).expect("a model");
    let size = device.size.0.min(1 << 30);
    let spec = UsersSpec::new(TargetId(0), size, ramp, profiles);
    let spec = spec.expect("valid profiles");
    let trial = Trial {
        name: "transactions".into(),
        title: "users".into(),
        spec: ClientSpec::Users(spec.clone()),
        clients: users,
        depth: users,
        access: Access::Simulated,
        preparation: Preparation::None,
        goal: None,
        channel: Channel::Response,
        duration_max: Duration::from_secs(seconds),
        salt: 0,
        sample_every: None,
        limit: None,
        warm_up: None,
    };
    let start = Instant::START;
    let options = EngineOptions {
        start,
        slot_width: SLOT,
        counted: KindSet::of(&trial.spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let driver = device.driver(seed, users as usize, start);
    let mut engine = Engine::new(driver, clients(&trial.spec, seed, users), options);
    let mut monitor = Monitor::new(None, trial.channel, trial.duration_max, SLOT, 1, users)
        .arriving(trial.arrivals())
        .all_at_work(trial.lead_in().expect("users have one"))
        .sampled(Some(Duration::from_secs(1)), true);
    let (_, elapsed) = run_inline(&mut engine, &mut monitor, start, SLOT, &mut |_, _| true)
        .expect("a model does not break");
    let (record, driver) = engine.into_parts();
    let circumstances = Circumstances {
        driver: "sim".into(),
        workers: 1,
        seed: 1,
        nominal_depth: users,
        elapsed,
        on_error: OnError::Stop,
        standstill: Standstill::default(),
    };
    let measurement = summarise(&trial, &monitor, &record, &circumstances, errno_name)
        .expect("something was done");
    let series = monitor.series(device.cpus as u32);
    let counts = UnitCounts {
        units: &record.units,
        elapsed,
        processors: device.cpus as u32,
        series: series.as_ref(),
        model_cpu_ns: driver.activity().and_then(|done| done.cpu_busy_ns),
    };
    let (load, warnings) = procedure::transaction_load(&spec, &measurement, &counts);
    Found {
        measurement,
        load,
        warnings: warnings.iter().map(|it| it.code.to_string()).collect(),
    }
}

struct Found {
    measurement: Measurement,
    load: TransactionLoad,
    warnings: Vec<String>,
}

#[track_caller]
fn assert_near(found: f64, expected: f64, off: f64, what: &str) {
    let ratio = found / expected;
    assert!(
        (ratio - 1.0).abs() < off,
        "{what}: {found} instead of {expected}"
    );
}

/// Ten I/Os of 10 ms and 50 ms of processor work: the disk is the bottleneck from about 20 users.
#[test]
fn one_processor_and_one_disk_agree_with_mean_value_analysis() {
    let think = Gap::new(GapShape::Exponential, Duration::from_secs(2));
    // Where the disk is always busy its rate is known soon.
    let each = [
        (1_u32, 20_000),
        (15, 20_000),
        (20, 20_000),
        (25, 20_000),
        (150, 5_000),
    ];
    for (users, seconds) in each {
        let one = profile(10, Duration::from_millis(50), think);
        let found = measure(vec![one], users, DEVICE, seconds);
        let (rate, response) = mean_values(&[0.05, 10.0 * DISK_NS / 1e9], 2.0, users);
        let what = format!("{users} users");
        let load = &found.load;
        assert_near(
            load.per_second_steady.value,
            rate,
            0.02,
            &format!("{what}: rate"),
        );
        let mean = load.all.from_due.mean.value / 1e9;
        assert_near(mean, response, 0.02, &format!("{what}: response"));
        assert_near(
            load.users_by_law.value,
            users.into(),
            0.02,
            &format!("{what}: N"),
        );
        // A small difference of large numbers: it is as precise as they are.
        let by_law = load.response_by_law.value / 1e9;
        assert_near(by_law + 2.0, mean + 2.0, 0.02, &format!("{what}: R"));
        assert!(found.warnings.is_empty(), "{what}: {:?}", found.warnings);
        assert_eq!(
            found.measurement.lateness.max_ns, 0,
            "virtual time is never late"
        );
        assert_near(
            load.cpu_share.expect("a model's processor"),
            rate * 0.05,
            0.03,
            &format!("{what}: processor"),
        );
        // The utilisation law, U = X S, on the disk and on the processor.
        let busy = load.device_busy_share.expect("a model's disk");
        assert_near(busy, rate * 0.1, 0.03, &format!("{what}: disk"));
        let series = load.series.as_ref().expect("intervals");
        // At most an hour of seconds; of more, intervals of 5 or 10 s.
        let length = if seconds > 18_000 { 10 } else { 5 };
        assert_eq!(series.samples.len() as u64, seconds / length, "{what}");
        let whole = series.total().expect("intervals");
        assert_eq!(whole.transactions, load.all.transactions, "{what}");
        let cpu = whole.cpu_share.expect("a model's processor");
        assert_near(
            cpu,
            rate * 0.05,
            0.03,
            &format!("{what}: processor over time"),
        );
    }
}

/// Users who leave after twenty transactions, as in the standard tests: the tail of stragglers was
/// counted as steady, and the rate was 0.57 of the truth, with intervals that held it in 14 of 20.
#[test]
fn users_who_leave_do_not_lower_the_steady_rate() {
    const SEEDS: u64 = 200;
    let think = Gap::new(GapShape::Exponential, Duration::from_secs(5));
    let (rate, response) = mean_values(&[0.1, 20.0 * DISK_NS / 1e9], 5.0, 24);
    let (mut rates, mut responses) = (0.0, 0.0);
    let mut held = [0_u64; 2];
    for seed in 1..=SEEDS {
        let one = UserProfile {
            transactions: Some(20),
            ..profile(20, Duration::from_millis(100), think)
        };
        let ramp = [None, Some(24.0)][seed as usize % 2];
        let found = measure_seeded(vec![one], 24, DEVICE, (10_000, seed), ramp);
        let steady = found.load.per_second_steady;
        let mean = found.load.all.from_due.mean.scale(1e-9);
        rates += steady.value / SEEDS as f64;
        responses += mean.value / SEEDS as f64;
        held[0] += u64::from(steady.low <= rate && rate <= steady.high);
        held[1] += u64::from(mean.low <= response && response <= mean.high);
    }
    let share = held.map(|count| count as f64 / SEEDS as f64);
    assert_near(rates, rate, 0.02, "rate");
    assert_near(responses, response, 0.02, "response");
    // Counts of users who think resemble each other less than chance: .99 of the rate's intervals
    // hold it, and .94 of the time's.
    assert!(share[0] >= 0.93, "{share:?}");
    assert!((0.93..=0.985).contains(&share[1]), "{share:?}");
}

/// Users with little to do are gone before the next one starts. The response time was that of one
/// user alone, a fourth of what four see, without a word.
#[test]
fn users_who_never_are_there_together_are_no_load_of_that_many() {
    let of = |ramp| {
        let one = UserProfile {
            transactions: Some(10),
            ..profile(20, Duration::from_millis(1), Gap::NONE)
        };
        measure_seeded(vec![one], 4, "sim:mm1?mean=1ms", (100, 1), ramp)
    };
    let apart = of(Some(4.0));
    assert_eq!(apart.warnings, ["users-not-together", "too-few-samples"]);
    assert!(apart.load.per_second_steady.high.is_infinite());
    let together = of(None);
    assert_eq!(together.warnings, ["too-few-samples"]);
    // Exact mean value analysis of the two stations.
    let (rate, response) = mean_values(&[0.001, 0.02], 0.0, 4);
    assert_near(together.load.per_second_steady.value, rate, 0.05, "rate");
    let mean = together.load.all.from_due.mean.value / 1e9;
    assert_near(mean, response, 0.1, "response");
}

/// A machine says what its processor and its disk do: by the utilisation law, U = X S, with the
/// times of the machine's definition. It told nothing of them, and the processor's share was that
/// of the work that users asked for, 57 % where 78 were busy.
#[test]
fn a_machine_says_how_busy_its_processor_and_its_disk_are() {
    let one = profile(20, Duration::from_millis(100), Gap::NONE);
    let machine = "sim:ppro?file-cache-max=13M&size=40M&file-read-ahead=0";
    let found = measure(vec![one], 4, machine, 2_000);
    let whole = found.load.series.as_ref().and_then(|it| it.total());
    let whole = whole.expect("intervals");
    let asked = found.load.reads_per_second;
    let misses = whole.device_reads_per_second.expect("a machine's disk");
    assert_near(misses / asked, 27.0 / 40.0, 0.02, "misses");
    assert_eq!(whole.page_cache_misses_per_second, Some(misses), "pages");
    // 1.2 ms where memory answers, 0.6 beside the disk and 1.4 after it.
    let rate = found.load.per_second_whole;
    let busy = rate * 0.1 + (asked - misses) * 0.0012 + misses * 0.002;
    let share = found.load.cpu_share.expect("a machine's processor");
    assert_near(share, busy, 0.005, "processor");
    assert_near(
        whole.cpu_share.expect("over time"),
        share,
        0.005,
        "over time",
    );
    let each = found.load.cpu_each_ns.expect("work") / 1e9;
    assert_near(each, busy / rate, 0.005, "a transaction");
    let disk = whole.device_busy_share.expect("a machine's disk");
    assert!((0.3..1.0).contains(&disk), "{disk}");
    let queue = whole.device_queue.expect("a machine's disk");
    let transfer = whole.device_transfer_ns.expect("a machine's disk") / 1e9;
    assert_near(queue, misses * transfer, 0.001, "Little's law at the disk");
}

/// What a task monitor of the time shows: the file cache, and page faults. A machine had neither.
#[test]
fn a_machine_says_how_large_its_file_cache_is_and_counts_page_faults() {
    let check = |memory_kib: u64, cache_mib: f64| {
        let one = UserProfile {
            memory: Bytes::from_kib(memory_kib).as_u64(),
            ..profile(20, Duration::from_millis(100), Gap::NONE)
        };
        let machine = "sim:ppro?file-cache-max=13M&size=40M&file-read-ahead=0";
        let load = measure(vec![one], 4, machine, 2_000).load;
        let known = "a machine has a file cache";
        let misses = load.device_reads_per_second.expect("a machine's disk");
        let cache = load.file_cache_bytes.expect(known) / f64::from(1 << 20);
        // It is empty at first.
        assert_near(cache, cache_mib, 0.02, "MiB");
        assert_near(
            load.major_faults_per_second.expect(known),
            misses,
            1e-9,
            "misses",
        );
        let elapsed = load.elapsed_ns as f64 / 1e9;
        let touched = load.minor_faults_per_second.expect(known) * elapsed;
        // All in the first second, which is looked at a little late.
        let kib = memory_kib as f64;
        assert_near(touched, kib, 0.02, "4 users, pages of 4 KiB");
    };
    check(40, 13.0);
    // 32 MiB, of which 12 are the system's and 12 the tasks'.
    check(3072, 8.0);
}

/// Under systems of the time the processor spins until the disk answers; what reads over a link
/// asks the server's disk.
#[test]
fn a_processor_that_spins_is_busy_and_a_server_has_the_disk() {
    let one = || profile(20, Duration::from_secs(1), Gap::NONE);
    let found = measure(vec![one()], 4, "sim:i486?size=40M", 2_000);
    let share = found.load.cpu_share.expect("a machine's processor");
    assert!(share > 0.99, "{share}");
    let found = measure(vec![one()], 1, "sim:lan-p100?size=40M", 2_000);
    let whole = found.load.series.as_ref().and_then(|it| it.total());
    let whole = whole.expect("intervals");
    let misses = whole.device_reads_per_second.expect("the server's disk");
    let asked = found.load.reads_per_second;
    assert!(
        misses < asked && misses > asked / 4.0,
        "{misses} of {asked}"
    );
}

/// Without think time and with one I/O, one user alone takes the sum of the demands.
#[test]
fn one_user_waits_for_nobody() {
    let one = profile(4, Duration::from_millis(8), Gap::NONE);
    let found = measure(vec![one], 1, "sim:md1?time=10ms", 100);
    let mean = found.load.all.from_due.mean.value;
    assert_near(mean, 48e6, 0.001, "48 ms");
    assert_eq!(found.load.all.from_start.max_ns, 48_000_000);
}

#[test]
fn more_processors_carry_more() {
    let one = || profile(1, Duration::from_millis(100), Gap::NONE);
    let device = |cpus: u32| format!("sim:delay?time=1ms&cpus={cpus}");
    for cpus in [1_u32, 2, 4] {
        let found = measure(vec![one()], 40, &device(cpus), 200);
        let rate = found.load.per_second_steady.value;
        assert_near(
            rate,
            10.0 * f64::from(cpus),
            0.02,
            "a processor does ten a second",
        );
    }
}

#[test]
fn profiles_are_told_apart() {
    let think = Gap::new(GapShape::Exponential, Duration::from_secs(1));
    let mut light = profile(2, Duration::ZERO, think);
    (light.name, light.users) = ("light".into(), 30);
    let mut heavy = profile(20, Duration::ZERO, think);
    (heavy.name, heavy.users) = ("heavy".into(), 10);
    let found = measure(vec![light, heavy], 4, "sim:delay?time=10ms", 2_000);
    let [light, heavy] = found.load.profiles.as_slice() else {
        panic!("two profiles: {:?}", found.load.profiles);
    };
    assert_eq!((light.users, heavy.users), (3, 1));
    assert_near(light.from_due.mean.value, 20e6, 0.001, "two I/Os");
    assert_near(heavy.from_due.mean.value, 200e6, 0.001, "twenty I/Os");
    assert_near(light.per_second, 3.0 / 1.02, 0.05, "three light users");
    assert_near(heavy.per_second, 1.0 / 1.2, 0.05, "one heavy user");
    assert_eq!(light.bytes_each, 2.0 * 4096.0);
    assert_eq!(
        found.load.all.transactions,
        light.transactions + heavy.transactions
    );
}
