//! Several workloads at once: each with its own files, sizes, pattern, pace, start and end, and
//! several requests outstanding.

use random::{GapProcess, GapShape, Permutation, Purpose, Stream, Zipf};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::address::Region;
use crate::client::{Agenda, Client, Event};
use crate::content::Content;
use crate::mix::Size;
use crate::op::{Durability, Op, OpKind};

/// Which file the next request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextFile {
    /// In turn.
    RoundRobin,
    /// Drawn.
    Random,
    /// The next when all of one was done.
    Sequential,
}

/// Which block follows which.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case")]
pub enum JobPattern {
    /// In order, with so many bytes left out after each.
    Sequential {
        /// Bytes.
        skip: u64,
    },
    /// Each block once before any comes again.
    Once,
    /// Every block is equally likely each time.
    Uniform,
    /// Popularity falls as this power of rank.
    Zipf {
        /// Exponent.
        theta: f64,
    },
    /// A share `1 - share` of requests goes to `share` of the blocks.
    Pareto {
        /// Between 0 and 1.
        share: f64,
    },
    /// Around the middle of the file.
    Normal {
        /// Standard deviation in percent of the file.
        percent: f64,
    },
}

/// How often requests of a direction are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "kebab-case")]
pub enum JobRate {
    /// As soon as there is room.
    Free,
    /// So many a second.
    Requests {
        /// Requests.
        per_second: u64,
    },
    /// So many bytes a second.
    Bytes {
        /// Bytes.
        per_second: u64,
    },
}

/// One of several workloads, which one client carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    /// The row that its times are filed under; several may share one.
    pub row: u32,
    /// Requests outstanding.
    pub depth: u32,
    /// Requests left outstanding at which the depth is filled again; `None` fills it as each ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Its files; `block` of each is what offsets are multiples of.
    pub files: Vec<Region>,
    /// Which one is next.
    pub order: NextFile,
    /// Which block follows which.
    pub pattern: JobPattern,
    /// Percent of reads and of writes whose address is drawn; the others follow the one before.
    pub random_percent: [u32; 2],
    /// Requests in order after each address that is drawn.
    pub run: u32,
    /// Sizes of reads and of writes.
    pub sizes: [Vec<Size>; 2],
    /// Percent of reads.
    pub read_percent: u32,
    /// Bytes after which it ends.
    pub bytes: Option<u64>,
    /// Requests after which it ends.
    pub requests: Option<u64>,
    /// From the trial's start to its own.
    pub delay: Duration,
    /// Time at its start that is not recorded.
    pub ramp: Duration,
    /// Time after the ramp when it ends.
    pub runtime: Option<Duration>,
    /// A flush after so many writes; none where it is zero.
    pub flush_every: u64,
    /// A flush of each file at its end.
    pub flushes_at_end: bool,
    /// What a completed write promises.
    pub durability: Durability,
    /// What its writes hold.
    #[serde(default, skip_serializing_if = "Content::is_default")]
    pub content: Content,
    /// Rates of reads and of writes.
    pub rates: [JobRate; 2],
    /// Whether gaps of a rate are exponential, and not equal.
    pub is_poisson: bool,
    /// A pause ...
    pub think: Duration,
    /// ... after so many requests.
    pub think_after: u32,
}

/// Several workloads; client `n` carries out number `n`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobsSpec {
    /// One at least.
    pub jobs: Vec<JobSpec>,
}

impl JobSpec {
    /// Whether anything is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// The longest request.
    #[must_use]
    pub fn len_max(&self) -> u32 {
        let sizes = self.sizes.iter().flatten().map(|size| size.len);
        sizes.max().unwrap_or(0)
    }

    /// From the trial's start to the first moment that is recorded.
    #[must_use]
    pub fn recorded_from(&self) -> Duration {
        self.delay + self.ramp
    }
}

