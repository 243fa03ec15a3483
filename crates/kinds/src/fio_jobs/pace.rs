//! How fast a job goes: its rates, the least of them, and its part in a flow.

use fio::{Job, RateLimit};
use workload::{FloorSpec, FlowSpec, JobRate};

use super::job_values::second_of;

pub(super) const fn rate_of(rate: Option<RateLimit>) -> JobRate {
    match rate {
        None => JobRate::Free,
        Some(RateLimit::Bytes(per_second)) => JobRate::Bytes { per_second },
        Some(RateLimit::Requests(per_second)) => JobRate::Requests {
            per_second: per_second as f64,
        },
    }
}

pub(super) fn floors_of(job: &Job) -> Option<FloorSpec> {
    let least = job.pace.least;
    least.is_any().then(|| FloorSpec {
        rates: [0, second_of(job)].map(|at| rate_of(least.of(at))),
        cycle: least.cycle,
    })
}

pub(super) fn flow_of(job: &Job) -> Option<FlowSpec> {
    (job.flow.weight > 0).then_some(FlowSpec {
        id: job.flow.id,
        weight: job.flow.weight,
        sleep: job.flow.sleep,
    })
}
