//! A target in virtual time that holds bytes, has a volatile cache, and lies when told to; and what
//! several clients do to it.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use fastrand::Rng;
use verify::{
    BLOCK_WORDS, ExpectedDurability, Ledger, SECTOR_BYTES, VerifyMismatch, Words, WriteOutcome,
    new_words, words_needed, words_of,
};

const UNIT: u64 = 4096;
const BLOCKS: u64 = 64;
const LEN: u64 = UNIT * BLOCKS;
const STEPS: usize = 400;
const DEPTH: usize = 8;
/// The last part of the target is written by the scene of a lie alone.
const SCENE: u64 = BLOCKS - 16;

/// What becomes of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// It is dropped; nothing was there before.
    Lose,
    /// It is dropped; an older write was there.
    KeepOld,
    /// It goes to another place.
    Misplace,
    /// Its first or last sectors are dropped.
    Tear,
    /// One of its bits flips.
    Flip,
}

/// Where a lie did harm: the write, and where else.
#[derive(Debug)]
pub struct Harm {
    begin: u64,
    end: u64,
    beside: Option<(u64, u64)>,
}

impl Harm {
    /// Whether a finding lies where the lie was meant to be seen.
    pub fn contains(&self, finding: &VerifyMismatch) -> bool {
        let (begin, end) = self.beside.unwrap_or((self.begin, self.end));
        (begin..end).contains(&finding.offset)
    }

    /// Whether a finding lies where the lie changed anything.
    pub fn covers(&self, finding: &VerifyMismatch) -> bool {
        (self.begin..self.end).contains(&finding.offset) || self.contains(finding)
    }
}

/// Bytes that are durable, and sectors in a cache, oldest first.
pub struct Target {
    durable: Vec<u8>,
    cached: BTreeMap<u64, Vec<Vec<u8>>>,
    flushes: bool,
}

impl Target {
    pub fn honest() -> Self {
        Self {
            durable: vec![0; LEN as usize],
            cached: BTreeMap::new(),
            flushes: true,
        }
    }

    /// One that acknowledges flushes and does nothing.
    pub fn without_flushes() -> Self {
        Self {
            flushes: false,
            ..Self::honest()
        }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        for (sector, at) in bytes
            .chunks(SECTOR_BYTES)
            .zip((offset..).step_by(SECTOR_BYTES))
        {
            self.cached.entry(at).or_default().push(sector.to_vec());
        }
    }

    fn read(&self, offset: u64, len: u64) -> Vec<u8> {
        let mut bytes = self.durable[offset as usize..(offset + len) as usize].to_vec();
        for (at, versions) in self.cached.range(offset..offset + len) {
            let begin = (at - offset) as usize;
            let newest = versions.last().expect("one at least");
            bytes[begin..begin + SECTOR_BYTES].copy_from_slice(newest);
        }
        bytes
    }

    fn keep(&mut self, at: u64, sector: &[u8]) {
        self.durable[at as usize..at as usize + SECTOR_BYTES].copy_from_slice(sector);
    }

    fn flush(&mut self) {
        if !self.flushes {
            return;
        }
        for (at, versions) in std::mem::take(&mut self.cached) {
            self.keep(at, versions.last().expect("one at least"));
        }
    }
}

/// A write that was asked for and is not done.
struct UnderWay {
    offset: u64,
    bytes: Vec<u8>,
}