/// The client of one [`JobSpec`].
#[derive(Clone, Debug)]
pub struct JobClient {
    spec: JobSpec,
    files: Vec<JobWalk>,
    choice: Stream,
    size_choice: Stream,
    addresses: Stream,
    gaps: [Option<GapProcess>; 2],
    arrivals: Stream,
    /// When the next request of each direction is due, where there is a rate.
    next_due: [Instant; 2],
    /// Nothing is due before.
    pause_until: Instant,
    end: Option<Instant>,
    file: usize,
    run_left: u32,
    bytes_left: u64,
    requests_left: u64,
    issued: u64,
    writes: u64,
    /// Requests that were asked for and are not done.
    outstanding: u32,
    /// Requests that ended and were not replaced yet.
    held: u32,
    completed: u64,
    flush_due: Option<usize>,
    /// Files that are still to be flushed at the end.
    flushes_left: Option<usize>,
}

/// Where a job stands in one file.
#[derive(Clone, Debug)]
struct JobWalk {
    region: Region,
    /// Next offset of reads and of writes in order, from the region's begin.
    position: [u64; 2],
    /// How many blocks of `order` were done.
    place: u64,
    order: Option<Permutation>,
    zipf: Option<(Zipf, Permutation)>,
}

impl JobWalk {
    fn new(region: Region, pattern: JobPattern, addresses: &mut Stream) -> Self {
        let blocks = (region.len / region.block).max(1);
        let zipf = match pattern {
            JobPattern::Zipf { theta } => {
                let law = Zipf::new(blocks.min(Zipf::RANKS_MAX), theta);
                Some((law, Permutation::new(blocks, addresses)))
            }
            _ => None,
        };
        Self {
            region,
            position: [0; 2],
            place: 0,
            order: None,
            zipf,
        }
    }

    fn blocks(&self) -> u64 {
        (self.region.len / self.region.block).max(1)
    }

    /// The number of a block that is drawn.
    fn draw(&mut self, pattern: JobPattern, addresses: &mut Stream) -> u64 {
        let blocks = self.blocks();
        match pattern {
            JobPattern::Sequential { .. } | JobPattern::Uniform => addresses.below(blocks),
            JobPattern::Once => {
                if self.place == blocks {
                    self.place = 0;
                    self.order = None;
                }
                let order = self
                    .order
                    .get_or_insert_with(|| Permutation::new(blocks, addresses));
                self.place += 1;
                order.apply(self.place - 1)
            }
            JobPattern::Zipf { .. } => match &self.zipf {
                Some((law, scatter)) => scatter.apply(law.sample(addresses)),
                None => addresses.below(blocks),
            },
            JobPattern::Pareto { share } => {
                let power = share.ln() / (1.0 - share).ln();
                let at = addresses.unit().powf(power) * blocks as f64;
                (at as u64).min(blocks - 1)
            }
            JobPattern::Normal { percent } => {
                // The sum of twelve uniform numbers has variance 1.
                let normal: f64 = (0..12).map(|_| addresses.unit()).sum::<f64>() - 6.0;
                let at = blocks as f64 * (0.5 + normal * percent / 100.0);
                at.clamp(0.0, (blocks - 1) as f64) as u64
            }
        }
    }

    /// Where a request of `len` bytes goes that is drawn, from the file's begin.
    fn drawn(&mut self, pattern: JobPattern, len: u64, addresses: &mut Stream) -> u64 {
        let at = self.draw(pattern, addresses) * self.region.block;
        let last = self.region.len.saturating_sub(len) / self.region.block * self.region.block;
        at.min(last)
    }

    /// Where the next one in order goes, and whether the file was just done.
    fn in_order(&mut self, direction: usize, len: u64, skip: u64) -> (u64, bool) {
        let mut at = self.position[direction];
        if at + len > self.region.len {
            at = 0;
        }
        self.position[direction] = at + len + skip;
        (at, at + len + skip + len > self.region.len)
    }
}

