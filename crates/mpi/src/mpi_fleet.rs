//! Ranks under MPI. Only point-to-point messages are used, and no blocking calls: collective ones
//! cannot be abandoned if a rank is dead, and some libraries spin in them.

use std::collections::VecDeque;
use std::time::Duration as StdDuration;

use engine::Clock as _;
use fleet::{Fleet, FleetError, Message};
use sys::MonotonicClock;
use units::{Duration, Instant};

use crate::abi::{Abi, MpiResult, Sending};

/// How long a wait spins: most replies come at once, and clocks are read by them.
const AWAKE: Duration = Duration::from_micros(200);
/// Initial and maximum sleep between two checks after that.
const PAUSE_FIRST: StdDuration = StdDuration::from_micros(20);
const PAUSE_LONGEST: StdDuration = StdDuration::from_millis(1);
/// Maximum bytes in transit: more means that the receiver is not reading.
const ON_THEIR_WAY_MAX: usize = 1 << 28;
/// How long finalising waits for messages in transit.
const PARTING_MAX: Duration = Duration::from_secs(5);

/// A rank of a world that MPI has started.
pub struct MpiFleet {
    abi: Abi,
    clock: MonotonicClock,
    rank: u32,
    size: u32,
    on_their_way: VecDeque<Sending>,
    bytes_on_their_way: usize,
}

impl MpiFleet {
    /// Start the library.
    pub(crate) fn start(abi: Abi) -> MpiResult<Self> {
        abi.start()?;
        Ok(Self {
            rank: abi.rank()?,
            size: abi.size()?,
            abi,
            clock: MonotonicClock::start(),
            on_their_way: VecDeque::new(),
            bytes_on_their_way: 0,
        })
    }

    /// Name of the library.
    pub fn library(&self) -> String {
        self.abi.version().unwrap_or_default()
    }

    /// Releases sent messages; this also lets the library make progress.
    fn release_sent(&mut self) -> Result<(), FleetError> {
        let mut left = VecDeque::with_capacity(self.on_their_way.len());
        while let Some(mut sending) = self.on_their_way.pop_front() {
            match self.abi.is_sent(&mut sending) {
                Ok(true) => self.bytes_on_their_way -= sending.len(),
                Ok(false) => left.push_back(sending),
                Err(reason) => {
                    // The library may still be using it.
                    std::mem::forget(sending);
                    self.on_their_way.append(&mut left);
                    return Err(transport("sending")(reason));
                }
            }
        }
        self.on_their_way = left;
        Ok(())
    }
}

impl Fleet for MpiFleet {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), FleetError> {
        if self.bytes_on_their_way + bytes.len() > ON_THEIR_WAY_MAX {
            let reason = format!("rank {to} takes nothing any more");
            return Err(transport("sending")(reason));
        }
        let sending = self.abi.send(to, bytes).map_err(transport("sending"))?;
        self.bytes_on_their_way += sending.len();
        self.on_their_way.push_back(sending);
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Option<Message>, FleetError> {
        let begun = self.now();
        let mut pause = PAUSE_FIRST;
        loop {
            self.release_sent()?;
            if let Some(waiting) = self.abi.probe().map_err(transport("receiving"))? {
                let bytes = self.abi.receive(&waiting).map_err(transport("receiving"))?;
                let from = waiting.from;
                return Ok(Some(Message { from, bytes }));
            }
            let now = self.now();
            if now >= until {
                return Ok(None);
            }
            if now.since(begun) < AWAKE {
                std::thread::yield_now();
            } else {
                std::thread::sleep(pause.min(until.since(now).to_std()));
                pause = (pause * 2).min(PAUSE_LONGEST);
            }
        }
    }

    fn leave(&mut self) -> Result<(), FleetError> {
        let begun = self.now();
        while !self.on_their_way.is_empty() && self.now().since(begun) < PARTING_MAX {
            self.release_sent()?;
            std::thread::sleep(PAUSE_FIRST);
        }
        self.abi.finish().map_err(transport("parting"))
    }

    fn abort(&mut self, code: i32) {
        self.abi.abort(code);
    }
}

impl Drop for MpiFleet {
    fn drop(&mut self) {
        // The library may still read them.
        std::mem::forget(std::mem::take(&mut self.on_their_way));
    }
}

fn transport(operation: &'static str) -> impl Fn(String) -> FleetError {
    move |reason| FleetError::Transport { operation, reason }
}
