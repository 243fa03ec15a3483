//! Queues with exact answers: Kleinrock, Queueing Systems I (1975), chapters 3 and 5.

use procedure::{MAIN_DIRECT, Preparation, Trial};
use results::{Access, Measurement, ValidationRow};
use sim::{QueueLoad, SimSpec};
use stats::{Estimate, Goal};
use units::{Bytes, Duration};
use workload::{
    AddressSpec, ClientSpec, Gap, GapShape, LoadFactor, Mix, MixSpec, Pacing, Records, Region,
    UserProfile, WalkStart,
};

use super::experiment::Fillers;
use super::hand::{SEED, loads_of_users};
use super::{Rows, ValidationError};
use host::interrupt::Interrupt;
use kinds::transactions::{Ramp, UserLoad};
use lab::laboratory::{Laboratory as _, SimLaboratory};

pub(super) const ROWS: Fillers<Rows> = &[("arrivals", arrivals), ("users", users)];

/// Mean service time of the queues, milliseconds.
const SERVICE_MS: f64 = 0.1;
/// An interval of 99.8 % over one of 95 %.
const WIDER: f64 = 3.0902 / 1.9600;
/// Virtual time of a trial.
const LONGEST: Duration = Duration::from_secs(3600);
const PRECISION: f64 = 0.03;

/// Tolerance of an estimate that is exceeded with a probability of 0.2 %.
fn tolerance(estimate: &Estimate) -> f64 {
    WIDER * estimate.relative_half_width()
}

/// Random 4 KiB reads with mean distance `gap`, until their mean is precise.
fn reads(device: &str, gap: Gap) -> Result<Measurement, ValidationError> {
    let spec = SimSpec::parse(device)?;
    let addresses = AddressSpec {
        start: WalkStart::First,
        ..AddressSpec::random(Region::first(MAIN_DIRECT, spec.size.0, 4096))
    };
    let mix = MixSpec {
        pacing: Pacing::Open { gap },
        ..MixSpec::closed(addresses, Mix::READ)
    };
    let trial = Trial {
        title: device.into(),
        depth: 4096,
        goal: Some(Goal::result(PRECISION)),
        duration_max: LONGEST,
        ..Trial::new("validation", ClientSpec::Mix(mix), Access::Simulated)
    };
    let outcome = SimLaboratory::new(spec, SEED).measure(&trial, &mut |_| true)?;
    Ok(outcome.measurement)
}

fn arrivals(_: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for (device, servers, load) in [
        ("sim:mm1?mean=100us", 1.0, 0.5),
        ("sim:mm1?mean=100us", 1.0, 0.8),
        ("sim:mmc?mean=100us&servers=4", 4.0, 0.8),
        ("sim:md1?time=100us", 1.0, 0.8),
    ] {
        let mean_ns = SERVICE_MS * 1e6 / load / servers;
        let gap = Gap {
            shape: GapShape::Exponential,
            mean_ns,
        };
        let per_second = 1e9 / mean_ns;
        let law = SimSpec::parse(device)?.answer(QueueLoad::Poisson { per_second });
        let Some(law) = law else { continue };
        let measured = reads(device, gap)?;
        let mean = measured.response.mean.scale(1e-6);
        let (name, percent) = (&law.name, load * 100.0);
        let expected = (law.wait_ns + law.service_ns) / 1e6;
        let row = ValidationRow::new(format!("{name}, {percent:.0} % busy"), "ms", expected);
        rows.push(row.simulated(mean.value).within(tolerance(&mean)));
    }
    Ok(rows)
}

const USERS: u32 = 20;
const USER_SERVICE_S: f64 = 0.005;
const THINK_S: f64 = 0.100;

/// Completions per second of users who wait for one server, from balance equations: M/M/1//N.
fn closed_throughput() -> f64 {
    let (mut weight, mut all, mut busy) = (1.0, 0.0, 0.0);
    for waiting in 0..=USERS {
        all += weight;
        busy += if waiting > 0 { weight } else { 0.0 };
        weight *= f64::from(USERS - waiting) * USER_SERVICE_S / THINK_S;
    }
    busy / all / USER_SERVICE_S
}

fn users(interrupt: &Interrupt) -> Rows {
    let profile = UserProfile {
        name: "user".into(),
        users: 1,
        ios: 1,
        io_size: 4096,
        reads: 1,
        writes: 0,
        think: Gap::new(GapShape::Exponential, Duration::from_secs_f64(THINK_S)),
        cpu_ns: 0,
        memory: 0,
        load: LoadFactor::Constant,
        records: Records::Repeat,
        transactions: None,
    };
    let load = UserLoad {
        name: "users".into(),
        users: USERS,
        profiles: vec![profile],
        goal: Some(Goal::result(PRECISION)),
        duration_max: LONGEST,
        preparation: Preparation::None,
        before: None,
    };
    let target = ("sim:mm1?mean=5ms", Bytes::from_mib(40));
    let start = (Ramp::WithinASecond, LONGEST);
    let found = loads_of_users(target, vec![load], start, SEED, interrupt)?;
    let load = found.first();
    let figures = load.and_then(|it| Some((it, it.device_queue?, it.device_busy_share?)));
    let Some((load, queue, busy)) = figures else {
        return Err(ValidationError::Nothing("no users were measured".into()));
    };
    let rate = load.per_second_steady;
    let all = load.all.per_second;
    let throughput = ValidationRow::new("throughput of M/M/1//20", "/s", closed_throughput());
    // Both sides from the same trial: the device's counters, and the users' times.
    let little = all * load.all.from_due.mean.value / 1e9;
    let little = ValidationRow::new("in the device: throughput x response time", "", little);
    let busy_law = ValidationRow::new("busy: throughput x service time", "", all * USER_SERVICE_S);
    Ok(vec![
        throughput.simulated(rate.value).within(tolerance(&rate)),
        little.simulated(queue).within(0.02),
        busy_law.simulated(busy).within(0.02),
    ])
}