impl JobClient {
    /// The client of that job; its streams are drawn from the seed and its number.
    #[must_use]
    pub fn new(spec: &JobSpec, seed: u64, client: u32) -> Self {
        assert!(!spec.files.is_empty(), "a job needs a file");
        let number = u64::from(client);
        let mut addresses = Stream::new(seed, number, Purpose::Address);
        let walks = spec.files.iter();
        let files = walks.map(|region| JobWalk::new(*region, spec.pattern, &mut addresses));
        let files = files.collect();
        let shape = match spec.is_poisson {
            true => GapShape::Exponential,
            false => GapShape::Constant,
        };
        let gap = |rate: JobRate| match rate {
            JobRate::Requests { per_second } => {
                Some(GapProcess::per_second(shape, per_second as f64))
            }
            // The gap of one byte, which is multiplied by a request's length.
            JobRate::Bytes { per_second } => Some(GapProcess::new(shape, 1e9 / per_second as f64)),
            JobRate::Free => None,
        };
        Self {
            files,
            choice: Stream::new(seed, number, Purpose::Mix),
            size_choice: Stream::new(seed, number, Purpose::Size),
            addresses,
            gaps: spec.rates.map(gap),
            arrivals: Stream::new(seed, number, Purpose::Arrival),
            next_due: [Instant::START; 2],
            pause_until: Instant::START,
            end: None,
            file: 0,
            run_left: 0,
            bytes_left: spec.bytes.unwrap_or(u64::MAX),
            requests_left: spec.requests.unwrap_or(u64::MAX),
            issued: 0,
            writes: 0,
            outstanding: 0,
            held: 0,
            completed: 0,
            flush_due: None,
            flushes_left: None,
            spec: spec.clone(),
        }
    }

    fn size(&mut self, direction: usize) -> u32 {
        let sizes = &self.spec.sizes[direction];
        if let [only] = sizes.as_slice() {
            return only.len;
        }
        let total: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
        let mut left = self.size_choice.below(total.max(1));
        for size in sizes {
            if left < u64::from(size.weight) {
                return size.len;
            }
            left -= u64::from(size.weight);
        }
        sizes[0].len
    }

    /// The last request is the largest that does not go beyond what is to be moved, where one fits.
    fn fitting(&self, direction: usize, drawn: u32) -> u32 {
        if u64::from(drawn) <= self.bytes_left {
            return drawn;
        }
        let sizes = self.spec.sizes[direction].iter().map(|size| size.len);
        let fitting = sizes.filter(|&len| u64::from(len) <= self.bytes_left);
        fitting.max().unwrap_or(drawn)
    }

    fn direction(&mut self) -> usize {
        match self.spec.read_percent {
            100 => 0,
            0 => 1,
            percent => usize::from(self.choice.below(100) >= u64::from(percent)),
        }
    }

    /// The next transfer.
    fn transfer(&mut self) -> (usize, Op) {
        let direction = self.direction();
        let drawn = self.size(direction);
        let len = self.fitting(direction, drawn);
        let pattern = self.spec.pattern;
        if self.spec.order == NextFile::Random {
            self.file = self.addresses.below(self.files.len() as u64) as usize;
        }
        let file = self.file;
        let walk = &mut self.files[file];
        let bytes = u64::from(len);
        let is_drawn = match pattern {
            JobPattern::Sequential { .. } => false,
            _ if self.run_left > 0 => false,
            _ => match self.spec.random_percent[direction] {
                100 => true,
                percent => self.addresses.below(100) < u64::from(percent),
            },
        };
        let (at, is_done) = if is_drawn {
            self.run_left = self.spec.run.saturating_sub(1);
            let at = walk.drawn(pattern, bytes, &mut self.addresses);
            walk.position[direction] = at + bytes;
            (at, walk.place == walk.blocks())
        } else {
            self.run_left = self.run_left.saturating_sub(1);
            let skip = match pattern {
                JobPattern::Sequential { skip } => skip,
                _ => 0,
            };
            walk.in_order(direction, bytes, skip)
        };
        let (target, offset) = (walk.region.target, walk.region.offset + at);
        let moves_on = match self.spec.order {
            NextFile::RoundRobin => true,
            NextFile::Sequential => is_done,
            NextFile::Random => false,
        };
        if moves_on {
            self.file = (file + 1) % self.files.len();
        }
        let op = match direction {
            0 => Op::Read {
                target,
                offset,
                len,
            },
            _ => Op::Write {
                target,
                offset,
                len,
                durability: self.spec.durability,
            },
        };
        (direction, op)
    }

