//! Users: what they do depends on seed and number only, and their work has the mean asked for.

use units::{Duration, Instant};
use workload::{
    Agenda, Client, ClientId, Completion, Event, Gap, GapShape, LoadFactor, Op, Records, Request,
    TargetId, UnitOfWork, UserClient, UserProfile, UsersSpec, Wanted, check_profiles,
};

const SEED: u64 = 8213;

fn profile() -> UserProfile {
    UserProfile {
        name: "user".into(),
        users: 1,
        ios: 5,
        io_size: 4096,
        reads: 3,
        writes: 1,
        think: Gap::new(GapShape::Exponential, Duration::from_secs(5)),
        cpu_ns: 10_000_000,
        memory: 1 << 20,
        load: LoadFactor::Exponential,
        records: Records::New,
        transactions: None,
    }
}

fn spec(profile: UserProfile) -> UsersSpec {
    UsersSpec::new(TargetId(0), 1 << 30, None, vec![profile]).expect("a valid profile")
}

/// What a user does on storage that takes `service` for everything.
struct Seen {
    ops: Vec<Op>,
    thinks: Vec<Duration>,
    units: Vec<UnitOfWork>,
}

fn run(spec: &UsersSpec, seed: u64, user: u32, units: usize, service: Duration) -> Seen {
    let mut client = UserClient::new(spec, seed, user).expect("a region with records");
    let mut agenda = Agenda::default();
    let mut seen = Seen {
        ops: Vec::new(),
        thinks: Vec::new(),
        units: Vec::new(),
    };
    let mut free = Instant::START;
    client.on_event(Event::Started { at: free }, &mut agenda);
    while seen.units.len() < units && !agenda.finished {
        for unit in agenda.units.drain(..) {
            free = unit.completed;
            seen.units.push(unit);
        }
        if let Some(at) = agenda.wake.take() {
            seen.thinks.push(at.since(free));
            client.on_event(Event::Due { at }, &mut agenda);
        } else if let Some(Wanted { due, op, .. }) = agenda.issues.pop() {
            if due > free {
                seen.thinks.push(due.since(free));
            }
            seen.ops.push(op);
            free = due + service;
            let completion = Completion {
                request: Request::new(ClientId(user), due, op),
                issued: due,
                completed: free,
                result: Ok(op.len()),
            };
            client.on_event(Event::Completed(&completion), &mut agenda);
            free = due.max(free);
        }
    }
    seen.units.append(&mut agenda.units);
    seen
}

#[test]
fn operations_depend_on_seed_and_user_only() {
    let spec = spec(profile());
    let fast = run(&spec, SEED, 3, 200, Duration::from_micros(10));
    let slow = run(&spec, SEED, 3, 200, Duration::from_millis(30));
    assert_eq!(fast.ops, slow.ops);
    let other = run(&spec, SEED, 4, 200, Duration::from_micros(10));
    assert_ne!(fast.ops, other.ops);
    let other = run(&spec, SEED + 1, 3, 200, Duration::from_micros(10));
    assert_ne!(fast.ops, other.ops);
}

#[test]
fn another_think_time_leaves_the_work_as_it_was() {
    let base = run(&spec(profile()), SEED, 0, 300, Duration::from_micros(1));
    let mut hasty = profile();
    hasty.think = Gap::new(GapShape::Constant, Duration::from_millis(1));
    let hasty = run(&spec(hasty), SEED, 0, 300, Duration::from_micros(1));
    assert_eq!(base.ops, hasty.ops);
}

#[test]
fn another_load_leaves_the_think_times_as_they_were() {
    let base = run(&spec(profile()), SEED, 0, 300, Duration::from_nanos(0));
    let mut constant = profile();
    constant.load = LoadFactor::Constant;
    let constant = run(&spec(constant), SEED, 0, 300, Duration::from_nanos(0));
    let count = base.thinks.len().min(constant.thinks.len()).min(250);
    assert_eq!(base.thinks[..count], constant.thinks[..count]);
}

#[test]
fn records_repeat_unless_new_ones_are_asked_for() {
    let places = |records, seed| {
        let mut profile = profile();
        profile.records = records;
        profile.load = LoadFactor::Constant;
        let ops = run(&spec(profile), seed, 0, 20, Duration::from_micros(1)).ops;
        let offset = |op: Op| match op {
            Op::Read { offset, .. } | Op::Write { offset, .. } => Some(offset),
            _ => None,
        };
        ops.into_iter().filter_map(offset).collect::<Vec<_>>()
    };
    assert_eq!(places(Records::Repeat, 1), places(Records::Repeat, 2));
    assert_ne!(places(Records::New, 1), places(Records::New, 2));
}

