//! A thread for each target, so that one that does not answer holds up no other.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use drivers::{BufferPages, DriverKind, DriverOptions, TargetTable, open_driver};
use engine::{Clock as _, Driver, DriverError};
use sys::MonotonicClock;
use units::{Duration, Instant};
use watch::{PROBE_BYTES, PROBES_AT_ONCE, Probe, ProbeKind, ProbePlan, Prober};

use super::place::{ProbedPlace, own_payload};

/// How often a thread sends what it has.
const SEND_EVERY: Duration = Duration::from_millis(200);
/// Bytes that writes take theirs from.
const VARIETY_BYTES: usize = 1 << 20;

/// What a prober has at an instant.
#[derive(Debug)]
pub struct ProbeBatch {
    /// The target's number.
    pub target: usize,
    pub now: Instant,
    /// Probes that are over.
    pub probes: Vec<Probe>,
    /// When the oldest of each kind was due that is not answered.
    pub oldest_due: [Option<Instant>; ProbeKind::ALL.len()],
    /// Probes that were left out.
    pub withheld: u64,
}

impl ProbeBatch {
    /// Run a prober until `end`.
    ///
    /// # Errors
    /// When the driver is broken.
    pub fn run(
        (target, prober): (usize, &mut Prober),
        driver: &mut dyn Driver,
        end: Instant,
    ) -> Result<Self, DriverError> {
        let mut probes = Vec::new();
        prober.run_until(driver, end, &mut probes)?;
        Ok(Self {
            target,
            now: driver.now(),
            probes,
            oldest_due: ProbeKind::ALL.map(|kind| prober.oldest_due(kind)),
            withheld: prober.take_withheld(),
        })
    }
}

/// What the threads of the targets and the one that follows them share.
#[derive(Clone, Debug)]
pub struct ProbingThread {
    pub number: usize,
    pub clock: MonotonicClock,
    pub sender: Sender<Result<ProbeBatch, DriverError>>,
    /// All are to end.
    pub stop: Arc<AtomicBool>,
    /// Most probes are to be left out.
    pub hold_back: Arc<AtomicBool>,
}

impl ProbingThread {
    /// Probe a target until it is time to stop.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(self, place: &ProbedPlace, plan: ProbePlan) -> io::Result<JoinHandle<()>> {
        let table = Arc::clone(&place.table);
        let thread = std::thread::Builder::new().name("probes".into());
        thread.spawn(move || {
            let opened = probe_driver(&table, self.clock);
            let ended = opened.and_then(|mut it| self.probe(it.as_mut(), &plan));
            // Whoever would hear of it may be gone.
            let _ = ended.map_err(|error| self.sender.send(Err(error)));
        })
    }

    fn probe(&self, driver: &mut dyn Driver, plan: &ProbePlan) -> Result<(), DriverError> {
        let mut prober = Prober::new(plan, self.clock.now());
        while !self.stop.load(Ordering::Relaxed) {
            prober.hold_back(self.hold_back.load(Ordering::Relaxed));
            let end = driver.now() + SEND_EVERY;
            let batch = ProbeBatch::run((self.number, &mut prober), driver, end)?;
            if self.sender.send(Ok(batch)).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// A driver that needs little memory, and never stays awake for a probe.
///
/// # Errors
/// When none can be had.
pub fn probe_driver(
    table: &Arc<TargetTable>,
    clock: MonotonicClock,
) -> Result<Box<dyn Driver>, DriverError> {
    let mut options = DriverOptions::new(PROBES_AT_ONCE, PROBE_BYTES as usize);
    options.variety = VARIETY_BYTES;
    options.pages = BufferPages::Small;
    options.awake = Duration::ZERO;
    options.payload = own_payload();
    open_driver(DriverKind::Auto, table, clock, &options).map(|it| it.driver)
}
