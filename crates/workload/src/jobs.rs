//! Several concurrent workloads, each with its own files, sizes, pattern, pace, start, end and
//! depth.

use random::{GapProcess, GapShape, LawError, Purpose, Stream};
use units::{Duration, Instant};

use crate::address::Region;
use crate::client::{Agenda, Client, Event};
use crate::job_floor::{FloorWatch, RateMiss};
use crate::job_flow::{FlowMember, JobGates, JobsEnd};
use crate::job_priority;
use crate::job_rate::JobRate;
use crate::job_spec::JobSpec;
use crate::job_terms::{JobPattern, NextFile, Trims, drawn_size};
use crate::job_walk::JobWalk;
use crate::job_zones::ZoneWalk;
use crate::op::{Op, OpKind};

/// How often a job that waits for its time limit checks whether another one has ended all.
const LOOK_UP: Duration = Duration::from_millis(100);

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
    urgency: Stream,
    /// When the next request of each direction is due, if it has a rate.
    next_due: [Instant; 2],
    /// Nothing is due before this time.
    pause_until: Instant,
    end: Option<Instant>,
    /// Whether its time limit ended it, rather than its work.
    is_out_of_time: bool,
    file: usize,
    /// Requests left for this file before the next one is chosen.
    file_left: u32,
    run_left: u32,
    bytes_left: u64,
    requests_left: u64,
    issued: u64,
    writes: u64,
    /// Outstanding requests.
    outstanding: u32,
    /// Completed requests not replaced yet.
    held: u32,
    completed: u64,
    flush_due: Option<usize>,
    /// For each file, the range written since its last write-out, from the first byte to after the
    /// last.
    not_out: Vec<Option<[u64; 2]>>,
    /// Files still to be flushed at the end.
    flushes_left: Option<usize>,
    floors: Option<FloorWatch>,
    missed: Option<RateMiss>,
    flow: Option<FlowMember>,
    all_end: JobsEnd,
}

impl JobClient {
    /// The client of that job, with streams from the seed and its number.
    ///
    /// # Errors
    /// If a parameter of a law is out of bounds.
    pub fn new(spec: &JobSpec, seed: u64, client: u32) -> Result<Self, LawError> {
        assert!(!spec.files.is_empty(), "a job needs a file");
        let number = u64::from(client);
        let mut addresses = Stream::new(seed, number, Purpose::Address);
        let walks = spec.files.iter();
        let is_mapped = spec.is_mapped();
        let walk = |region: &Region| {
            let region = spec.zones.map_or(*region, |zones| zones.first_of(*region));
            JobWalk::new(region, (&spec.pattern, is_mapped), &mut addresses)
        };
        let files = walks.map(walk).collect::<Result<_, _>>()?;
        let shape = match spec.is_poisson {
            true => GapShape::Exponential,
            false => GapShape::Constant,
        };
        let gap = |rate: JobRate| match rate {
            JobRate::Requests { per_second } => GapProcess::per_second(shape, per_second).map(Some),
            // The gap per byte, which is multiplied by a request's length.
            JobRate::Bytes { per_second } => {
                GapProcess::per_second(shape, per_second as f64).map(Some)
            }
            JobRate::Free => Ok(None),
        };
        let [reads, writes] = spec.rates;
        Ok(Self {
            files,
            zone: spec
                .zones
                .map(|zones| ZoneWalk::new(zones, spec.files[0].len)),
            choice: Stream::new(seed, number, Purpose::Mix),
            size_choice: Stream::new(seed, number, Purpose::Size),
            addresses,
            gaps: [gap(reads)?, gap(writes)?],
            arrivals: Stream::new(seed, number, Purpose::Arrival),
            urgency: Stream::new(seed, number, Purpose::Priority),
            next_due: [Instant::START; 2],
            pause_until: Instant::START,
            end: None,
            is_out_of_time: false,
            file: 0,
            file_left: 0,
            run_left: 0,
            bytes_left: spec.bytes.unwrap_or(u64::MAX),
            requests_left: spec.requests.unwrap_or(u64::MAX),
            issued: 0,
            writes: 0,
            outstanding: 0,
            held: 0,
            completed: 0,
            flush_due: None,
            not_out: vec![None; spec.files.len()],
            flushes_left: None,
            floors: None,
            missed: None,
            flow: None,
            all_end: JobsEnd::default(),
            spec: spec.clone(),
        })
    }

