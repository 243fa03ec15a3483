//! Threads that do the processor work of transactions, beside the driver that moves their data.
//!
//! The work is processor time of the thread that does it, not time on the clock: a thread that has
//! to share its processor takes longer and does no more. Threads are nicer than the rest of this
//! program, so that requests are issued on time while all processors are busy.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use engine::{Clock as _, DriverError};
use units::Instant;
use workload::{ClientId, Completion, Op, Request};

use crate::buffers::PAGE_BYTES;
use sys::MonotonicClock;

/// Work between two looks at the clock, nanoseconds.
const CHUNK_NS: u64 = 50_000;
/// Chunks shorter than this say too little about the speed of the processor.
const LEARN_MIN_NS: u64 = 10_000;
/// What is assumed of the processor before the first chunk; the first ones correct it.
const ROUNDS_PER_NS: f64 = 0.25;
/// How much one chunk counts in what is known of the processor's speed.
const LEARN_SHARE: f64 = 0.2;
/// How much nicer than this program its computing threads are.
const NICER: i32 = 10;
/// A stack for threads that only count.
const STACK_BYTES: usize = 128 << 10;

/// How processor work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComputeSettings {
    /// Threads that do it; none means that there is no such work.
    pub threads: usize,
    /// Processors that they may use; all that the calling thread may when empty.
    pub processors: Vec<usize>,
}

/// What is called with each piece of work that is done, on the thread that did it.
pub(crate) type Deliver = Arc<dyn Fn(Completion) + Send + Sync>;

/// The threads, and the work that waits for them. There is no bound but that of the clients, each
/// of which asks for one piece of work at a time.
pub(crate) struct ComputePool {
    shared: Arc<ComputeShared>,
    clock: MonotonicClock,
    threads: Vec<JoinHandle<()>>,
}

struct ComputeShared {
    state: Mutex<ComputeState>,
    work_is_there: Condvar,
    is_over: AtomicBool,
    deliver: Deliver,
}

#[derive(Default)]
struct ComputeState {
    todo: VecDeque<(Request, Instant)>,
    /// Memory of clients that have no work under way.
    memory: HashMap<ClientId, Vec<u8>>,
}

impl ComputePool {
    pub(crate) fn new(
        settings: &ComputeSettings,
        clock: MonotonicClock,
        deliver: Deliver,
    ) -> Result<Option<Self>, DriverError> {
        let Some(threads) = NonZeroUsize::new(settings.threads) else {
            return Ok(None);
        };
        // Made first, so that threads started before a failure are ended by its drop.
        let mut pool = Self {
            shared: Arc::new(ComputeShared {
                state: Mutex::default(),
                work_is_there: Condvar::new(),
                is_over: AtomicBool::new(false),
                deliver,
            }),
            clock,
            threads: Vec::new(),
        };
        for number in 0..threads.get() {
            let shared = Arc::clone(&pool.shared);
            let processors = settings.processors.clone();
            let thread = std::thread::Builder::new()
                .name(format!("compute-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || {
                    settle(&processors);
                    shared.serve(clock);
                });
            pool.threads
                .push(thread.map_err(|error| DriverError::System {
                    operation: "starting a computing thread",
                    reason: error.to_string(),
                })?);
        }
        Ok(Some(pool))
    }

    /// Take work of a processor; it has begun to wait for one when this returns.
    pub(crate) fn submit(&self, request: Request) {
        let issued = self.clock.now();
        self.shared.state().todo.push_back((request, issued));
        self.shared.work_is_there.notify_one();
    }
}

impl std::fmt::Debug for ComputePool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComputePool")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl ComputeShared {
    fn state(&self) -> MutexGuard<'_, ComputeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, clock: MonotonicClock) {
        let mut burner = Burner::new();
        let mut state = self.state();
        loop {
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            let Some((request, issued)) = state.todo.pop_front() else {
                let woken = self.work_is_there.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Op::Compute { work_ns, touched } = request.op else {
                unreachable!("only processor work comes here");
            };
            let mut memory = match touched {
                0 => None,
                _ => Some(state.memory.remove(&request.client).unwrap_or_default()),
            };
            drop(state);
            burner.begin();
            if let Some(memory) = &mut memory {
                touch(memory, touched as usize);
            }
            burner.burn(work_ns, &self.is_over);
            // Given back first: the client may ask for its next work as soon as it is told.
            if let Some(memory) = memory {
                self.state().memory.insert(request.client, memory);
            }
            (self.deliver)(Completion {
                request,
                issued,
                completed: clock.now(),
                result: Ok(0),
            });
            state = self.state();
        }
    }
}

