//! Counts for `steadystate` what a phase did so far, on the workers themselves: however fast
//! operations come, none is left out.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Follower;
use fio::SteadyTotals;
use units::{Duration, Instant};
use workload::{Completion, JobSpec};

/// What was done, and who else is told of it.
#[derive(Debug)]
pub(super) struct SteadyCount {
    /// From the trial's start to the first moment of each client that counts.
    from: Vec<Duration>,
    totals: Mutex<SteadyTotals>,
    next: Option<Arc<dyn Follower>>,
}

impl SteadyCount {
    pub(super) fn new(workloads: &[JobSpec], next: Option<Arc<dyn Follower>>) -> Self {
        Self {
            from: workloads.iter().map(JobSpec::recorded_from).collect(),
            totals: Mutex::default(),
            next,
        }
    }

    /// What was done so far.
    pub(super) fn totals(&self) -> SteadyTotals {
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower for SteadyCount {
    fn take(&self, start: Instant, done: &mut Vec<Completion>) {
        let (mut operations, mut bytes, mut nanos) = (0, 0, 0_u64);
        for done in &*done {
            let from = self.from.get(done.request.client.0 as usize);
            if from.is_some_and(|from| done.completed >= start + *from) {
                operations += 1;
                bytes += u64::from(done.result.unwrap_or(0));
                nanos = nanos.saturating_add(done.service_time().as_nanos());
            }
        }
        {
            let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
            totals.operations += operations;
            totals.bytes += bytes;
            totals.nanos += nanos as f64;
        }
        if let Some(next) = &self.next {
            next.take(start, done);
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::{ClientId, Content, Op, Region, Request, TargetId};

    use super::*;
    use crate::feed::{CompletionFeed, WhenFull};
    use crate::fio_jobs::fill::filling;

    const LATENCY: Duration = Duration::from_micros(2);

    fn read(number: u64) -> Completion {
        let op = Op::Read {
            target: TargetId(0),
            offset: 0,
            len: 512,
        };
        let issued = Instant::START + LATENCY * number;
        Completion {
            request: Request::new(ClientId(0), issued, op),
            issued,
            completed: issued + LATENCY,
            result: Ok(512),
        }
    }

    /// Bug: samples were counted by the thread that writes logs, and operations that came faster
    /// than it looked at them were in no sample.
    #[test]
    fn all_count_though_the_thread_behind_looks_at_none() {
        const LIST: u64 = 4096;
        const LISTS: u64 = 300;
        let file = Region {
            target: TargetId(1),
            offset: 0,
            len: 1 << 20,
            block: 1 << 20,
        };
        let workloads = [filling(vec![file], Content::default())];
        let feed = Arc::new(CompletionFeed::within(WhenFull::LeaveOut, 0));
        let count = SteadyCount::new(&workloads, Some(Arc::clone(&feed) as Arc<dyn Follower>));
        for list in 0..LISTS {
            let mut done = (list * LIST..(list + 1) * LIST).map(read).collect();
            count.take(Instant::START, &mut done);
        }
        let left_out = feed.close();
        assert!(left_out > 0, "the test needs more than can wait");
        let totals = count.totals();
        assert_eq!(totals.operations, LIST * LISTS);
        assert_eq!(totals.bytes, LIST * LISTS * 512);
        assert_eq!(totals.nanos, (LATENCY.as_nanos() * LIST * LISTS) as f64);
    }
}
