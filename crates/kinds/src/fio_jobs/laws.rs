//! What theory says of a workload that has a model for itself.

use fio::Job;
use lab::simulated::{law_of_queue, open_recorded_model};
use results::{Law, Measurement, Setup};
use sim::QueueLoad;
use units::Duration;
use workload::{ClientSpec, JobRate, JobSpec};

/// The law of a row, where it works on a queue alone, all the time; `all` are the workloads of the
/// trial.
pub(super) fn law_of_row(
    row: &Measurement,
    job: &Job,
    all: &[JobSpec],
    setup: &Setup,
) -> Option<Law> {
    let Some(ClientSpec::Jobs(own)) = &row.workload else {
        return None;
    };
    let target = own.jobs.first()?.files.first()?.target;
    let is_there = |it: &&JobSpec| it.files.iter().any(|file| file.target == target);
    if all.iter().filter(is_there).count() != own.jobs.len() {
        return None;
    }
    let load = match own.offered() {
        Some(per_second) => QueueLoad::Poisson { per_second },
        None if own.jobs.iter().all(asks_at_once) => QueueLoad::Thinking {
            clients: own.jobs.iter().map(|it| it.depth).sum(),
            think_ns: 0.0,
        },
        None => return None,
    };
    let model = open_recorded_model(job.files.names.first()?, setup).ok()?;
    law_of_queue(&model, load).map(Law::Queue)
}

/// Whether each of its requests is followed by the next, all the time.
fn asks_at_once(spec: &JobSpec) -> bool {
    spec.think == Duration::ZERO
        && spec.delay == Duration::ZERO
        && spec.bytes.is_none()
        && spec.requests.is_none()
        && spec.flush_every == 0
        && spec.rates == [JobRate::Free; 2]
}