    /// When a request of that direction and length is due that is asked for at `asked`.
    fn due(&mut self, direction: usize, len: u32, asked: Instant) -> Instant {
        let free = asked.max(self.pause_until);
        let Some(gaps) = &mut self.gaps[direction] else {
            return free;
        };
        let due = self.next_due[direction].max(self.pause_until);
        let gap = gaps.next_gap_ns(&mut self.arrivals);
        let gap = match self.spec.rates[direction] {
            JobRate::Bytes { per_second } => {
                let mean = 1e9 / per_second as f64;
                // A gap of so many bytes: equal gaps keep their mean exactly.
                match self.spec.is_poisson {
                    true => gap.saturating_mul(u64::from(len)),
                    false => (mean * f64::from(len)) as u64,
                }
            }
            _ => gap,
        };
        self.next_due[direction] = due + Duration::from_nanos(gap);
        due
    }

    fn is_over(&self, at: Instant) -> bool {
        let is_late = self.end.is_some_and(|end| at >= end);
        is_late || self.bytes_left == 0 || self.requests_left == 0
    }

    /// Ask for one more request, or for none where the job is over.
    fn ask(&mut self, asked: Instant, agenda: &mut Agenda) {
        if let Some(file) = self.flush_due.take() {
            let target = self.files[file].region.target;
            self.outstanding += 1;
            return agenda.issue(asked.max(self.pause_until), Op::Flush { target });
        }
        if self.is_over(asked.max(self.pause_until)) {
            return self.wind_up(asked, agenda);
        }
        let file = self.file;
        let (direction, op) = self.transfer();
        let due = self.due(direction, op.len(), asked);
        if self.end.is_some_and(|end| due >= end) {
            self.requests_left = 0;
            return self.wind_up(asked, agenda);
        }
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(op.len()));
        self.requests_left -= 1;
        self.issued += 1;
        self.outstanding += 1;
        if direction == 1 {
            self.writes += 1;
            let every = self.spec.flush_every;
            if every > 0 && self.writes.is_multiple_of(every) {
                self.flush_due = Some(file);
            }
        }
        agenda.issue(due, op);
    }

    /// Flush what is to be flushed once the last request is done, and finish.
    fn wind_up(&mut self, at: Instant, agenda: &mut Agenda) {
        if self.outstanding > 0 {
            return;
        }
        let flushes = self.spec.flushes_at_end && self.writes > 0;
        let left = self
            .flushes_left
            .get_or_insert(if flushes { self.files.len() } else { 0 });
        if *left == 0 {
            return agenda.finish();
        }
        *left -= 1;
        let target = self.files[*left].region.target;
        self.outstanding += 1;
        agenda.issue(at, Op::Flush { target });
    }

    fn start(&mut self, at: Instant, agenda: &mut Agenda) {
        let start = at + self.spec.delay;
        self.end = self
            .spec
            .runtime
            .map(|runtime| start + self.spec.ramp + runtime);
        self.next_due = [start; 2];
        for _ in 0..self.spec.depth {
            self.ask(start, agenda);
        }
    }

    fn take(&mut self, op: Op, at: Instant, agenda: &mut Agenda) {
        self.outstanding -= 1;
        if op.kind() != OpKind::Flush {
            self.completed += 1;
            let after = u64::from(self.spec.think_after.max(1));
            if self.spec.think > Duration::ZERO && self.completed.is_multiple_of(after) {
                self.pause_until = at + self.spec.think;
            }
        }
        if self
            .spec
            .refill_at
            .is_some_and(|low| self.outstanding > low)
        {
            self.held += 1;
            return;
        }
        let held = std::mem::take(&mut self.held);
        self.ask(at, agenda);
        for _ in 0..held {
            // Nothing outstanding after a request was asked for: the job has ended.
            if self.outstanding > 0 {
                self.ask(at, agenda);
            }
        }
    }
}

impl Client for JobClient {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match event {
            Event::Started { at } => self.start(at, agenda),
            Event::Completed(completion) => {
                self.take(completion.request.op, completion.completed, agenda);
            }
            Event::Due { .. } => {}
        }
    }
}