impl Drop for ComputePool {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // Taken and given back, so that no thread misses the call between its look and its wait.
        drop(self.shared.state());
        self.shared.work_is_there.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// Write one byte of each page; the memory is the system's to give when that happens.
fn touch(memory: &mut Vec<u8>, bytes: usize) {
    if memory.len() < bytes {
        *memory = vec![0; bytes];
    }
    for page in memory[..bytes].chunks_mut(PAGE_BYTES) {
        page[0] = page[0].wrapping_add(1);
    }
    std::hint::black_box(memory);
}

/// Burns processor time of its own thread, in the least number of looks at the thread's clock.
struct Burner {
    rounds_per_ns: f64,
    state: u64,
    begun: u64,
}

impl Burner {
    fn new() -> Self {
        Self {
            rounds_per_ns: ROUNDS_PER_NS,
            state: 1,
            begun: 0,
        }
    }

    /// What is done from here on counts as part of the work.
    fn begin(&mut self) {
        self.begun = thread_cpu_nanos();
    }

    /// Go on until the thread has had `work_ns` of processor time, or until all is over.
    fn burn(&mut self, work_ns: u64, is_over: &AtomicBool) {
        let mut used = thread_cpu_nanos() - self.begun;
        while used < work_ns && !is_over.load(Ordering::Relaxed) {
            let span = (work_ns - used).min(CHUNK_NS);
            let rounds = (span as f64 * self.rounds_per_ns).max(1.0) as u64;
            self.spin(rounds);
            let now = thread_cpu_nanos() - self.begun;
            let took = now.saturating_sub(used);
            if span >= LEARN_MIN_NS && took > 0 {
                // A hypervisor that stole time in between must not be learnt from too well.
                let seen = rounds as f64 / took as f64;
                let seen = seen.clamp(self.rounds_per_ns * 0.5, self.rounds_per_ns * 2.0);
                self.rounds_per_ns += LEARN_SHARE * (seen - self.rounds_per_ns);
            }
            used = now;
        }
    }

    fn spin(&mut self, rounds: u64) {
        let mut state = self.state;
        for _ in 0..rounds {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state ^= state >> 29;
        }
        self.state = std::hint::black_box(state);
    }
}

/// Make way for the threads that issue requests, on the processors that are allowed.
fn settle(processors: &[usize]) {
    if !processors.is_empty() {
        let mut set = rustix::thread::CpuSet::new();
        for &processor in processors {
            set.set(processor);
        }
        // A refusal only costs steadiness.
        let _ = rustix::thread::sched_setaffinity(None, &set);
    }
    // On Linux this is about the calling thread alone; a refusal only costs punctuality.
    let _ = rustix::process::nice(NICER);
}

fn thread_cpu_nanos() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processor time of this thread that `work` takes, nanoseconds.
    fn cost_ns(work: impl FnOnce()) -> f64 {
        let before = thread_cpu_nanos();
        work();
        (thread_cpu_nanos() - before) as f64
    }

    /// 10 ms of work cost 10 ms of processor time, however busy the machine is. What the machine
    /// charges this thread for interrupts and stolen time, it charges the control for in the same
    /// instants.
    #[test]
    fn work_costs_what_it_says() {
        let mut burner = Burner::new();
        let never = AtomicBool::new(false);
        for work_ns in [10_000_000_u64, 1_000_000, 10_000_000, 200_000] {
            let pair = |_| {
                let work = cost_ns(|| {
                    burner.begin();
                    burner.burn(work_ns, &never);
                });
                let control = cost_ns(|| {
                    let end = thread_cpu_nanos() + work_ns;
                    while thread_cpu_nanos() < end {}
                });
                work / control
            };
            let mut ratios: Vec<f64> = (0..15).map(pair).collect();
            ratios.sort_by(f64::total_cmp);
            let ratio = ratios[ratios.len() / 2];
            assert!((ratio - 1.0).abs() < 0.03, "{work_ns} ns: {ratios:?}");
        }
    }

    #[test]
    fn memory_is_touched_whole_and_kept() {
        let mut memory = Vec::new();
        touch(&mut memory, 3 * PAGE_BYTES + 1);
        touch(&mut memory, 3 * PAGE_BYTES + 1);
        let touched = memory.iter().filter(|&&byte| byte == 2).count();
        assert_eq!((memory.len(), touched), (3 * PAGE_BYTES + 1, 4));
    }

    #[test]
    fn nothing_more_is_done_once_all_is_over() {
        let mut burner = Burner::new();
        burner.begin();
        burner.burn(u64::MAX, &AtomicBool::new(true));
    }
}