/// A ledger, a target, and clients.
pub struct World {
    rng: Rng,
    ledger: Ledger,
    words: Words,
    remembered: Vec<u64>,
    target: Target,
    under_way: Vec<UnderWay>,
    found: Vec<VerifyMismatch>,
    reads: usize,
    overlaps: usize,
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self::with_target(seed, Target::honest())
    }

    pub fn with_target(seed: u64, target: Target) -> Self {
        let words = new_words(words_needed(UNIT, &[LEN]));
        let shared = Words::clone(&words);
        Self {
            rng: Rng::with_seed(seed),
            ledger: Ledger::new(seed ^ 0x5eed, UNIT, &[LEN], shared).expect("a ledger"),
            words,
            remembered: Vec::new(),
            target,
            under_way: Vec::new(),
            found: Vec::new(),
            reads: 0,
            overlaps: 0,
        }
    }

    /// Clients write, read and flush at random, several at once.
    pub fn run(&mut self) {
        for _ in 0..STEPS {
            match self.rng.u8(0..10) {
                0..4 if self.under_way.len() < DEPTH => self.ask_write(),
                0..7 => self.complete_one(),
                7..9 => self.read_some(),
                _ => self.flush(),
            }
        }
        while !self.under_way.is_empty() {
            self.complete_one();
        }
    }

    /// The same, and then one write in a place of its own that is treated so.
    pub fn run_with(&mut self, lie: Lie) -> Harm {
        self.run();
        let blocks = self.rng.u64(1..4);
        let first = SCENE + self.rng.u64(0..8);
        let (offset, len) = (first * UNIT, blocks * UNIT);
        if lie != Lie::Lose {
            self.write_now(offset, len);
        }
        let bytes = self.fresh(len);
        let mut bytes = self.begin(offset, bytes);
        let mut harm = Harm {
            begin: offset,
            end: offset + len,
            beside: None,
        };
        match lie {
            Lie::Lose | Lie::KeepOld => {}
            Lie::Misplace => {
                let other = self.rng.u64(0..SCENE - 4) * UNIT;
                self.write_now(other, len);
                self.target.write(other, &bytes);
                harm.beside = Some((other, other + len));
            }
            Lie::Tear => {
                let sectors = len / SECTOR_BYTES as u64;
                let kept = self.rng.u64(1..sectors) * SECTOR_BYTES as u64;
                match self.rng.bool() {
                    true => self.target.write(offset, &bytes[..kept as usize]),
                    false => self.target.write(offset + kept, &bytes[kept as usize..]),
                }
            }
            Lie::Flip => {
                let bit = self.rng.usize(0..bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
                self.target.write(offset, &bytes);
            }
        }
        self.ledger.end_write(0, offset, len, WriteOutcome::Done);
        harm
    }

    /// Keep what the ledger knows now.
    pub fn remember(&mut self) {
        let words = (*self.words).as_ref().iter();
        self.remembered = words.map(|word| word.load(Relaxed)).collect();
    }

    /// Read all that was written, judged by a ledger in which each block is as it is now, or as it
    /// was when it was remembered.
    pub fn read_back_by_old_state(&mut self) -> Vec<VerifyMismatch> {
        let mut is_old = false;
        let mut old = Vec::new();
        for (place, now) in (*self.words).as_ref().iter().enumerate() {
            if place.is_multiple_of(BLOCK_WORDS) {
                is_old = self.rng.bool();
            }
            old.push(match is_old && place >= BLOCK_WORDS {
                true => self.remembered[place],
                false => now.load(Relaxed),
            });
        }
        let old = words_of(old.into_iter());
        self.words = Words::clone(&old);
        self.ledger = Ledger::new(self.ledger.seed(), UNIT, &[LEN], old).expect("a ledger");
        self.read_back(ExpectedDurability::Flushed)
    }

    /// Each cached sector is left at any of its versions, or at what is durable; returns how many
    /// are not at their last.
    pub fn crash(&mut self) -> usize {
        let mut dropped = 0;
        for (at, versions) in std::mem::take(&mut self.target.cached) {
            let kept = self.rng.usize(0..=versions.len());
            dropped += usize::from(kept < versions.len());
            if kept > 0 {
                self.target.keep(at, &versions[kept - 1]);
            }
        }
        dropped
    }

    /// Read all that was written.
    pub fn read_back(&mut self, trust: ExpectedDurability) -> Vec<VerifyMismatch> {
        let places: Vec<(u64, u64)> = self.ledger.written(0, 1 << 20).collect();
        let judged = places.into_iter().flat_map(|(offset, len)| {
            let bytes = self.target.read(offset, len);
            self.ledger.judge(0, offset, &bytes, trust)
        });
        judged.collect()
    }

    pub fn found_while_running(&self) -> &[VerifyMismatch] {
        &self.found
    }

    pub const fn reads_checked(&self) -> usize {
        self.reads
    }

    pub const fn overlaps(&self) -> usize {
        self.overlaps
    }

    fn fresh(&mut self, len: u64) -> Vec<u8> {
        let mut bytes = vec![0; len as usize];
        self.rng.fill(&mut bytes);
        bytes
    }

    fn begin(&mut self, offset: u64, mut bytes: Vec<u8>) -> Vec<u8> {
        self.ledger.begin_write((0, offset), &mut bytes, 0);
        bytes
    }

    fn write_now(&mut self, offset: u64, len: u64) {
        let bytes = self.fresh(len);
        let bytes = self.begin(offset, bytes);
        self.target.write(offset, &bytes);
        self.ledger.end_write(0, offset, len, WriteOutcome::Done);
    }

    fn ask_write(&mut self) {
        let blocks = self.rng.u64(1..5);
        let offset = self.rng.u64(0..SCENE - blocks) * UNIT;
        let bytes = self.fresh(blocks * UNIT);
        let bytes = self.begin(offset, bytes);
        let end = offset + bytes.len() as u64;
        let meets = |it: &&UnderWay| it.offset < end && offset < it.offset + it.bytes.len() as u64;
        self.overlaps += self.under_way.iter().filter(meets).count();
        self.under_way.push(UnderWay { offset, bytes });
    }

    /// Writes are carried out in any order; some fail after a part of them.
    fn complete_one(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let chosen = self.rng.usize(0..self.under_way.len());
        let UnderWay { offset, bytes } = self.under_way.swap_remove(chosen);
        let len = bytes.len() as u64;
        let (moved, outcome) = match self.rng.u8(0..20) {
            0 => {
                let sectors = self.rng.usize(0..bytes.len() / SECTOR_BYTES);
                (sectors * SECTOR_BYTES, WriteOutcome::Failed)
            }
            _ => (bytes.len(), WriteOutcome::Done),
        };
        self.target.write(offset, &bytes[..moved]);
        self.ledger.end_write(0, offset, len, outcome);
    }

    /// A read that begins before and ends after something else happens.
    fn read_some(&mut self) {
        let blocks = self.rng.u64(1..8);
        let offset = self.rng.u64(0..SCENE - blocks) * UNIT;
        let len = blocks * UNIT;
        let floors = self.ledger.begin_read(0, offset, len);
        let before = self.target.read(offset, len);
        let is_late = self.rng.bool();
        for _ in 0..self.rng.u8(0..3) {
            match self.rng.bool() && self.under_way.len() < DEPTH {
                true => self.ask_write(),
                false => self.complete_one(),
            }
        }
        let after = self.target.read(offset, len);
        let bytes = if is_late { after } else { before };
        self.found
            .extend(self.ledger.end_read(0, offset, &bytes, &floors));
        self.reads += 1;
    }

    /// Flush; what is done meanwhile need not be part of it.
    pub fn flush(&mut self) {
        let began = self.ledger.begin_flush();
        if self.rng.bool() && self.target.flushes {
            self.target.flush();
            self.complete_one();
        } else {
            self.target.flush();
        }
        self.ledger.end_flush(0, began);
    }
}
