//! The procedure of `seekstone rab` on the simulated device.

use lab::laboratory::{Laboratory as _, SimLaboratory};
use procedure::{Plan as _, PointPlan, Preparation, RabOptions, RabProcedure, RabSubject, Trial};
use results::{Access, LevelOutcome, Mode, RabWorkload};
use stats::{Aim, Channel, Estimate};
use units::Duration;
use workload::ClientSpec;

use super::system::{System, THREADS_MAX};
use super::{FoundLevel, Outcome, Part};

/// How the names of points begin that only the levels of response time need.
pub const OF_RESPONSE: &str = "response: ";

/// Run the transaction workload up to `level_max_ms`.
pub fn measure(system: &System, level_max_ms: u32, seed: u64) -> Outcome {
    let definition = &system.definition;
    let subject = RabSubject {
        run: 1,
        number: 1,
        name: definition.name.clone(),
        title: definition.title.clone(),
        clients: definition.threads,
        mode: Mode::Normal,
        begun: Duration::ZERO,
    };
    let options = RabOptions {
        warm_up: None,
        levels: Vec::new(),
        percentile: None,
        response_min: Duration::ZERO,
        response_max: Duration::from_millis(u64::from(level_max_ms)),
        precision: 0.03,
        clients_max: THREADS_MAX,
        // As much as a point of a usual run may take: hours would let it take more.
        budget: Duration::from_secs(1_200),
    };
    let mut procedure = RabProcedure::new(subject, options);
    let mut laboratory = SimLaboratory::new(system.device.clone(), seed);
    let mut parts = Vec::new();
    while let Some(plan) = procedure.next_step() {
        let begun = laboratory.now();
        let outcome = laboratory
            .measure(&trial(system, &plan), &mut |_| true)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let elapsed = laboratory.now().since(begun);
        parts.push(Part {
            name: name_of(&plan),
            clients: plan.clients,
            service_ms: outcome.measurement.service.mean.value / 1e6,
            operations: outcome.measurement.completions_all,
            seconds: elapsed.as_secs_f64(),
            is_converged: outcome.measurement.is_converged(),
        });
        procedure.record(&plan, &outcome.measurement, elapsed);
    }
    let found = procedure.workload();
    assert!(found.is_complete, "seed {seed}");
    outcome_of(&found, parts)
}

fn trial(system: &System, plan: &PointPlan) -> Trial {
    Trial {
        name: system.definition.name.clone(),
        title: system.definition.title.clone(),
        spec: ClientSpec::Control(system.spec.clone()),
        clients: plan.clients,
        depth: plan.clients,
        access: Access::Simulated,
        preparation: Preparation::None,
        goal: Some(plan.goal),
        channel: plan.channel,
        duration_max: plan.duration_max,
        salt: plan.salt | 1 << 32 | 1 << 40,
        sample_every: None,
        limit: None,
        warm_up: None,
    }
}

/// What a point is measured for.
fn name_of(plan: &PointPlan) -> &'static str {
    match (plan.channel, plan.is_scout, plan.goal.aim) {
        (Channel::Response, true, _) => "response: scout",
        (Channel::Response, false, _) => "response: final",
        (Channel::Service, true, _) => "scout",
        (Channel::Service, false, _) if plan.clients == 1 => "no load",
        (Channel::Service, false, Aim::Load) => "final, load alone",
        (Channel::Service, false, _) => "final",
    }
}

fn outcome_of(found: &RabWorkload, parts: Vec<Part>) -> Outcome {
    let levels = found.levels.iter().map(|level| {
        let (load, range, is_precise) = match level.by_service {
            LevelOutcome::Reached {
                load, is_precise, ..
            } => (Some(load), None, is_precise),
            LevelOutcome::Between { low, high } => {
                let middle = Estimate::exact(0.5 * (low + high), 0.0);
                (
                    None,
                    Some(Estimate {
                        low,
                        high,
                        ..middle
                    }),
                    false,
                )
            }
            _ => (None, None, false),
        };
        FoundLevel {
            ms: level.level_ns as f64 / 1e6,
            load: load.map(|load| load.value),
            interval: load,
            range,
            is_precise,
        }
    });
    let rabmark = found.rabmark_r.expect("one client was measured").value;
    let no_load = found.no_load.as_ref().expect("one client was measured");
    Outcome {
        operations: found.operations,
        seconds: found.elapsed_ns as f64 / 1e9,
        points: parts.len(),
        threads: parts.iter().map(|part| part.clients).max().unwrap_or(0),
        no_load_ms: no_load.service.value / 1e6,
        no_load_interval: Some(no_load.service.scale(1e-6)),
        levels: levels.collect(),
        rabmark: rabmark.value,
        rabmark_interval: Some(rabmark),
        unconverged: unconverged(&parts),
        parts,
    }
}

/// Points that are cited and did not become as precise as was wanted.
pub fn unconverged(parts: &[Part]) -> usize {
    let is_cited = |part: &&Part| !part.name.contains("scout");
    parts
        .iter()
        .filter(is_cited)
        .filter(|part| !part.is_converged)
        .count()
}
