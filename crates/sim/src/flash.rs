//! Flash memory: channels and dies that work in parallel, and cleaning that delays them.
//!
//! A read takes the die, then the channel; a write the channel, then the die. A die without free
//! blocks cleans before it accepts the next page: this is the write cliff. User pages are striped
//! over the dies, and stay on them. Buffered writes go to the flash when nothing waits for die or
//! channel, or when a flush waits for them. A die that cleans lets a read in between two page
//! moves; a page program is not interrupted. Source of structure and defaults: A. Tavakkol et al.,
//! "MQSim", FAST 2018.

mod mapping;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use units::{Duration, Instant};

pub use mapping::{Cleaning, fifo_write_amplification};

use mapping::DieMapping;

use crate::device::{Action, Answer, Calendar, Command, Device, Server, Slab, transfer_ns};

/// Initial content of a flash device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashContent {
    /// Nothing was ever written.
    Fresh,
    /// Everything was written once, sequentially.
    Full,
}

/// Parameters of a flash device. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashSpec {
    pub channels: u32,
    /// Dies per channel.
    pub dies: u32,
    /// Blocks per die.
    pub blocks: u32,
    pub pages_per_block: u32,
    /// Page size, bytes.
    pub page: u32,
    /// Read of a page into the register.
    pub read: u64,
    /// Program of a page.
    pub program: u64,
    /// Erase of a block.
    pub erase: u64,
    /// Channel rate, bytes per second.
    pub channel_rate: f64,
    /// Share of the physical pages reserved as spare.
    pub spare: f64,
    /// Free blocks per die reserved for cleaning.
    pub reserve: u32,
    /// Choice of the block to clean.
    pub cleaning: Cleaning,
    /// Write buffer for acknowledged writes, bytes.
    pub write_buffer: u64,
    /// Command overhead of the controller.
    pub overhead: u64,
    /// Initial content.
    pub content: FlashContent,
}

impl FlashSpec {
    /// User pages per die.
    pub fn user_pages(&self) -> u32 {
        let physical = f64::from(self.blocks) * f64::from(self.pages_per_block);
        (physical * (1.0 - self.spare)) as u32
    }

    /// Physical over user pages, without the reserved free blocks. Determines the cost of cleaning.
    pub fn spare_factor(&self) -> f64 {
        let usable = f64::from(self.blocks - self.reserve) * f64::from(self.pages_per_block);
        usable / f64::from(self.user_pages())
    }

    pub const fn die_count(&self) -> u32 {
        self.channels * self.dies
    }

    /// User capacity, bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.user_pages()) * u64::from(self.die_count()) * u64::from(self.page)
    }

    /// Random page writes per second while spare blocks last, and in steady state, by the law of
    /// FIFO cleaning.
    pub fn write_rates(&self) -> [f64; 2] {
        let transfer = transfer_ns(u64::from(self.page), self.channel_rate) as f64;
        let channels = f64::from(self.channels) * 1e9 / transfer;
        let w = fifo_write_amplification(self.spare_factor());
        let (program, read) = (self.program as f64, self.read as f64);
        let erase = self.erase as f64 / f64::from(self.pages_per_block);
        let steady = w * program + (w - 1.0) * read + w * erase;
        [program, steady].map(|cost| (f64::from(self.die_count()) * 1e9 / cost).min(channels))
    }

    /// Upper bound of page reads per second at that depth: limited by outstanding requests, dies,
    /// or channels.
    pub fn read_bound(&self, depth: u32) -> f64 {
        let transfer = transfer_ns(u64::from(self.page), self.channel_rate) as f64;
        let read = self.read as f64;
        let outstanding = f64::from(depth) / (read + transfer + self.overhead as f64);
        let dies = f64::from(self.die_count()) / read;
        let channels = f64::from(self.channels) / transfer;
        outstanding.min(dies).min(channels) * 1e9
    }
}

