//! Several workloads at once: each with its own files, sizes, pattern, pace, start and end, and
//! several requests outstanding.

use random::{GapProcess, GapShape, Purpose, Stream};
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::address::Region;
use crate::client::{Agenda, Client, Event};
use crate::content::Content;
use crate::job_floor::{FloorSpec, FloorWatch, RateMiss};
use crate::job_flow::{FlowMember, FlowSpec, JobGates, JobsEnd};
use crate::job_rate::JobRate;
use crate::job_terms::{FileEnd, JobPattern, NextFile, Trims};
use crate::job_walk::JobWalk;
use crate::job_zones::{StridedZones, ZoneWalk};
use crate::mix::Size;
use crate::op::{Durability, Op, OpKind};

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
    /// Where it ends whose steps in order meet the end of its only file; `None` begins there again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_end: Option<FileEnd>,
    /// The zones of its only file in which it works one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// Percent of reads and of writes whose address is drawn; the others follow the one before.
    pub random_percent: [u32; 2],
    /// Requests in order after each address that is drawn.
    pub run: u32,
    /// Sizes of reads and of writes, or trims.
    pub sizes: [Vec<Size>; 2],
    /// What is trimmed.
    #[serde(default, skip_serializing_if = "Trims::is_none")]
    pub trims: Trims,
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
    /// Rates below which it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floors: Option<FloorSpec>,
    /// Its part of what several jobs do together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowSpec>,
    /// Whether all jobs end when this one does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_others: bool,
}

impl JobSpec {
    /// Whether anything is written.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// The longest request that takes memory.
    #[must_use]
    pub fn len_max(&self) -> u32 {
        let moved = match self.trims {
            Trims::Only => &self.sizes[..1],
            Trims::None | Trims::BeforeWrites => &self.sizes,
        };
        let sizes = moved.iter().flatten().map(|size| size.len);
        sizes.max().unwrap_or(0)
    }

    /// Whether each block is reached once by requests of several sizes.
    fn is_mapped(&self) -> bool {
        let [reads, writes] = &self.sizes;
        let vary = match self.read_percent {
            100 => reads.len() > 1,
            0 => writes.len() > 1,
            _ => reads.len() > 1 || reads != writes,
        };
        self.pattern == JobPattern::Once && vary
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
    zone: Option<ZoneWalk>,
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
    floors: Option<FloorWatch>,
    missed: Option<RateMiss>,
    flow: Option<FlowMember>,
    all_end: JobsEnd,
}

impl JobClient {
    /// The client of that job; its streams are drawn from the seed and its number.
    #[must_use]
    pub fn new(spec: &JobSpec, seed: u64, client: u32) -> Self {
        assert!(!spec.files.is_empty(), "a job needs a file");
        let number = u64::from(client);
        let mut addresses = Stream::new(seed, number, Purpose::Address);
        let walks = spec.files.iter();
        let is_mapped = spec.is_mapped();
        let walk = |region: &Region| {
            let region = spec.zones.map_or(*region, |zones| zones.first_of(*region));
            JobWalk::new(region, (&spec.pattern, is_mapped), &mut addresses)
        };
        let files = walks.map(walk).collect();
        let shape = match spec.is_poisson {
            true => GapShape::Exponential,
            false => GapShape::Constant,
        };
        let gap = |rate: JobRate| match rate {
            JobRate::Requests { per_second } => Some(GapProcess::per_second(shape, per_second)),
            // The gap of one byte, which is multiplied by a request's length.
            JobRate::Bytes { per_second } => Some(GapProcess::new(shape, 1e9 / per_second as f64)),
            JobRate::Free => None,
        };
        Self {
            files,
            zone: spec
                .zones
                .map(|zones| ZoneWalk::new(zones, spec.files[0].len)),
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
            floors: None,
            missed: None,
            flow: None,
            all_end: JobsEnd::default(),
            spec: spec.clone(),
        }
    }

