//! Several models in one virtual time: each does as it would alone, and together they are the sum.

use std::collections::BTreeMap;

use engine::{
    Clock as _, Driver as _, Engine, EngineOptions, EngineState, KindSet, Membership, Record,
};
use sim::{SimGroup, SimSpec};
use units::{Duration, Instant};
use workload::{
    AnyClient, ClientId, ClientSpec, Completion, Durability, JobPattern, JobRate, JobSpec,
    JobsSpec, NextFile, Op, OpKind, OperationSize, Region, Request, TargetId, Trims,
};

const BLOCK: u64 = 4096;
const DEPTH: usize = 64;

fn model(text: &str) -> SimSpec {
    SimSpec::parse(text).expect("a model")
}

fn group(models: &[&str], seed: u64) -> SimGroup {
    let member = |(number, text): (u32, &&str)| {
        let driver = model(text).driver(seed + u64::from(number), DEPTH, Instant::START);
        (TargetId(number * 2), driver)
    };
    SimGroup::new((0..).zip(models).map(member).collect())
}

fn read(client: u32, target: u32, due: Instant) -> Request {
    let op = Op::Read {
        target: TargetId(target),
        offset: 0,
        len: BLOCK as u32,
    };
    Request::new(ClientId(client), due, op)
}

/// Completions come in the order of their time, whichever model they are of, and no clock runs
/// ahead: a request that is submitted then is issued at the common instant.
#[test]
fn the_models_share_one_time() {
    let mut both = group(&["sim:delay?time=3ms", "sim:delay?time=1ms"], 1);
    let mut done: Vec<Completion> = Vec::new();
    let begun = both.now();
    both.submit(read(0, 0, begun)).expect("it is taken");
    for client in 1..=4 {
        both.submit(read(client, 2, both.now()))
            .expect("it is taken");
        both.wait(None, &mut done).expect("something is done");
    }
    let found: Vec<(u32, u64)> = done
        .iter()
        .map(|it| (it.request.client.0, it.completed.since(begun).as_nanos()))
        .collect();
    let ms = 1_000_000;
    assert_eq!(
        found,
        [(1, ms), (2, 2 * ms), (0, 3 * ms), (3, 3 * ms), (4, 4 * ms)]
    );
    let done = both.activity().expect("what was done");
    assert_eq!(done.device_reads, Some(5));
    assert_eq!(done.device_bytes, Some(5 * BLOCK));
}

#[test]
fn a_deadline_ends_a_wait_at_its_instant() {
    let mut both = group(&["sim:delay?time=3ms", "sim:delay?time=2ms"], 1);
    let mut done = Vec::new();
    let begun = both.now();
    assert!(
        both.wait(None, &mut done).is_err(),
        "nothing is outstanding"
    );
    both.submit(read(0, 2, begun)).expect("it is taken");
    let deadline = begun + Duration::from_millis(1);
    both.wait(Some(deadline), &mut done).expect("a wait");
    assert_eq!((both.now(), done.len()), (deadline, 0));
    let (devices, end) = both.into_devices();
    assert_eq!((devices.len(), end), (2, begun + Duration::from_millis(2)));
}

fn job(row: u32, target: u32, depth: u32) -> JobSpec {
    let size = vec![OperationSize {
        len: BLOCK as u32,
        weight: 1,
    }];
    JobSpec {
        script: None,
        priorities: [Vec::new(), Vec::new()],
        row,
        depth,
        refill_at: None,
        files: vec![Region {
            target: TargetId(target),
            offset: 0,
            len: 1000 * BLOCK,
            block: BLOCK,
        }],
        order: NextFile::RoundRobin,
        pattern: JobPattern::Uniform,
        random_percent: [100; 2],
        run: 1,
        sizes: [size.clone(), size],
        trims: Trims::None,
        read_percent: 100,
        bytes: None,
        requests: Some(20_000),
        delay: Duration::ZERO,
        ramp: Duration::ZERO,
        runtime: None,
        flush_every: 0,
        flushes_data_only: false,
        writes_out: None,
        hint: None,
        flushes_at_end: false,
        durability: Durability::Volatile,
        content: workload::Content::default(),
        rates: [JobRate::Free; 2],
        is_poisson: false,
        zones: None,
        floors: None,
        flow: None,
        ends_others: false,
        file_run: None,
        one_pass: false,
        file_end: None,
        think: Duration::ZERO,
        think_after: 1,
        think_counts_issued: false,
        think_stops_rates: false,
    }
}

fn run<D: engine::Driver>(driver: D, jobs: Vec<JobSpec>) -> Record {
    let members = jobs.iter().map(|job| Membership {
        row: job.row,
        from: Instant::START,
    });
    let members: Vec<Membership> = members.collect();
    let count = jobs.len() as u32;
    let spec = ClientSpec::Jobs(JobsSpec { jobs });
    let clients = (0..count).map(|number| spec.client(7, number, count).expect("a client"));
    let clients: Vec<AnyClient> = clients.collect();
    let options = EngineOptions {
        start: Instant::START,
        slot_width: Duration::from_millis(1),
        counted: KindSet::of(&spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, clients, options).with_rows(members);
    let state = engine.run_until(Instant::START + Duration::from_secs(1000));
    assert_eq!(state, Ok(EngineState::Finished));
    engine.into_parts().0
}

/// What a row did, to the last digit.
fn of_row(record: &Record, row: u32) -> (u64, u64, f64) {
    let found = &record.rows[&(row, OpKind::Read)];
    let times = &found.response;
    (times.len(), found.span.length().as_nanos(), times.mean())
}

/// Another model beside it changes nothing of what a model does, and all rows add up to the whole.
#[test]
fn each_model_does_as_it_would_alone_and_rows_add_up() {
    let (slow, fast) = ("sim:mmc?mean=1ms&servers=2", "sim:mm1?mean=300us");
    let both = run(group(&[slow, fast], 11), vec![job(0, 0, 6), job(1, 2, 3)]);
    let alone = run(
        model(slow).driver(11, DEPTH, Instant::START),
        vec![job(0, 0, 6)],
    );
    assert_eq!(of_row(&both, 0), of_row(&alone, 0));
    let mut sum = BTreeMap::new();
    for ((_, kind), row) in &both.rows {
        let all: &mut stats::Histogram = sum.entry(*kind).or_default();
        all.merge(&row.response);
    }
    assert_eq!(sum[&OpKind::Read], both.kinds[&OpKind::Read].response);
    assert_eq!(sum[&OpKind::Read].len(), 40_000);
}
