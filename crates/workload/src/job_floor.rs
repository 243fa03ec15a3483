//! Minimum rates below which a job ends, like fio's `rate_min` and `rate_iops_min`.
//!
//! Rates are measured between checks at least a cycle apart, made when something completes. The
//! first two seconds are left out. Follows fio's documentation of these options.

use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::job_rate::JobRate;
use crate::op::{Op, OpKind};

/// From a job's start to the first check.
const SETTLING: Duration = Duration::from_secs(2);

/// Minimum rates of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorSpec {
    /// For reads, and for writes or trims; [`JobRate::Free`] for none.
    pub rates: [JobRate; 2],
    /// Minimum time between two checks.
    pub cycle: Duration,
}

/// A missed rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateMiss {
    pub kind: OpKind,
    /// The required minimum.
    pub wanted: JobRate,
    /// The measured rate per second.
    pub found: u64,
    /// Over this time.
    pub within: Duration,
}

/// Operations and bytes.
type Amounts = (u64, u64);

/// Checks a job's rates against the minimum.
#[derive(Clone, Debug)]
pub(crate) struct FloorWatch {
    spec: FloorSpec,
    /// Earlier completions do not count.
    counts_from: Instant,
    looks_from: Instant,
    done: [Amounts; 2],
    /// Time and totals at the last check of each direction.
    last: [Option<(Instant, Amounts)>; 2],
}

impl FloorWatch {
    /// A watch for a job that starts at the first instant and is recorded from the second.
    pub(crate) fn new(spec: FloorSpec, (start, counts_from): (Instant, Instant)) -> Self {
        Self {
            spec,
            counts_from,
            looks_from: counts_from.max(start + SETTLING),
            done: [(0, 0); 2],
            last: [None; 2],
        }
    }

    /// Counts a completed operation. Returns the missed rate, if any.
    pub(crate) fn look(&mut self, op: Op, at: Instant) -> Option<RateMiss> {
        if at < self.counts_from {
            return None;
        }
        let direction = usize::from(op.kind() != OpKind::Read);
        let (operations, bytes) = &mut self.done[direction];
        (*operations, *bytes) = (*operations + 1, *bytes + u64::from(op.len()));
        if at < self.looks_from {
            return None;
        }
        let changes = match op.kind() {
            OpKind::Read => OpKind::Write,
            kind => kind,
        };
        let kinds = [OpKind::Read, changes];
        let mut looked = (0..2).filter_map(|direction| self.rate(direction, kinds[direction], at));
        looked.next()
    }

    fn rate(&mut self, direction: usize, kind: OpKind, at: Instant) -> Option<RateMiss> {
        let wanted = self.spec.rates[direction];
        let done = self.done[direction];
        if wanted == JobRate::Free || done.0 == 0 {
            return None;
        }
        let Some((then, before)) = self.last[direction] else {
            self.last[direction] = Some((at, done));
            return None;
        };
        let within = at.since(then);
        if within < self.spec.cycle || within == Duration::ZERO {
            return None;
        }
        self.last[direction] = Some((at, done));
        let (amount, least) = match wanted {
            JobRate::Requests { per_second } => (done.0 - before.0, per_second),
            JobRate::Bytes { per_second } => (done.1 - before.1, per_second as f64),
            JobRate::Free => return None,
        };
        let found = u128::from(amount) * 1_000_000_000 / u128::from(within.as_nanos());
        let found = u64::try_from(found).unwrap_or(u64::MAX);
        ((found as f64) < least).then_some(RateMiss {
            kind,
            wanted,
            found,
            within,
        })
    }
}
