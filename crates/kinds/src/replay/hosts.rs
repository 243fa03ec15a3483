//! A replay on several hosts: each rank reads the whole trace, and asks for its part of it at the
//! recorded times after the common start.

use crate::session::Result;
use host::interrupt::Interrupt;
use lab::bench::{Bench, BenchError};
use lab::hosts::{Ranks, from_bytes, opened_on_all, to_bytes};
use lab::test_file::cause;
use results::{Measurement, ReplayDeal, ReplayHost, Warning, WarningCode};
use units::format_count;

use super::ReplayRequest;
use super::client::ReplayCounts;
use super::dealing::Dealing;
use super::scan::Scan;

/// What was seen on this host, with why the trace could not be read to its end.
pub(super) fn encoded(seen: &ReplayCounts) -> Vec<u8> {
    to_bytes(&(seen, seen.broken.as_ref().map(BenchError::reason)))
}

/// Read the trace, and what of it falls to this host. All ranks must have the same.
///
/// # Errors
/// When a rank cannot read it, has another, or has no part in it.
pub(super) fn scan_on_all(
    ranks: Option<&Ranks>,
    request: &ReplayRequest,
    interrupt: &Interrupt,
) -> Result<(Scan, Dealing)> {
    let read = || Scan::of(&request.trace, interrupt);
    let Some(ranks) = ranks else {
        return Ok((read()?, Dealing::WHOLE));
    };
    let own = ranks.beating(read).and_then(|scan| {
        let dealing = Dealing::of(&scan, ranks.share(), request.pace)?;
        Ok((scan, dealing))
    });
    let judge = |all: Vec<u64>| {
        let other = (0..).zip(&all).find(|(_, it)| **it != all[0]);
        other.map_or(Ok(()), |(rank, _)| {
            Err(BenchError::Usage(format!(
                "{}: the trace differs from that on {}. Use one file on all hosts",
                ranks.name(rank),
                ranks.name(0)
            )))
        })
    };
    let agree = |digest| ranks.agree(digest, judge);
    let own = opened_on_all(own, |own| Ok(own.0.digest), agree, |_, error| error);
    own.map(|(own, ())| own)
        .map_err(|error| cause(interrupt, error))
}

/// What each rank did, and the rows of their trials.
#[derive(Default)]
pub(super) struct Parts {
    pub hosts: Vec<ReplayHost>,
    pub rows: Vec<Measurement>,
}

impl Parts {
    /// Add what the other ranks saw to what rank 0 did. `per_second` is the rate of a rank's
    /// schedule, where it has one.
    pub fn of(
        bench: &mut Bench,
        seen: &mut ReplayCounts,
        per_second: impl Fn(u32) -> Option<f64>,
    ) -> Self {
        let rows = bench.take_rows();
        let reports = bench.take_reports();
        let Some(ranks) = bench.ranks().cloned() else {
            return Self::default();
        };
        let host = |rank: u32, seen: &ReplayCounts| ReplayHost {
            rank,
            host: ranks.host(rank).unwrap_or_default(),
            requests: seen.requests,
            bytes: seen.bytes,
            took_ns: seen.last_issued.as_nanos(),
            behind: (seen.requests > 0 && per_second(rank).is_some()).then(|| seen.behind()),
        };
        let mut hosts = vec![host(0, seen)];
        for (rank, bytes) in reports {
            let Ok((there, broken)) = from_bytes::<(ReplayCounts, Option<String>)>(rank, &bytes)
            else {
                continue;
            };
            hosts.push(host(rank, &there));
            seen.merge(&there);
            let broken = broken.map(|reason| {
                let name = ranks.name(rank);
                BenchError::Refused(format!("{name}: {reason}"))
            });
            seen.broken = seen.broken.take().or(broken);
        }
        let rows = rows.into_iter().map(|row| {
            let rank = row.name.rsplit('-').next().and_then(|it| it.parse().ok());
            Measurement {
                offered: rank.and_then(&per_second),
                ..row
            }
        });
        Self {
            rows: rows.collect(),
            hosts,
        }
    }
}

/// How the trace was dealt, and what that does to it.
pub(super) fn note(dealing: &Dealing, scan: &Scan, ranks: &Ranks) -> Warning {
    let count = ranks.share().ranks;
    let text = match dealing.unit() {
        ReplayDeal::Files => format!(
            "{} files or devices of the trace were dealt to {count} ranks, in the order of their \
             first use. Each rank replayed all requests of its own.",
            format_count(scan.order.len() as f64)
        ),
        ReplayDeal::Requests => format!(
            "The trace has fewer files than ranks, so its requests were dealt to {count} ranks in \
             turn. Between hosts only their times keep requests in order, and a sync covers what \
             its own host wrote."
        ),
    };
    Warning::info(WarningCode::Hosts, text)
}
