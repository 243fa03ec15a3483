//! What of several workloads a load curve varies, and how much of each load is whose.

use drivers::DriverKind;
use fio::{Job, RateLimit};
use procedure::{CurveOptions, PointPlan};
use units::{Bytes, Duration};
use workload::{JobRate, JobSpec};

use super::plan::JobPhase;
use crate::depth::open_depth;

/// How the loads of a curve are dealt to its workloads.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadShares {
    /// Clients in turn.
    InTurn,
    /// Clients in these proportions, which no load breaks: a load is a multiple of them.
    Clients(Vec<u32>),
    /// Random arrivals in these parts of all.
    Arrivals(Vec<f64>),
}

impl LoadShares {
    /// The proportions in which jobs have clients, in the smallest whole numbers.
    pub fn of_clients(jobs: &[Job]) -> Self {
        let clients: Vec<u32> = jobs.iter().map(clients_of).collect();
        let divisor = clients.iter().copied().fold(0, common_divisor);
        let parts = clients.iter().map(|clients| clients / divisor.max(1));
        Self::Clients(parts.collect())
    }

    /// The parts of all arrivals that the rates of jobs say.
    pub fn of_rates(jobs: &[Job]) -> Self {
        let rates: Vec<f64> = jobs.iter().map(rate_of).collect();
        let all: f64 = rates.iter().sum();
        Self::Arrivals(rates.iter().map(|rate| rate / all).collect())
    }

    /// The least clients that keep the proportions.
    pub fn clients_each(&self) -> u32 {
        match self {
            Self::Clients(parts) => parts.iter().fold(0, |sum: u32, it| sum.saturating_add(*it)),
            Self::InTurn | Self::Arrivals(_) => 1,
        }
    }

    /// The options of a curve whose loads are multiples of the least clients. `None` where not even
    /// those are allowed.
    pub fn fit(&self, options: CurveOptions) -> Option<CurveOptions> {
        let clients_each = self.clients_each();
        let clients_max = options.clients_max / clients_each.max(1);
        (clients_max > 0).then_some(CurveOptions {
            clients_each,
            clients_max,
            ..options
        })
    }

    /// The phase at a point of the curve.
    pub(super) fn dealt(
        &self,
        phase: &JobPhase,
        point: &PointPlan,
        driver: DriverKind,
    ) -> JobPhase {
        let is_first = |at: &usize| *at == 0 || phase.jobs[at - 1] != phase.jobs[*at];
        let firsts: Vec<usize> = (0..phase.jobs.len()).filter(is_first).collect();
        let count = firsts.len() as u32;
        let mut workloads = Vec::new();
        for (number, first) in (0..).zip(firsts) {
            let spec = &phase.workloads[first];
            match self {
                Self::InTurn => {
                    let left = u32::from(number < point.clients % count);
                    put_clients(spec, point.clients / count + left, &mut workloads);
                }
                Self::Clients(parts) => {
                    let own = parts[number as usize] * point.clients;
                    put_clients(spec, own, &mut workloads);
                }
                Self::Arrivals(parts) => {
                    let all = point
                        .sources
                        .map(|it| it.rate_each * f64::from(point.clients));
                    let own = all.map(|all| all * parts[number as usize]);
                    workloads.push(arriving(spec, own, driver));
                }
            }
        }
        JobPhase {
            workloads,
            ..phase.clone()
        }
    }
}

/// Requests outstanding, or copies of one request where clients think.
fn put_clients(spec: &JobSpec, clients: u32, workloads: &mut Vec<JobSpec>) {
    match spec.think {
        _ if clients == 0 => {}
        Duration::ZERO => workloads.push(JobSpec {
            depth: clients,
            ..spec.clone()
        }),
        _ => workloads.extend((0..clients).map(|_| spec.clone())),
    }
}

/// The workload with so many random arrivals a second, its reads and writes in the proportion of
/// its rates; one operation after the other without them.
fn arriving(spec: &JobSpec, per_second: Option<f64>, driver: DriverKind) -> JobSpec {
    let Some(per_second) = per_second else {
        return JobSpec {
            depth: 1,
            rates: [JobRate::Free; 2],
            is_poisson: false,
            ..spec.clone()
        };
    };
    let factor = per_second / spec.offered().unwrap_or(per_second);
    let scaled = |rate: JobRate| match rate {
        JobRate::Requests { per_second } => JobRate::Requests {
            per_second: per_second * factor,
        },
        other => other,
    };
    JobSpec {
        depth: open_depth(driver, 1, per_second, Bytes(spec.len_max().into())),
        rates: spec.rates.map(scaled),
        is_poisson: true,
        ..spec.clone()
    }
}

fn clients_of(job: &Job) -> u32 {
    match job.think.time {
        Duration::ZERO => job.depth,
        _ => job.copies,
    }
}

fn rate_of(job: &Job) -> f64 {
    let rates = job.pace.rates[..2].iter().flatten();
    let of = |rate: &RateLimit| match rate {
        RateLimit::Requests(per_second) => *per_second as f64,
        RateLimit::Bytes(_) => 0.0,
    };
    rates.map(of).sum()
}

const fn common_divisor(mut one: u32, mut other: u32) -> u32 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use fio::JobFilePosition;

    use super::*;

    fn job(clients: u32) -> Job {
        let place = JobFilePosition {
            file: "a".into(),
            line: 0,
        };
        Job {
            depth: clients,
            ..Job::new("a", &place)
        }
    }

    #[test]
    fn clients_keep_their_proportions_in_the_smallest_whole_numbers() {
        let check = |clients: &[u32], parts: &[u32], max: Option<u32>| {
            let jobs: Vec<Job> = clients.iter().map(|it| job(*it)).collect();
            let shares = LoadShares::of_clients(&jobs);
            assert_eq!(shares, LoadShares::Clients(parts.to_vec()), "{clients:?}");
            let fitted = shares.fit(CurveOptions::default());
            assert_eq!(fitted.map(|it| it.clients_max), max, "{clients:?}");
        };
        check(&[1, 1], &[1, 1], Some(128));
        check(&[32, 8], &[4, 1], Some(51));
        check(&[6, 4, 9], &[6, 4, 9], Some(13));
        check(&[300, 7], &[300, 7], None);
    }
}