    /// Share what jobs of one flow do, and a common end, with those of these gates.
    pub fn join(&mut self, gates: &JobGates) {
        self.all_end = gates.end();
        self.flow = self.spec.flow.and_then(|flow| gates.member(flow));
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

    /// A size that `room` holds, where there is one.
    fn size_within(&mut self, direction: usize, room: u64) -> u32 {
        let mut sizes = self.spec.sizes[direction].iter();
        let one_fits = sizes.any(|size| u64::from(size.len) <= room);
        loop {
            let len = self.size(direction);
            if !one_fits || u64::from(len) <= room {
                return len;
            }
        }
    }

    /// The file from `file` on that has blocks left; they are all new where none has.
    fn with_blocks_left(&mut self, file: usize) -> usize {
        let count = self.files.len();
        let is_endless = self.spec.bytes.is_none();
        let looked_at = if is_endless { 1 } else { count };
        let mut next = (file..file + looked_at).map(|file| file % count);
        next.find(|next| !self.files[*next].is_done())
            .unwrap_or_else(|| {
                match is_endless {
                    true => self.files[file].begin_again(),
                    false => self.files.iter_mut().for_each(JobWalk::begin_again),
                }
                file
            })
    }

    /// Where in the current file the next request goes, how long it is, and whether the file was
    /// just done.
    fn place(&mut self, direction: usize) -> (u64, u32, bool) {
        let is_drawn = match self.spec.pattern {
            JobPattern::Sequential { .. } => false,
            _ if self.run_left > 0 => false,
            _ => match self.spec.random_percent[direction] {
                100 => true,
                percent => self.addresses.below(100) < u64::from(percent),
            },
        };
        if is_drawn {
            self.run_left = self.spec.run.saturating_sub(1);
        } else {
            self.run_left = self.run_left.saturating_sub(1);
        }
        if is_drawn && self.files[self.file].is_mapped() {
            self.file = self.with_blocks_left(self.file);
            let at = self.files[self.file].next_free(&mut self.addresses);
            let room = self.files[self.file].region.len - at;
            let drawn = self.size_within(direction, room);
            let len = self.fitting(direction, drawn);
            let walk = &mut self.files[self.file];
            let len = walk.take(direction, at, len);
            return (at, len, walk.is_done());
        }
        let drawn = self.size(direction);
        let len = self.fitting(direction, drawn);
        let bytes = u64::from(len);
        let walk = &mut self.files[self.file];
        let (at, is_done) = if is_drawn {
            let request = (direction, bytes);
            let at = walk.drawn(&self.spec.pattern, request, &mut self.addresses);
            walk.position[direction] = at + bytes;
            (at, walk.is_done())
        } else {
            let skip = match self.spec.pattern {
                JobPattern::Sequential { skip } => skip,
                _ => 0,
            };
            let (at, is_done) = walk.in_order(direction, bytes, skip);
            let end = self.spec.file_end;
            if end.is_some_and(|end| end.is_met_by(at, bytes, skip)) {
                self.requests_left = 1;
            }
            (at, is_done)
        };
        (at, len, is_done)
    }

    /// The next transfer.
    fn transfer(&mut self) -> (usize, Op) {
        let direction = self.direction();
        if self.spec.order == NextFile::Random {
            self.file = self.addresses.below(self.files.len() as u64) as usize;
        }
        if self.zone.as_mut().is_some_and(ZoneWalk::turn) {
            self.files[self.file].restart();
        }
        let (mut at, len, is_done) = self.place(direction);
        if let Some(zone) = &mut self.zone {
            at = zone.take(at, len);
        }
        let file = self.file;
        let walk = &self.files[file];
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
            _ if self.spec.trims != Trims::None => Op::Trim {
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
        is_late || self.bytes_left == 0 || self.requests_left == 0 || self.all_end.is_told()
    }

    /// Ask for one more request, unless its flow holds the job back.
    fn ask(&mut self, asked: Instant, agenda: &mut Agenda) {
        let is_held = |flow: &mut FlowMember| flow.holds_back(asked, agenda);
        let over = self.flow.is_some() && self.is_over(asked.max(self.pause_until));
        if !over && self.flow.as_mut().is_some_and(is_held) {
            return;
        }
        self.ask_now(asked, agenda);
    }

    /// Ask for one more request, or for none where the job is over.
    fn ask_now(&mut self, asked: Instant, agenda: &mut Agenda) {
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
        if op.kind() == OpKind::Write {
            self.count_write(file);
        }
        agenda.issue(due, op);
    }

    fn count_write(&mut self, file: usize) {
        self.writes += 1;
        let every = self.spec.flush_every;
        if every > 0 && self.writes.is_multiple_of(every) {
            self.flush_due = Some(file);
        }
    }

    /// Write what was trimmed, unless the job's time is over. Whether it is written.
    fn write_trimmed(&mut self, op: Op, at: Instant, agenda: &mut Agenda) -> bool {
        let Op::Trim {
            target,
            offset,
            len,
        } = op
        else {
            return false;
        };
        let at = at.max(self.pause_until);
        if self.spec.trims != Trims::BeforeWrites || self.end.is_some_and(|end| at >= end) {
            return false;
        }
        let of_target = |walk: &JobWalk| walk.region.target == target;
        let file = self.files.iter().position(of_target).unwrap_or(0);
        self.count_write(file);
        self.outstanding += 1;
        let durability = self.spec.durability;
        agenda.issue(
            at,
            Op::Write {
                target,
                offset,
                len,
                durability,
            },
        );
        true
    }

    /// Flush what is to be flushed once the last request is done, and finish.
    fn wind_up(&mut self, at: Instant, agenda: &mut Agenda) {
        if self.outstanding > 0 {
            return;
        }
        // As in fio, a job that ends by an error is not flushed.
        let flushes = self.spec.flushes_at_end && self.writes > 0 && self.missed.is_none();
        let left = self
            .flushes_left
            .get_or_insert(if flushes { self.files.len() } else { 0 });
        if *left == 0 {
            if let Some(flow) = &mut self.flow {
                flow.leave();
            }
            if self.spec.ends_others {
                self.all_end.tell();
            }
            agenda.missed = self.missed.take();
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
        let from = (start, start + self.spec.ramp);
        self.floors = self.spec.floors.map(|floors| FloorWatch::new(floors, from));
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
        self.look_at_rate(op, at);
        if self.write_trimmed(op, at, agenda) {
            return;
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

impl JobClient {
    /// The job ends where it is below a rate that it is to keep.
    fn look_at_rate(&mut self, op: Op, at: Instant) {
        let Some(floors) = &mut self.floors else {
            return;
        };
        let is_counted = match op.kind() {
            OpKind::Read | OpKind::Write => true,
            OpKind::Trim => self.spec.trims == Trims::Only,
            _ => false,
        };
        if is_counted && self.missed.is_none() {
            self.missed = floors.look(op, at);
        }
        if self.missed.is_some() {
            self.requests_left = 0;
        }
    }

    /// Ask again for what the flow held back.
    fn ask_again(&mut self, at: Instant, agenda: &mut Agenda) {
        let held = self.flow.as_mut().map_or(0, FlowMember::take_held);
        for number in 0..held {
            if number == 0 || !self.is_over(at) {
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
            Event::Due { at } => self.ask_again(at, agenda),
        }
    }
}