/// A running flash device.
#[derive(Debug)]
pub struct Flash {
    spec: FlashSpec,
    /// Dies share their mapping until they are written to: 32 MiB for 32 GiB, which takes a tenth
    /// of a second to fill.
    logs: Vec<Arc<DieMapping>>,
    dies: Vec<Server>,
    /// Cleaning in progress of each die.
    cleanings: Vec<Option<CleaningUnderWay>>,
    channels: Vec<Server>,
    calendar: Calendar<FlashEvent>,
    jobs: Slab<FlashJob>,
    pages: Slab<PageTransfer>,
    /// Writes that wait for space in the buffer.
    waiting: VecDeque<u64>,
    buffered: u64,
    /// Numbers of the writes that are not in flash yet, in order of arrival.
    unfinished: BTreeSet<u64>,
    /// Flushes, with the number of the next write after each.
    flushes: Vec<(u64, u64)>,
    writes: u64,
    /// Pages programmed since the start.
    programs: u64,
}

#[derive(Clone, Copy, Debug)]
enum FlashEvent {
    /// A command was decoded.
    Ready(u64),
    /// A page completed its stage.
    Done(u64),
}

#[derive(Clone, Copy, Debug)]
struct FlashJob {
    command: Command,
    outstanding: u64,
    /// Whether the command was acknowledged before it was done.
    is_answered: bool,
    /// Number of the write.
    write: u64,
}

#[derive(Clone, Copy, Debug)]
struct PageTransfer {
    job: u64,
    number: u64,
    bytes: u64,
    stage: FlashStage,
}

/// Page moves of a die before it programs a user page.
#[derive(Clone, Copy, Debug)]
struct CleaningUnderWay {
    /// Start of the first move, delayed by every read let in.
    begun: Instant,
    /// End of the last move, likewise.
    ends: Instant,
    /// End of the last read let in.
    read_until: Instant,
    /// Delay of the die by reads let in.
    held_up: Duration,
}