    /// Connects it to these gates, through which jobs share flows and a common end.
    pub fn join(&mut self, gates: &JobGates) {
        self.all_end = gates.end();
        self.flow = self.spec.flow.and_then(|flow| gates.member(flow));
    }

    fn direction(&mut self) -> usize {
        match self.spec.read_percent {
            100 => 0,
            0 => 1,
            percent => usize::from(self.choice.below(100) >= u64::from(percent)),
        }
    }

    /// A size that fits into `room`, if there is one.
    fn size_within(&mut self, direction: usize, room: u64) -> u32 {
        let mut sizes = self.spec.sizes[direction].iter();
        let one_fits = sizes.any(|size| u64::from(size.len) <= room);
        loop {
            let len = drawn_size(&self.spec.sizes[direction], &mut self.size_choice);
            if !one_fits || u64::from(len) <= room {
                return len;
            }
        }
    }

    /// The smallest size of a direction.
    fn least(&self, direction: usize) -> u64 {
        let sizes = self.spec.sizes[direction].iter();
        sizes.map(|size| u64::from(size.len)).min().unwrap_or(1)
    }

    /// The first file from `file` on with free blocks. If none has any, all are freed, unless the
    /// job ends then.
    fn with_blocks_left(&mut self, file: usize) -> Option<usize> {
        let count = self.files.len();
        let is_endless = self.spec.bytes.is_none();
        let looked_at = if is_endless { 1 } else { count };
        let mut next = (file..file + looked_at).map(|file| file % count);
        let next = next.find(|next| !self.files[*next].is_done());
        if next.is_some() {
            return next;
        }
        match is_endless {
            true => self.files[file].begin_again(),
            false if self.spec.one_pass => return None,
            false => self.files.iter_mut().for_each(JobWalk::begin_again),
        }
        Some(file)
    }

    /// Position of a request to blocks not reached yet, as in [`Self::place`].
    fn place_on_map(&mut self, direction: usize) -> Option<(u64, u32, bool)> {
        let (at, block) = loop {
            self.file = self.with_blocks_left(self.file)?;
            let block = match self.spec.one_pass {
                true => self.least(direction),
                false => self.files[self.file].region.block,
            };
            if let Some(at) = self.files[self.file].next_free(block, &mut self.addresses) {
                break (at, block);
            }
        };
        let room = self.files[self.file].region.len - at;
        let len = self.size_within(direction, room);
        let walk = &mut self.files[self.file];
        let len = walk.take(direction, (at, len), block);
        Some((at, len, walk.is_done()))
    }

