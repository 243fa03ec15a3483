//! A fleet in virtual time, as its rank 0 sees it: hosts that react, clocks that are off and drift,
//! messages that take their time, hosts that die.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fleet::{Fleet, FleetError, Letter, LetterKind, Message};
use random::{Purpose, Stream, standard_exponential};
use units::{Duration, Instant};

/// How a host's clock goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostClock {
    /// By how much it is ahead at the start, nanoseconds.
    pub ahead_ns: i64,
    /// How much faster it runs, parts in a million.
    pub drift_ppm: f64,
}

impl HostClock {
    /// What it reads at a true instant.
    pub fn reads(&self, truly: Instant) -> Instant {
        let drifted = truly.as_nanos() as f64 * self.drift_ppm / 1e6;
        let reads = i128::from(truly.as_nanos()) + i128::from(self.ahead_ns) + drifted as i128;
        Instant(u64::try_from(reads.max(0)).unwrap_or(u64::MAX))
    }

    /// The true instant at which it reads that.
    fn truly(&self, reads: Instant) -> Instant {
        let since = reads.as_nanos() as f64 - self.ahead_ns as f64;
        Instant((since / (1.0 + self.drift_ppm / 1e6)).max(0.0).ceil() as u64)
    }
}

/// How long messages take: a least time, and an exponential one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// No message is faster.
    pub least: Duration,
    /// The mean of what comes on top.
    pub more: Duration,
}

/// What a simulated host does.
pub trait VirtualHost: Send {
    /// Told of a message, when its clock reads `at`; returns what it sends to rank 0.
    fn take_letter(&mut self, bytes: &[u8], at: Instant) -> Vec<Vec<u8>>;
}

/// A host that does as [`fleet::FleetGroup`] does on other ranks than 0: it tells its clock when
/// asked, and answers each round that rank 0 broadcasts in the next, which is gathered.
pub struct Servant<F> {
    pub answer: F,
}

impl<F: FnMut(&[u8]) -> Vec<u8> + Send> VirtualHost for Servant<F> {
    fn take_letter(&mut self, bytes: &[u8], at: Instant) -> Vec<Vec<u8>> {
        let Some(letter) = Letter::from_bytes(bytes) else {
            return Vec::new();
        };
        let answer = match letter.kind {
            LetterKind::Ask => Letter {
                kind: LetterKind::Answer,
                number: letter.number,
                body: at.as_nanos().to_le_bytes().to_vec(),
            },
            LetterKind::Round => Letter {
                kind: LetterKind::Round,
                number: letter.number + 1,
                body: (self.answer)(&letter.body),
            },
            LetterKind::Note | LetterKind::Answer | LetterKind::Alive => return Vec::new(),
        };
        vec![answer.to_bytes()]
    }
}

/// A simulated host, and how it is reached.
struct HostConnection {
    host: Box<dyn VirtualHost>,
    clock: HostClock,
    dies: Instant,
    /// When the last message to it, and from it, arrives: none overtakes another.
    arrived: [Instant; 2],
}

/// A message under way: when it arrives, in which order it was sent, whether it goes to rank 0,
/// the other end, and what it says.
type UnderWay = (Instant, u64, bool, u32, Vec<u8>);

/// Rank 0 of a fleet of simulated hosts.
pub struct VirtualFleet {
    places: Vec<HostConnection>,
    own_clock: HostClock,
    now: Instant,
    under_way: BinaryHeap<Reverse<UnderWay>>,
    sent: u64,
    latency: Latency,
    more: Stream,
}

impl VirtualFleet {
    /// A fleet whose rank 0 has that clock.
    pub fn new(own_clock: HostClock, latency: Latency, seed: u64) -> Self {
        Self {
            places: Vec::new(),
            own_clock,
            now: Instant::START,
            under_way: BinaryHeap::new(),
            sent: 0,
            latency,
            more: Stream::new(seed, 0, Purpose::Network),
        }
    }

    /// The next rank: a host with its clock, which dies at that true instant.
    #[must_use]
    pub fn with(
        mut self,
        host: impl VirtualHost + 'static,
        clock: HostClock,
        dies: Instant,
    ) -> Self {
        self.places.push(HostConnection {
            host: Box::new(host),
            clock,
            dies,
            arrived: [Instant::START; 2],
        });
        self
    }

    fn post(&mut self, rank: u32, is_inbound: bool, bytes: Vec<u8>) {
        let mean = self.latency.more.as_nanos() as f64;
        let more = mean * standard_exponential(&mut self.more);
        let takes = self.latency.least + Duration::from_nanos(more as u64);
        let last = &mut self.places[rank as usize - 1].arrived[usize::from(is_inbound)];
        *last = (self.now + takes).max(*last);
        let arrives = *last;
        self.sent += 1;
        self.under_way
            .push(Reverse((arrives, self.sent, is_inbound, rank, bytes)));
    }
}

impl Fleet for VirtualFleet {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        self.places.len() as u32 + 1
    }

    fn now(&self) -> Instant {
        self.own_clock.reads(self.now)
    }

    fn send(&mut self, to: u32, bytes: &[u8]) -> Result<(), FleetError> {
        self.post(to, false, bytes.to_vec());
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Option<Message>, FleetError> {
        let until = self.own_clock.truly(until).max(self.now);
        while let Some(Reverse((arrives, ..))) = self.under_way.peek()
            && *arrives <= until
            && let Some(Reverse((arrives, _, is_inbound, rank, bytes))) = self.under_way.pop()
        {
            self.now = arrives;
            if is_inbound {
                return Ok(Some(Message { from: rank, bytes }));
            }
            let place = &mut self.places[rank as usize - 1];
            if arrives >= place.dies {
                continue;
            }
            let answers = place.host.take_letter(&bytes, place.clock.reads(arrives));
            for answer in answers {
                self.post(rank, true, answer);
            }
        }
        self.now = until;
        Ok(None)
    }

    fn leave(&mut self) -> Result<(), FleetError> {
        Ok(())
    }

    fn abort(&mut self, _code: i32) {
        for place in &mut self.places {
            place.dies = self.now;
        }
    }
}
