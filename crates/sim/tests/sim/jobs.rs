//! Several workloads in one trial, in virtual time: each has its own law, and the rows add up to
//! the whole.

use std::collections::BTreeMap;

use engine::{Driver, Engine, EngineOptions, EngineState, KindSet, Membership, Record};
use sim::SimSpec;
use units::{Duration, Instant, TimeSpan};
use workload::{
    Agenda, AnyClient, Client as _, ClientId, ClientSpec, Completion, Durability, Event, FloorSpec,
    FlowSpec, JobClient, JobGates, JobPattern, JobRate, JobSpec, JobsSpec, NextFile, Op, OpKind,
    OperationSize, Region, Request, StridedZones, TargetId, Trims, Wanted, WriteOut,
};

const BLOCK: u64 = 4096;

fn job(row: u32) -> JobSpec {
    let size = vec![OperationSize {
        len: BLOCK as u32,
        weight: 1,
    }];
    JobSpec {
        script: None,
        priorities: [Vec::new(), Vec::new()],
        row,
        depth: 1,
        refill_at: None,
        files: vec![Region {
            target: TargetId(0),
            offset: 0,
            len: 1000 * BLOCK,
            block: BLOCK,
        }],
        order: NextFile::RoundRobin,
        pattern: JobPattern::Once,
        random_percent: [100; 2],
        run: 1,
        sizes: [size.clone(), size],
        read_percent: 100,
        bytes: Some(1000 * BLOCK),
        requests: None,
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
        think: Duration::ZERO,
        think_after: 1,
        think_counts_issued: false,
        think_stops_rates: false,
        zones: None,
        floors: None,
        flow: None,
        ends_others: false,
        file_run: None,
        one_pass: false,
        file_end: None,
        trims: Trims::None,
    }
}