    /// Position and size of the next request in the current file, and whether the file was just
    /// finished; `None` if the job ends.
    fn place(&mut self, direction: usize) -> Option<(u64, u32, bool)> {
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
            return self.place_on_map(direction);
        }
        let len = match is_drawn {
            true => drawn_size(&self.spec.sizes[direction], &mut self.size_choice),
            false => {
                let room = self.files[self.file].room(direction, self.least(direction));
                self.size_within(direction, room)
            }
        };
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
        Some((at, len, is_done))
    }

    /// Direction of a request made at `asked`. Each direction has its own rate, as in fio: one that
    /// is not due yet gives way to the other if that is due or due sooner.
    fn direction_at(&mut self, asked: Instant) -> usize {
        let drawn = self.direction();
        let is_mixed = (1..100).contains(&self.spec.read_percent);
        if !is_mixed || self.gaps.iter().all(Option::is_none) {
            return drawn;
        }
        let due = [0, 1].map(|it| match self.gaps[it] {
            Some(_) => self.next_due[it].max(asked),
            None => asked,
        });
        let other = 1 - drawn;
        if due[other] < due[drawn] {
            other
        } else {
            drawn
        }
    }

    /// The next transfer, unless the job ends.
    fn transfer(&mut self, asked: Instant) -> Option<(usize, Op)> {
        let direction = self.direction_at(asked);
        let is_next = self.file_left == 0;
        if is_next {
            self.file_left = self.spec.file_run.unwrap_or(1).max(1);
        }
        self.file_left -= 1;
        if is_next && self.spec.order == NextFile::Random {
            self.file = self.addresses.below(self.files.len() as u64) as usize;
        }
        if self.zone.as_mut().is_some_and(ZoneWalk::turn) {
            self.files[self.file].restart();
        }
        let (mut at, len, is_done) = self.place(direction)?;
        if let Some(zone) = &mut self.zone {
            at = zone.take(at, len);
        }
        let file = self.file;
        let walk = &self.files[file];
        let (target, offset) = (walk.region.target, walk.region.offset + at);
        let moves_on = match self.spec.order {
            NextFile::RoundRobin => self.file_left == 0,
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
        Some((direction, op))
    }

    /// When a request of that direction and length, made at `asked`, is due.
    fn due(&mut self, direction: usize, len: u32, asked: Instant) -> Instant {
        let free = asked.max(self.pause_until);
        let Some(gaps) = &mut self.gaps[direction] else {
            return free;
        };
        let due = match self.spec.think_stops_rates {
            true => self.next_due[direction].max(self.pause_until),
            false => self.next_due[direction],
        };
        let gap = gaps.next_gap_ns(&mut self.arrivals);
        let gap = match self.spec.rates[direction] {
            JobRate::Bytes { per_second } => {
                let mean = 1e9 / per_second as f64;
                // The gap for this many bytes: equal gaps keep their mean exactly.
                match self.spec.is_poisson {
                    true => gap.saturating_mul(u64::from(len)),
                    false => (mean * f64::from(len)) as u64,
                }
            }
            _ => gap,
        };
        self.next_due[direction] = due + Duration::from_nanos(gap);
        due.max(self.pause_until)
    }

    fn is_over(&self, at: Instant) -> bool {
        let is_late = self.end.is_some_and(|end| at >= end);
        is_late || self.bytes_left == 0 || self.requests_left == 0 || self.all_end.is_raised()
    }

    /// Makes one more request, unless its flow holds the job back.
    fn ask(&mut self, asked: Instant, agenda: &mut Agenda) {
        let is_held = |flow: &mut FlowMember| flow.holds_back(asked, agenda);
        let over = self.flow.is_some() && self.is_over(asked.max(self.pause_until));
        if !over && self.flow.as_mut().is_some_and(is_held) {
            return;
        }
        self.ask_now(asked, agenda);
    }

    /// Makes one more request, unless the job is over.
    fn ask_now(&mut self, asked: Instant, agenda: &mut Agenda) {
        // As in fio, no flush follows the last write of a job.
        let at = asked.max(self.pause_until);
        if self.is_over(at) {
            self.is_out_of_time |= self.bytes_left > 0 && self.requests_left > 0;
            return self.wind_up(asked, agenda);
        }
        if self.spec.script.is_some() {
            return self.ask_as_listed(at, agenda);
        }
        if let Some(file) = self.flush_due.take() {
            self.outstanding += 1;
            let flush = self.flush(file);
            return agenda.issue(asked.max(self.pause_until), flush);
        }
        let file = self.file;
        let Some((direction, op)) = self.transfer(asked) else {
            self.requests_left = 0;
            return self.wind_up(asked, agenda);
        };
        let due = self.due(direction, op.len(), asked);
        if self.end.is_some_and(|end| due >= end) {
            self.is_out_of_time = true;
            self.requests_left = 0;
            return self.wind_up(asked, agenda);
        }
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(op.len()));
        self.requests_left -= 1;
        self.issued += 1;
        self.outstanding += 1;
        if op.kind() == OpKind::Write {
            self.count_write(file, op);
        }
        if self.spec.think_counts_issued {
            self.think(self.issued, due);
        }
        let shares = &self.spec.priorities[direction];
        let priority = job_priority::draw(shares, op.len(), &mut self.urgency);
        agenda.issue_with(priority, due, op);
    }

    /// Makes the next listed request; nothing at the end of the list.
    fn ask_as_listed(&mut self, at: Instant, agenda: &mut Agenda) {
        let listed = self.spec.script.as_ref().map(|script| &script.0);
        let next = listed.and_then(|listed| listed.get(self.issued as usize).copied());
        let Some((due, op)) = next else {
            self.requests_left = 0;
            return self.wind_up(at, agenda);
        };
        self.issued += 1;
        self.outstanding += 1;
        agenda.issue(at.max(self.next_due[0] + due), op);
    }

    /// Pauses from then on after the configured number of requests.
    fn think(&mut self, count: u64, at: Instant) {
        let after = u64::from(self.spec.think_after.max(1));
        if self.spec.think > Duration::ZERO && count.is_multiple_of(after) {
            self.pause_until = at + self.spec.think;
        }
    }

    /// The flush after the configured number of writes to a file.
    fn flush(&mut self, file: usize) -> Op {
        let target = self.files[file].region.target;
        let Some(how) = self.spec.writes_out else {
            let data_only = self.spec.flushes_data_only;
            return Op::Flush { target, data_only };
        };
        let [offset, end] = self.not_out[file].take().unwrap_or_default();
        Op::WriteOut {
            target,
            offset,
            span: u32::try_from(end - offset).unwrap_or(0),
            how,
        }
    }

    fn count_write(&mut self, file: usize, op: Op) {
        if let (Some(_), Op::Write { offset, len, .. }) = (self.spec.writes_out, op) {
            let end = offset + u64::from(len);
            let [first, last] = self.not_out[file].unwrap_or([offset, end]);
            self.not_out[file] = Some([first.min(offset), last.max(end)]);
        }
        self.writes += 1;
        let every = self.spec.flush_every;
        if every > 0 && self.writes.is_multiple_of(every) {
            self.flush_due = Some(file);
        }
    }

    /// Writes what was trimmed, unless the job's time is over. Returns whether it is written.
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
        let write = Op::Write {
            target,
            offset,
            len,
            durability: self.spec.durability,
        };
        self.count_write(file, write);
        self.outstanding += 1;
        agenda.issue(at, write);
        true
    }

    /// Flushes as required after the last request, and finishes.
    fn wind_up(&mut self, at: Instant, agenda: &mut Agenda) {
        if self.outstanding > 0 {
            return;
        }
        if let Some(flow) = &mut self.flow {
            flow.leave();
        }
        // A job with its own time limit lasts that long, with or without requests.
        let own = self
            .end
            .filter(|_| self.is_out_of_time && self.missed.is_none());
        if let Some(end) = own.filter(|end| at < *end && !self.all_end.is_raised()) {
            return agenda.wake_at(end.min(at + LOOK_UP));
        }
        // As in fio, a job that ends by an error is not flushed.
        let flushes = self.spec.flushes_at_end && self.writes > 0 && self.missed.is_none();
        let left = self
            .flushes_left
            .get_or_insert(if flushes { self.files.len() } else { 0 });
        if *left == 0 {
            if self.spec.ends_others {
                self.all_end.raise();
            }
            agenda.missed = self.missed.take();
            return agenda.finish();
        }
        *left -= 1;
        let target = self.files[*left].region.target;
        self.outstanding += 1;
        let data_only = false;
        agenda.issue(at, Op::Flush { target, data_only });
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
            if !self.spec.think_counts_issued {
                self.think(self.completed, at);
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
            // Nothing is outstanding after a request was made: the job has ended.
            if self.outstanding > 0 {
                self.ask(at, agenda);
            }
        }
    }
}

impl JobClient {
    /// Ends the job if it is below its minimum rate.
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

    /// Retries requests that the flow held back.
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
            Event::Due { at } if self.is_out_of_time => self.wind_up(at, agenda),
            Event::Due { at } => self.ask_again(at, agenda),
        }
    }
}
