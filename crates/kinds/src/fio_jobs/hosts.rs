//! Jobs on several hosts: each carries out all of them on files of its own, as each server of
//! `fio --client` does. They begin each phase together.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::session::Result;
use drivers::free_space;
use host::inspect;
use lab::bench::{BenchError, of_full_host};
use lab::hosts::{FleetLaboratory, HostClaims, Ranks, TargetClaim, opened_on_all};
use lab::laboratory::LaboratoryError;
use results::Measurement;
use units::Duration;

use super::opened::{
    OpenedJobs, filling, open, place_of, refuse_unwanted_writes, reserve_at, size_of,
};
use super::plan::{FioPlan, JobStorage, PlannedFile, plan_jobs};
use super::run::{FioRequest, JobTimes};

/// What jobs did on one host.
#[derive(Clone, Debug)]
pub struct HostTimes {
    pub rank: u32,
    /// The name of the host.
    pub host: String,
    /// In the order of the jobs' file.
    pub rows: Vec<JobTimes>,
}

/// What jobs did on each host so far.
#[derive(Default)]
pub(super) struct CollectedTimes(pub Vec<HostTimes>);

impl CollectedTimes {
    /// Take in the phase that was measured last and began after that time, and add what each host
    /// measured to `all`. Rows of hosts are as `rows` of all are.
    pub fn take(
        &mut self,
        fleet: &mut FleetLaboratory,
        (rows, begun): (&[JobTimes], Duration),
        all: &mut Vec<Measurement>,
    ) {
        let first = all.len();
        all.extend(fleet.take_rows());
        for host_rows in fleet.take_host_rows() {
            let suffix = format!("rank-{}", host_rows.rank);
            let phase = all[first..]
                .iter()
                .position(|it| it.name.ends_with(&suffix));
            let at = match self.0.iter().position(|it| it.rank == host_rows.rank) {
                Some(at) => at,
                None => {
                    self.0.push(HostTimes {
                        rank: host_rows.rank,
                        host: fleet.ranks().host(host_rows.rank).unwrap_or_default(),
                        rows: rows.iter().map(|it| JobTimes::of(it.row.clone())).collect(),
                    });
                    self.0.len() - 1
                }
            };
            for ((row, kind), mut record) in host_rows.rows {
                record.span = record.span.later_by(begun);
                let times = &mut self.0[at].rows[row as usize];
                times.records.entry(kind).or_default().merge(&record);
                times.phase = phase.map(|at| first + at);
            }
        }
    }
}

/// Plan jobs, and open or make their files, on all hosts or on none.
///
/// # Errors
/// When a job cannot be carried out somewhere, or hosts differ.
pub(super) fn open_on_all(ranks: &Ranks, request: &FioRequest) -> Result<OpenedJobs> {
    let (plan, differences) = opened_on_all(
        planned(request),
        |plan| claims(plan, request),
        |claims| {
            ranks.agree_on_claims(claims, |_, (_, leader)| {
                format!(
                    "its jobs come out otherwise than on {leader}. Give all hosts the same job \
                     file, and files of one size or none"
                )
            })
        },
        |_, error| error,
    )?;
    let (mut opened, ()) = opened_on_all(
        open(&plan, request).map_err(of_full_host),
        |opened| Ok(opened.facts.access),
        |access| ranks.agree_on_access(access),
        |mut opened, error| opened.bench.abandon(error),
    )?;
    let how = (request.bench.storage.seed, request.bench.storage.on_error);
    opened.bench = opened.bench.of_ranks(ranks, how, differences);
    Ok(OpenedJobs { plan, opened })
}

fn planned(request: &FioRequest) -> Result<FioPlan> {
    let plan = plan_jobs(&filling(request)?, &|path: &Path| {
        size_of(path, &request.bench.setup)
    });
    let plan = plan.map_err(|error| BenchError::Usage(error.to_string()))?;
    if plan.storage != JobStorage::Files {
        return Err(BenchError::Usage(
            "the jobs work on a model or on nothing, which is on no host: start them without a \
             launcher"
                .into(),
        ));
    }
    refuse_unwanted_writes(&plan, request)?;
    Ok(plan)
}

/// What a plan takes, and from where.
fn claims(plan: &FioPlan, request: &FioRequest) -> Result<HostClaims> {
    let mut places: Vec<(PathBuf, u64)> = Vec::new();
    let mut known = BTreeMap::new();
    for file in &plan.files {
        let place = place_of(file);
        let at = *known.entry(place.clone()).or_insert(places.len());
        if at == places.len() {
            places.push((place, 0));
        }
        if file.exists.is_none() {
            places[at].1 += file.needs;
        }
    }
    let claim = |(place, needs): (PathBuf, u64)| -> Result<TargetClaim> {
        let (target, _) = inspect::inspect(&place)?;
        let space = match needs {
            0 => 0,
            _ => {
                let available = free_space(&place).map_err(LaboratoryError::from)?.available;
                available.saturating_sub(reserve_at(&place, request)?)
            }
        };
        Ok(TargetClaim::of(&target, needs, space))
    };
    Ok(HostClaims {
        plan: number_of(plan).to_string(),
        places: places.into_iter().map(claim).collect::<Result<_, _>>()?,
    })
}

/// The same on hosts that do the same, whatever the names of their files.
fn number_of(plan: &FioPlan) -> u64 {
    let mut hasher = DefaultHasher::new();
    let file = |it: &PlannedFile| (it.exists.is_some(), it.needs, it.is_read, it.is_written);
    let files: Vec<_> = plan.files.iter().map(file).collect();
    format!("{:?} {:?} {files:?}", plan.phases, plan.rows).hash(&mut hasher);
    hasher.finish()
}