/// Section 1 of the document: "5% greater than 3 times average".
#[test]
fn the_drawn_factor_has_its_95th_percentile_at_three_times_the_mean() {
    const DRAWS: usize = 1_000_000;
    let mut profile = profile();
    profile.ios = 1;
    profile.think = Gap::NONE;
    // One I/O of a million nanoseconds: the work shows the factor.
    profile.cpu_ns = 1_000_000;
    profile.memory = 0;
    let spec = spec(profile);
    let mut client = UserClient::new(&spec, SEED, 0).expect("records");
    let mut agenda = Agenda::default();
    let mut work = Vec::with_capacity(DRAWS);
    let mut this = 0;
    let mut now = Instant::START;
    client.on_event(Event::Started { at: now }, &mut agenda);
    while work.len() < DRAWS {
        for _ in agenda.units.drain(..) {
            work.push(std::mem::take(&mut this));
        }
        let Wanted { due, op, .. } = agenda
            .issues
            .pop()
            .expect("a user who never thinks goes on");
        if let Op::Compute { work_ns, .. } = op {
            this += work_ns;
        }
        now = now.max(due) + Duration::from_nanos(1);
        let completion = Completion {
            request: Request::new(ClientId(0), due, op),
            issued: due,
            completed: now,
            result: Ok(op.len()),
        };
        client.on_event(Event::Completed(&completion), &mut agenda);
    }
    let mean = work.iter().sum::<u64>() as f64 / DRAWS as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.005, "mean {mean}");
    work.sort_unstable();
    let ratio = work[DRAWS * 95 / 100] as f64 / mean;
    assert!(
        (ratio / 3.0 - 1.0).abs() < 0.01,
        "95th percentile {ratio} times the mean"
    );
}

#[test]
fn a_transaction_is_work_and_ios_by_turns() {
    let mut plain = profile();
    plain.load = LoadFactor::Constant;
    plain.ios = 3;
    plain.writes = 0;
    plain.transactions = Some(2);
    let seen = run(&spec(plain), SEED, 0, 10, Duration::from_millis(1));
    let shape: Vec<_> = seen.ops.iter().map(|op| op.kind().name()).collect();
    let one = ["compute", "read", "compute", "read", "compute", "read"];
    assert_eq!(shape, [one, one].concat());
    let Op::Compute { work_ns, touched } = seen.ops[0] else {
        panic!("work comes first: {:?}", seen.ops[0]);
    };
    // 10 ms in three parts, and what is left over with the first.
    assert_eq!((work_ns, touched), (3_333_334, 1 << 20));
    assert_eq!(seen.units.len(), 2);
    for unit in &seen.units {
        assert_eq!(unit.response_time(), Duration::from_millis(6));
        assert_eq!(unit.service_time(), unit.response_time());
        assert_eq!(unit.bytes, 3 * 4096);
    }
}

#[test]
fn ramped_users_start_one_after_the_other() {
    let mut plain = profile();
    plain.think = Gap::NONE;
    let users = UsersSpec::new(TargetId(0), 1 << 30, Some(10.0), vec![plain]).expect("valid");
    for user in [0_u32, 5, 99] {
        let mut client = UserClient::new(&users, SEED, user).expect("records");
        let mut agenda = Agenda::default();
        let at = Instant(1_000);
        client.on_event(Event::Started { at }, &mut agenda);
        let expected = at + Duration::from_millis(100 * u64::from(user));
        assert_eq!(agenda.issues[0].due, expected, "user {user}");
    }
}

#[test]
fn wrong_profiles_are_told_all_at_once() {
    let mut wrong = profile();
    (wrong.ios, wrong.users, wrong.reads, wrong.writes) = (0, 0, 0, 0);
    let errors = check_profiles(&[wrong.clone(), wrong]).expect_err("nothing is right");
    assert_eq!(errors.len(), 7, "{errors:?}");
    let texts = |profiles: &[UserProfile]| {
        let errors = check_profiles(profiles).expect_err("a mistake");
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        texts(&[]),
        ["there are no users. Give at least one profile"]
    );
    let mut many = profile();
    many.users = 100_000;
    let mut more = many.clone();
    more.name = "more".into();
    assert_eq!(texts(&[many, more]), ["200000 users are more than 100000"]);
}

#[test]
fn a_target_without_one_record_is_refused() {
    let small = spec(profile()).on(TargetId(0), 4095);
    assert!(UserClient::new(&small, SEED, 0).is_err());
}
