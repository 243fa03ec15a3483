//! Flash memory: channels and dies that work at the same time, and cleaning that gets in the way.
//!
//! A read takes the die, then the channel; a write the channel, then the die. A die that runs out
//! of free blocks cleans before it takes the next page: that is the write cliff. User pages are
//! dealt to the dies in turn, and stay on them. Writes that were answered from the buffer go to the
//! flash when nobody waits for die or channel, or somebody for a flush. A die that cleans lets a
//! read in between two pages that it moves; a page that it programs, it ends first. Source of
//! structure and defaults: A. Tavakkol et al., "MQSim", FAST 2018.

mod mapping;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use units::{Duration, Instant};

pub use mapping::{Cleaning, fifo_write_amplification};

use mapping::DieMapping;

use crate::device::{Action, Answer, Calendar, Command, Device, Server, Slab, transfer_ns};

/// What a flash device holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashContent {
    /// Nothing was ever written.
    Fresh,
    /// Everything was written once, in order.
    Full,
}

/// Everything that fixes a flash device. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct FlashSpec {
    pub channels: u32,
    /// Dies on each channel.
    pub dies: u32,
    /// Blocks of a die.
    pub blocks: u32,
    pub pages_per_block: u32,
    /// Bytes of a page.
    pub page: u32,
    /// Page to register.
    pub read: u64,
    /// Register to page.
    pub program: u64,
    /// Erasure of a block.
    pub erase: u64,
    /// Bytes per second of a channel.
    pub channel_rate: f64,
    /// Share of the physical pages that the user does not see.
    pub spare: f64,
    /// Blocks of a die that stay free for cleaning.
    pub reserve: u32,
    /// Which block is cleaned.
    pub cleaning: Cleaning,
    /// Bytes of writes that are promised before they are in flash.
    pub write_buffer: u64,
    /// What the controller needs for a command.
    pub overhead: u64,
    /// What it holds at the start.
    pub content: FlashContent,
}

impl FlashSpec {
    /// User pages of one die.
    #[must_use]
    pub fn user_pages(&self) -> u32 {
        let physical = f64::from(self.blocks) * f64::from(self.pages_per_block);
        (physical * (1.0 - self.spare)) as u32
    }

    /// Physical over user pages, without the blocks that are kept free: what the cost of cleaning
    /// depends on.
    #[must_use]
    pub fn spare_factor(&self) -> f64 {
        let usable = f64::from(self.blocks - self.reserve) * f64::from(self.pages_per_block);
        usable / f64::from(self.user_pages())
    }

    #[must_use]
    pub const fn die_count(&self) -> u32 {
        self.channels * self.dies
    }

    /// Bytes that the user sees.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::from(self.user_pages()) * u64::from(self.die_count()) * u64::from(self.page)
    }

    /// Pages that can be written at random each second while spare blocks last, and once each must
    /// be cleaned first, by the law of FIFO cleaning.
    #[must_use]
    pub fn write_rates(&self) -> [f64; 2] {
        let transfer = transfer_ns(u64::from(self.page), self.channel_rate) as f64;
        let channels = f64::from(self.channels) * 1e9 / transfer;
        let w = fifo_write_amplification(self.spare_factor());
        let (program, read) = (self.program as f64, self.read as f64);
        let erase = self.erase as f64 / f64::from(self.pages_per_block);
        let steady = w * program + (w - 1.0) * read + w * erase;
        [program, steady].map(|cost| (f64::from(self.die_count()) * 1e9 / cost).min(channels))
    }

    /// Page reads per second with so many at a time, at most: limited by what is outstanding, by
    /// the dies, or by the channels.
    #[must_use]
    pub fn read_bound(&self, depth: u32) -> f64 {
        let transfer = transfer_ns(u64::from(self.page), self.channel_rate) as f64;
        let read = self.read as f64;
        let outstanding = f64::from(depth) / (read + transfer + self.overhead as f64);
        let dies = f64::from(self.die_count()) / read;
        let channels = f64::from(self.channels) / transfer;
        outstanding.min(dies).min(channels) * 1e9
    }
}

/// A flash device at work.
#[derive(Debug)]
pub struct Flash {
    spec: FlashSpec,
    /// Dies share what they hold until one is written to: 32 MiB for 32 GiB, which takes a tenth of
    /// a second to fill.
    logs: Vec<Arc<DieMapping>>,
    dies: Vec<Server>,
    /// What each die cleans, as long as it does.
    cleanings: Vec<Option<CleaningUnderWay>>,
    channels: Vec<Server>,
    calendar: Calendar<FlashEvent>,
    jobs: Slab<FlashJob>,
    pages: Slab<PageTransfer>,
    /// Writes that wait for room in the buffer.
    waiting: VecDeque<u64>,
    buffered: u64,
    /// Numbers of the writes that are not in flash, in the order in which they came.
    unfinished: BTreeSet<u64>,
    /// Flushes, with the number that the next write after each would get.
    flushes: Vec<(u64, u64)>,
    writes: u64,
    /// Pages programmed since the start.
    programs: u64,
}

#[derive(Clone, Copy, Debug)]
enum FlashEvent {
    /// A command was understood.
    Ready(u64),
    /// A page has what it waited for.
    Done(u64),
}

#[derive(Clone, Copy, Debug)]
struct FlashJob {
    command: Command,
    outstanding: u64,
    /// Whether the command was answered before it was done.
    is_answered: bool,
    /// Which of the writes it is.
    write: u64,
}

#[derive(Clone, Copy, Debug)]
struct PageTransfer {
    job: u64,
    number: u64,
    bytes: u64,
    stage: FlashStage,
}

/// Pages that a die moves before it programs one of the user.
#[derive(Clone, Copy, Debug)]
struct CleaningUnderWay {
    /// When the first was begun, later by every read that was let in.
    begun: Instant,
    /// When the last is done, likewise.
    ends: Instant,
    /// When the last read that was let in is done.
    read_until: Instant,
    /// By how much later the die is free for the reads.
    held_up: Duration,
}

impl CleaningUnderWay {
    /// When a read that comes now may begin: when the page is moved that is being moved. None where
    /// all of them are by then.
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
    /// The die reads between two pages that it moves.
    SenseBetween,
    /// The channel carries to the controller.
    Out,
    /// The channel carries to the die.
    In,
    /// The die writes, and cleans before that if it must.
    Program,
}

impl Flash {
    /// A flash device at rest.
    #[must_use]
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

    /// Pages programmed since the start: those of the user, and those that cleaning moved.
    #[must_use]
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

    /// Let writes begin as far as there is room in the buffer; one always fits.
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

    /// Begin each page of a command.
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

    /// A page waits for, or gets, what its stage needs.
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
                // Part of a page is completed with what was there before.
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

    /// A page has done with its stage.
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