impl CleaningUnderWay {
    /// When a read that arrives now may start: after the current page move. None if all are done by
    /// then.
    fn let_in(&mut self, now: Instant, each: u64, read: Duration) -> Option<Instant> {
        let start = if now < self.read_until {
            self.read_until
        } else {
            let moved = now.since(self.begun).as_nanos().div_ceil(each);
            self.begun + Duration(moved * each)
        };
        (start < self.ends).then(|| {
            self.read_until = start + read;
            self.begun += read;
            self.ends += read;
            self.held_up += read;
            self.read_until
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlashStage {
    /// The die reads.
    Sense,
    /// The die reads between two page moves.
    SenseBetween,
    /// Channel transfer to the controller.
    Out,
    /// Channel transfer to the die.
    In,
    /// The die programs, after cleaning if necessary.
    Program,
}

impl Flash {
    /// An idle flash device.
    pub fn new(spec: FlashSpec) -> Self {
        let mut log = DieMapping::new(
            spec.blocks,
            spec.pages_per_block,
            spec.user_pages(),
            spec.reserve,
            spec.cleaning,
        );
        let dies = spec.die_count() as usize;
        if spec.content == FlashContent::Full {
            for page in 0..spec.user_pages() {
                log.write(page);
            }
        }
        let log = Arc::new(log);
        Self {
            logs: vec![log; dies],
            dies: vec![Server::default(); dies],
            cleanings: vec![None; dies],
            channels: vec![Server::default(); spec.channels as usize],
            calendar: Calendar::default(),
            jobs: Slab::default(),
            pages: Slab::default(),
            waiting: VecDeque::new(),
            buffered: 0,
            unfinished: BTreeSet::new(),
            flushes: Vec::new(),
            writes: 0,
            programs: 0,
            spec,
        }
    }

    /// Pages programmed since the start, by the user and by cleaning.
    pub const fn programs(&self) -> u64 {
        self.programs
    }

    fn die(&self, page: &PageTransfer) -> usize {
        (page.number % self.dies.len() as u64) as usize
    }

    fn channel(&self, page: &PageTransfer) -> usize {
        self.die(page) % self.channels.len()
    }

    fn ready(&mut self, now: Instant, number: u64, answers: &mut Vec<Answer>) {
        let command = self.jobs.at(number).command;
        match command.action {
            Action::Read => self.spread(now, number, FlashStage::Sense),
            Action::Write(_) => {
                self.jobs.at(number).write = self.writes;
                self.unfinished.insert(self.writes);
                self.writes += 1;
                self.waiting.push_back(number);
                self.admit(now, answers);
            }
            Action::Flush | Action::Compute { .. } => {
                self.flushes.push((number, self.writes));
                let servers = self.dies.iter_mut().chain(&mut self.channels);
                servers.for_each(Server::hurry);
                self.finish_flushes(answers);
            }
        }
    }

    /// Starts writes as far as there is space in the buffer. One always fits.
    fn admit(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(&number) = self.waiting.front() {
            let command = self.jobs.at(number).command;
            let is_free = self.buffered == 0;
            if !is_free && self.buffered + command.len > self.spec.write_buffer {
                break;
            }
            self.waiting.pop_front();
            self.buffered += command.len;
            let is_durable = command.action.is_durable_write();
            if !is_durable && command.len <= self.spec.write_buffer {
                answers.push(command.done());
                self.jobs.at(number).is_answered = true;
            }
            self.spread(now, number, FlashStage::In);
        }
    }

    /// Starts each page of a command.
    fn spread(&mut self, now: Instant, job: u64, stage: FlashStage) {
        let command = self.jobs.at(job).command;
        let unit = u64::from(self.spec.page);
        let pages =
            command.offset / unit..command.end().div_ceil(unit).max(command.offset / unit + 1);
        self.jobs.at(job).outstanding = pages.end - pages.start;
        for number in pages {
            let start = command.offset.max(number * unit);
            let end = command.end().min((number + 1) * unit);
            let page = self.pages.insert(PageTransfer {
                job,
                number,
                bytes: end.saturating_sub(start),
                stage,
            });
            self.enter(now, page);
        }
    }

    /// Queues a page for its stage, or starts it.
    fn enter(&mut self, now: Instant, number: u64) {
        let page = *self.pages.at(number);
        let (die, channel) = (self.die(&page), self.channel(&page));
        if page.stage == FlashStage::Sense && self.read_between(now, number, die) {
            return;
        }
        let is_background = self.jobs.at(page.job).is_answered && self.flushes.is_empty();
        let server = match page.stage {
            FlashStage::Sense | FlashStage::SenseBetween | FlashStage::Program => {
                &mut self.dies[die]
            }
            FlashStage::Out | FlashStage::In => &mut self.channels[channel],
        };
        let is_served = match is_background {
            true => server.seize_in_background(number),
            false => server.seize(number),
        };
        if is_served {
            self.serve(now, number);
        }
    }

    /// Whether a die that cleans lets a read in.
    fn read_between(&mut self, now: Instant, number: u64, die: usize) -> bool {
        let each = self.spec.read + self.spec.program;
        let read = Duration(self.spec.read);
        let cleaning = self.cleanings[die].as_mut();
        let Some(done) = cleaning.and_then(|it| it.let_in(now, each, read)) else {
            return false;
        };
        self.pages.at(number).stage = FlashStage::SenseBetween;
        self.calendar.plan(done, FlashEvent::Done(number));
        true
    }

    fn serve(&mut self, now: Instant, number: u64) {
        let page = *self.pages.at(number);
        let spec = &self.spec;
        let span = match page.stage {
            FlashStage::Sense | FlashStage::SenseBetween => spec.read,
            FlashStage::Out | FlashStage::In => transfer_ns(page.bytes, spec.channel_rate),
            FlashStage::Program => {
                let die = self.die(&page);
                let within = (page.number / self.dies.len() as u64) as u32;
                let effort = Arc::make_mut(&mut self.logs[die]).write(within);
                self.programs += 1 + u64::from(effort.moved);
                let spec = &self.spec;
                // A partial page is completed with its previous content.
                let merge = if page.bytes < u64::from(spec.page) {
                    spec.read
                } else {
                    0
                };
                let moving = u64::from(effort.moved) * (spec.read + spec.program);
                if moving > 0 {
                    self.cleanings[die] = Some(CleaningUnderWay {
                        begun: now,
                        ends: now + Duration(moving),
                        read_until: now,
                        held_up: Duration::ZERO,
                    });
                }
                moving + u64::from(effort.erased) * spec.erase + merge + spec.program
            }
        };
        self.calendar
            .plan(now + Duration(span), FlashEvent::Done(number));
    }

    /// A page completed its stage.
    fn advance(&mut self, now: Instant, number: u64, answers: &mut Vec<Answer>) {
        let page = *self.pages.at(number);
        let (die, channel) = (self.die(&page), self.channel(&page));
        if page.stage == FlashStage::Program
            && let Some(cleaning) = &mut self.cleanings[die]
        {
            let held_up = std::mem::take(&mut cleaning.held_up);
            if held_up > Duration::ZERO {
                self.calendar.plan(now + held_up, FlashEvent::Done(number));
                return;
            }
            self.cleanings[die] = None;
        }
        let next = match page.stage {
            FlashStage::SenseBetween => None,
            FlashStage::Sense | FlashStage::Program => self.dies[die].release(),
            FlashStage::Out | FlashStage::In => self.channels[channel].release(),
        };
        if let Some(next) = next {
            self.serve(now, next);
        }
        match page.stage {
            FlashStage::Sense | FlashStage::SenseBetween => {
                self.pages.at(number).stage = FlashStage::Out;
            }
            FlashStage::In => self.pages.at(number).stage = FlashStage::Program,
            FlashStage::Out | FlashStage::Program => {
                self.pages.remove(number);
                self.finish_page(now, &page, answers);
                return;
            }
        }
        self.enter(now, number);
    }

    fn finish_page(&mut self, now: Instant, page: &PageTransfer, answers: &mut Vec<Answer>) {
        let is_write = page.stage == FlashStage::Program;
        let job = self.jobs.at(page.job);
        job.outstanding -= 1;
        if job.outstanding == 0 {
            let job = self.jobs.remove(page.job);
            if !job.is_answered {
                answers.push(job.command.done());
            }
            if is_write {
                self.unfinished.remove(&job.write);
            }
        }
        if is_write {
            self.buffered -= page.bytes;
            self.admit(now, answers);
            self.finish_flushes(answers);
        }
    }

    fn finish_flushes(&mut self, answers: &mut Vec<Answer>) {
        let oldest = self.unfinished.first().copied().unwrap_or(u64::MAX);
        let is_done = |&mut (_, writes): &mut (u64, u64)| oldest >= writes;
        for (number, _) in self.flushes.extract_if(.., is_done) {
            answers.push(self.jobs.remove(number).command.done());
        }
    }
}

impl Device for Flash {
    fn size(&self) -> u64 {
        self.spec.size()
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let job = self.jobs.insert(FlashJob {
            command,
            outstanding: 0,
            is_answered: false,
            write: 0,
        });
        let ready = now + Duration(self.spec.overhead);
        self.calendar.plan(ready, FlashEvent::Ready(job));
    }

    fn next(&self) -> Option<Instant> {
        self.calendar.next()
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(event) = self.calendar.take(now) {
            match event {
                FlashEvent::Ready(job) => self.ready(now, job, answers),
                FlashEvent::Done(page) => self.advance(now, page, answers),
            }
        }
    }
}