/// What these workloads give on a device that takes 1 ms for each request, whatever else it does.
fn run(jobs: Vec<JobSpec>) -> Record {
    let model = SimSpec::parse_with("sim:delay?time=1ms", &mut |_| Err("no file".into()));
    let depth: u32 = jobs.iter().map(|job| job.depth).sum();
    let driver = model
        .expect("a model")
        .driver(7, depth as usize, Instant::START);
    let members = jobs.iter().map(|job| Membership {
        row: job.row,
        from: Instant::START + job.recorded_from(),
    });
    let members: Vec<Membership> = members.collect();
    let count = jobs.len() as u32;
    let spec = ClientSpec::Jobs(JobsSpec { jobs });
    let gates = JobGates::default();
    let clients = (0..count).map(|number| {
        let mut client = spec.client(7, number, count).expect("a client");
        client.join(&gates);
        client
    });
    let clients: Vec<AnyClient> = clients.collect();
    let options = EngineOptions {
        start: Instant::START,
        slot_width: Duration::from_millis(1),
        counted: KindSet::of(&spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, clients, options).with_rows(members);
    let state = engine.run_until(Instant::START + Duration::from_secs(100));
    assert_eq!(state, Ok(EngineState::Finished));
    assert!(engine.driver().capacity() >= depth as usize);
    engine.into_parts().0
}

fn count(record: &Record, row: u32, kind: OpKind) -> u64 {
    let found = record.rows.get(&(row, kind));
    found.map_or(0, |found| found.service.len())
}

#[test]
fn each_workload_keeps_its_own_depth_rate_and_end() {
    let millis = Duration::from_millis;
    let record = run(vec![
        job(0),
        JobSpec { depth: 8, ..job(1) },
        JobSpec {
            bytes: None,
            runtime: Some(Duration::from_secs(2)),
            rates: [JobRate::Requests { per_second: 250.0 }; 2],
            delay: millis(500),
            ..job(2)
        },
        JobSpec {
            requests: Some(100),
            think: millis(4),
            ..job(3)
        },
    ]);
    let elapsed = |row| record.rows[&(row, OpKind::Read)].span.length();
    assert_eq!(count(&record, 0, OpKind::Read), 1000);
    assert_eq!(elapsed(0), millis(1000));
    assert_eq!(count(&record, 1, OpKind::Read), 1000);
    assert_eq!(elapsed(1), millis(125));
    assert_eq!(count(&record, 2, OpKind::Read), 500);
    assert_eq!(count(&record, 3, OpKind::Read), 100);
    assert_eq!(elapsed(3), millis(100 + 99 * 4));
}

/// 100 a second, and a pause of 50 ms after every tenth: what falls due meanwhile is made up for,
/// as in fio, unless the rate stands still.
#[test]
fn a_rate_makes_up_for_pauses() {
    let elapsed = |think_stops_rates| {
        let record = run(vec![JobSpec {
            requests: Some(100),
            rates: [JobRate::Requests { per_second: 100.0 }; 2],
            think: Duration::from_millis(50),
            think_after: 10,
            think_stops_rates,
            ..job(0)
        }]);
        assert_eq!(count(&record, 0, OpKind::Read), 100);
        record.rows[&(0, OpKind::Read)].span.length().as_secs_f64()
    };
    // The first is due at once; nine pauses lie between the hundred.
    assert!((elapsed(false) - 0.99).abs() < 0.02, "{}", elapsed(false));
    assert!((elapsed(true) - 1.35).abs() < 0.03, "{}", elapsed(true));
}

/// What a job is divided by is the time that it was to run: neither the last of its requests nor a
/// pause ends it, and one that has done all before is over then.
#[test]
fn a_job_lasts_as_long_as_it_was_to_run() {
    let millis = Duration::from_millis;
    let timed = |row| JobSpec {
        runtime: Some(millis(3000)),
        bytes: None,
        pattern: JobPattern::Uniform,
        ..job(row)
    };
    let one_a_second = JobRate::Requests { per_second: 1.0 };
    let record = run(vec![
        JobSpec {
            rates: [one_a_second; 2],
            ..timed(0)
        },
        JobSpec {
            think: millis(10_000),
            think_after: 50,
            ..timed(1)
        },
        JobSpec {
            requests: Some(100),
            ..timed(2)
        },
        JobSpec {
            delay: millis(3000),
            ..timed(3)
        },
        timed(3),
    ]);
    let check = |row, done, begun, ended| {
        let found = &record.rows[&(row, OpKind::Read)];
        let (begun, ended) = (millis(begun), millis(ended));
        assert_eq!(
            (found.service.len(), found.span),
            (done, TimeSpan::new(begun, ended))
        );
    };
    check(0, 3, 0, 3000);
    check(1, 50, 0, 3000);
    check(2, 100, 0, 100);
    // One after the other: not as if they had run together.
    check(3, 6000, 0, 6000);
}

/// Eight outstanding, and 20 ms after each eighth that was issued: twelve pauses for a hundred. As
/// they complete, all eight are replaced before the pause begins.
#[test]
fn pauses_follow_what_was_issued_where_that_is_asked_for() {
    let elapsed = |think_counts_issued| {
        let record = run(vec![JobSpec {
            depth: 8,
            requests: Some(100),
            think: Duration::from_millis(20),
            think_after: 8,
            think_counts_issued,
            ..job(0)
        }]);
        assert_eq!(count(&record, 0, OpKind::Read), 100);
        record.rows[&(0, OpKind::Read)].span.length()
    };
    assert_eq!(elapsed(true), Duration::from_millis(12 * 20 + 1));
    assert!(elapsed(false) < elapsed(true), "{:?}", elapsed(false));
}

/// What `sync_file_range` is told spans all writes since the last time, and nothing follows the
/// last of them where no tenth is reached.
#[test]
fn what_was_written_is_written_out_after_so_many_writes() {
    let how = WriteOut {
        writes: true,
        ..WriteOut::default()
    };
    let spec = JobSpec {
        read_percent: 0,
        pattern: JobPattern::Sequential { skip: 0 },
        requests: Some(25),
        flush_every: 10,
        writes_out: Some(how),
        ..job(0)
    };
    let mut client = JobClient::new(&spec, 7, 0).unwrap();
    let at = Instant::START;
    let mut agenda = Agenda::default();
    let mut told = Vec::new();
    let mut writes = 0;
    client.on_event(Event::Started { at }, &mut agenda);
    while let Some(Wanted { due, op, .. }) = agenda.issues.pop() {
        match op {
            Op::WriteOut { offset, span, .. } => told.push((writes, offset, span)),
            _ => writes += 1,
        }
        let done = Completion {
            request: Request::new(ClientId(0), due, op),
            issued: due,
            completed: due,
            result: Ok(op.len()),
        };
        client.on_event(Event::Completed(&done), &mut agenda);
    }
    let each = 10 * BLOCK as u32;
    assert_eq!(writes, 25);
    assert_eq!(told, [(10, 0, each), (20, 10 * BLOCK, each)]);
}

#[test]
fn rows_add_up_to_the_whole() {
    let record = run(vec![
        JobSpec {
            read_percent: 70,
            depth: 4,
            ..job(0)
        },
        JobSpec {
            read_percent: 0,
            flush_every: 10,
            flushes_at_end: true,
            ..job(1)
        },
        job(0),
    ]);
    let mut sums: BTreeMap<OpKind, (u64, u64)> = BTreeMap::new();
    for ((_, kind), row) in &record.rows {
        let sum = sums.entry(*kind).or_default();
        *sum = (sum.0 + row.service.len(), sum.1 + row.bytes);
        let windows: u64 = row.windows.iter().map(|window| window.0).sum();
        assert_eq!(windows, row.service.len());
    }
    for (kind, whole) in &record.kinds {
        assert_eq!(sums[kind], (whole.service.len(), whole.bytes), "{kind}");
    }
    assert_eq!(count(&record, 1, OpKind::Write), 1000);
    // One after every ten writes but the last ten, and one at the end.
    assert_eq!(count(&record, 1, OpKind::Flush), 100);
}

#[test]
fn a_ramp_is_left_out_and_a_read_block_does_not_come_twice() {
    let record = run(vec![JobSpec {
        bytes: None,
        ramp: Duration::from_millis(300),
        runtime: Some(Duration::from_millis(700)),
        ..job(0)
    }]);
    // What is completed at the very end of the ramp counts.
    assert_eq!(count(&record, 0, OpKind::Read), 701);
    assert_eq!(record.kinds[&OpKind::Read].service.len(), 1000);
}

/// Eight at once, and the next eight when all are done, take one service time a batch; with four
/// left at each filling, a request waits for no more than the half before it.
#[test]
fn a_depth_that_is_filled_in_batches_is_served_in_batches() {
    let elapsed = |refill_at| {
        let record = run(vec![JobSpec {
            depth: 8,
            refill_at,
            rates: [JobRate::Free; 2],
            ..job(0)
        }]);
        assert_eq!(count(&record, 0, OpKind::Read), 1000);
        record.rows[&(0, OpKind::Read)].span.length()
    };
    assert_eq!(elapsed(None), Duration::from_millis(125));
    assert_eq!(elapsed(Some(0)), Duration::from_millis(125));
    // One that thinks after each request is filled when the last has ended.
    let mut thinker = job(0);
    thinker.depth = 2;
    thinker.refill_at = Some(0);
    thinker.requests = Some(10);
    let record = run(vec![thinker]);
    assert_eq!(count(&record, 0, OpKind::Read), 10);
    assert_eq!(
        record.rows[&(0, OpKind::Read)].span.length(),
        Duration::from_millis(5)
    );
}

#[test]
fn all_jobs_end_with_the_first_that_says_so() {
    let ten_seconds = JobSpec {
        bytes: None,
        runtime: Some(Duration::from_secs(10)),
        ..job(2)
    };
    let ends_others = true;
    let jobs = |ends| {
        vec![
            // Done after 20 ms, and ends nobody.
            JobSpec {
                requests: Some(20),
                ..job(0)
            },
            JobSpec {
                requests: Some(300),
                ends_others: ends,
                depth: 2,
                ..job(1)
            },
            ten_seconds.clone(),
        ]
    };
    let counts = |record: &Record| [0, 1, 2].map(|row| count(record, row, OpKind::Read));
    assert_eq!(counts(&run(jobs(false))), [20, 300, 10_000]);
    // 150 requests at each of two places, a millisecond each; the one under way is completed.
    let [short, ending, other] = counts(&run(jobs(ends_others)));
    assert_eq!((short, ending), (20, 300));
    assert!((150..=151).contains(&other), "{other}");
}

/// A job of a flow, which goes on for ten seconds.
fn flowing(row: u32, weight: u32) -> JobSpec {
    JobSpec {
        bytes: None,
        runtime: Some(Duration::from_secs(10)),
        flow: Some(FlowSpec {
            id: 7,
            weight,
            sleep: Duration::ZERO,
        }),
        ..job(row)
    }
}

#[test]
fn jobs_of_a_flow_keep_to_their_weights() {
    for depth in [1, 4] {
        let weights = [3, 2, 1];
        let jobs = (0..).zip(weights).map(|(row, weight)| JobSpec {
            depth,
            ..flowing(row, weight)
        });
        let record = run(jobs.collect());
        let counts = [0, 1, 2].map(|row| count(&record, row, OpKind::Read));
        let all: u64 = counts.iter().sum();
        assert!(counts[0] > 5_000 * u64::from(depth), "{counts:?}");
        for (found, weight) in counts.iter().zip(weights) {
            let wanted = all as f64 * f64::from(weight) / 6.0;
            let off = (*found as f64 - wanted).abs();
            assert!(off < 4.0 + f64::from(depth), "{counts:?}: {weight} of 6");
        }
    }
}

#[test]
fn a_job_that_ends_takes_its_weight_out_of_the_flow() {
    let short = JobSpec {
        requests: Some(100),
        ..flowing(0, 1)
    };
    let record = run(vec![short, flowing(1, 1)]);
    assert_eq!(count(&record, 0, OpKind::Read), 100);
    let left = count(&record, 1, OpKind::Read);
    assert!((9_900..=10_000).contains(&left), "{left}");
}

#[test]
fn a_job_that_is_held_back_sleeps_for_so_long() {
    let counts = |sleep| {
        let sleeper = |row| JobSpec {
            flow: flowing(row, 1).flow.map(|flow| FlowSpec { sleep, ..flow }),
            ..flowing(row, 1)
        };
        let slow = JobSpec {
            think: Duration::from_millis(3),
            ..sleeper(1)
        };
        let record = run(vec![sleeper(0), slow]);
        [0, 1].map(|row| count(&record, row, OpKind::Read))
    };
    // The slow one does one each 4 ms, and the other as many, until the slow one leaves: the pause
    // after its last request would reach beyond the end.
    let [fast, slow] = counts(Duration::ZERO);
    assert!((2_490..=2_500).contains(&slow), "{slow}");
    assert!((slow..slow + 8).contains(&fast), "{fast} {slow}");
    let [fast, slow] = counts(Duration::from_millis(50));
    assert!(slow < 2_000, "{slow}");
    assert!(fast.abs_diff(slow) < 8, "{fast} {slow}");
}

fn kept_above(rate: JobRate) -> JobSpec {
    JobSpec {
        bytes: None,
        runtime: Some(Duration::from_secs(10)),
        flushes_at_end: true,
        floors: Some(FloorSpec {
            rates: [rate; 2],
            cycle: Duration::from_millis(500),
        }),
        ..job(0)
    }
}

/// The device does 1000 a second.
#[test]
fn a_job_below_its_least_rate_ends_and_says_so() {
    let least = |per_second: u64| {
        [
            JobRate::Requests {
                per_second: per_second as f64,
            },
            JobRate::Bytes {
                per_second: per_second * BLOCK,
            },
        ]
    };
    for rate in least(1000) {
        let record = run(vec![kept_above(rate)]);
        assert_eq!(count(&record, 0, OpKind::Read), 10_000, "{rate:?}");
        assert_eq!(record.rows[&(0, OpKind::Read)].missed, None, "{rate:?}");
    }
    for (rate, found) in least(1001).into_iter().zip([1000, 1000 * BLOCK]) {
        let record = run(vec![kept_above(rate), job(1)]);
        // Two seconds settle, then the first half second counts.
        assert_eq!(count(&record, 0, OpKind::Read), 2500, "{rate:?}");
        let missed = record.rows[&(0, OpKind::Read)].missed.expect("a miss");
        assert_eq!((missed.wanted, missed.found), (rate, found));
        assert_eq!(missed.kind, OpKind::Read);
        assert_eq!(missed.within, Duration::from_millis(500));
        // The other is not touched by that.
        assert_eq!(count(&record, 1, OpKind::Read), 1000);
        assert_eq!(record.rows[&(1, OpKind::Read)].missed, None);
    }
}

#[test]
fn zones_are_worked_through_one_after_the_other() {
    let zoned = |pattern| JobSpec {
        pattern,
        bytes: Some(20 * BLOCK),
        zones: Some(StridedZones {
            bytes: 2 * BLOCK,
            range: 4 * BLOCK,
            skip: 100 * BLOCK,
        }),
        ..job(0)
    };
    for pattern in [JobPattern::Sequential { skip: 0 }, JobPattern::Once] {
        let record = run(vec![zoned(pattern.clone())]);
        assert_eq!(count(&record, 0, OpKind::Read), 20, "{pattern:?}");
    }
}
