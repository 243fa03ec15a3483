//! The directory of an RT-11 volume: what it says, and which blocks are read and written for it.
//!
//! Blocks 0 to 5 are the system's. From block 6 on there are segments of two blocks, 31 at most,
//! each with a header of 5 words and up to 72 entries of 7 words. The segments in use are a list;
//! their entries, one after the other, describe every block behind the directory: a permanent
//! file, a tentative one that is open, or nothing. The system keeps one segment in memory, the one
//! it used last, and reads all others whenever it needs them.
//!
//! Nothing here takes time: each call notes its [`DirectoryStep`]s, which the volume carries out.
//! Sources: the DECUS paper "Real World Disk Comparisons" for the structure and the search; the
//! RT-11 manuals for allocation, closing and squeezing.

use workload::FileName;

/// The first block of the directory.
pub const DIRECTORY_START: u64 = 6;
pub const SEGMENT_BLOCKS: u64 = 2;
/// The most segments.
pub const SEGMENTS_MAX: usize = 31;
/// The most entries of a segment.
pub const ENTRIES_MAX: usize = 72;

/// The first segment of the list.
const FIRST: usize = 1;
/// The number of no segment.
const NONE: usize = 0;

/// How many blocks a new file is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// As many as it will have, in the first empty area that is large enough.
    Exact,
    /// Half of the largest empty area, or all of the second largest if that is more; what is not
    /// used comes back when the file is closed.
    Half,
}

/// Why a file cannot be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// No empty area is large enough.
    Volume,
    /// The segment has no entry left, and there is no segment to split it into.
    Directory,
}

/// Something that the system does for the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryStep {
    /// Read the segment of that number, counted from 1.
    Read(usize),
    Write(usize),
    /// Look at so many entries of the segment in memory.
    Search(usize),
    /// Copy the blocks of a file.
    Copy {
        /// From that block on.
        from: u64,
        /// To that block on.
        to: u64,
        /// So many.
        blocks: u64,
    },
}

/// What an entry says of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryStatus {
    Permanent(FileName),
    Tentative(FileName),
    Empty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DirectoryEntry {
    status: EntryStatus,
    blocks: u64,
}

#[derive(Clone, Debug)]
struct DirectorySegment {
    /// The next of the list; `NONE` for the last.
    next: usize,
    /// The block at which the first entry's blocks begin.
    start: u64,
    /// The blocks of each entry follow those of the one before. The tentative file is followed by
    /// an empty area, which may have no blocks.
    entries: Vec<DirectoryEntry>,
}

/// A file as the directory knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// The segment with its entry.
    pub segment: usize,
    /// Its first block.
    pub start: u64,
    pub blocks: u64,
}

/// A directory, and the segment of it that is in memory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Those in use, by their numbers less one.
    segments: Vec<DirectorySegment>,
    segments_max: usize,
    /// Blocks of the volume.
    blocks: u64,
    /// The segment in memory, or `NONE`.
    in_memory: usize,
    steps: Vec<DirectoryStep>,
}

/// How many segments a volume is given when nobody says how many.
#[must_use]
pub const fn default_segments(blocks: u64) -> usize {
    match blocks {
        0..=512 => 1,
        513..=2048 => 4,
        2049..=12_288 => 16,
        _ => SEGMENTS_MAX,
    }
}

/// The block at which a segment begins.
#[must_use]
pub const fn segment_block(number: usize) -> u64 {
    DIRECTORY_START + (number as u64 - 1) * SEGMENT_BLOCKS
}

impl Directory {
    /// The directory of a freshly initialised volume of so many blocks.
    ///
    /// # Panics
    /// When there is no segment, there are too many, or nothing would be left for files.
    #[must_use]
    pub fn new(blocks: u64, segments_max: usize) -> Self {
        assert!(
            (1..=SEGMENTS_MAX).contains(&segments_max),
            "from 1 to 31 segments"
        );
        let start = segment_block(segments_max + 1);
        assert!(start < blocks, "the directory leaves blocks for files");
        Self {
            segments: vec![DirectorySegment {
                next: NONE,
                start,
                entries: vec![DirectoryEntry::empty(blocks - start)],
            }],
            segments_max,
            blocks,
            in_memory: NONE,
            steps: Vec::new(),
        }
    }

    /// What the calls since the last time were made of.
    pub fn take_steps(&mut self) -> Vec<DirectoryStep> {
        std::mem::take(&mut self.steps)
    }

    /// The segments in use.
    #[must_use]
    pub const fn segments_used(&self) -> usize {
        self.segments.len()
    }

    /// Forget the segment in memory.
    pub const fn forget(&mut self) {
        self.in_memory = NONE;
    }

    /// Find a file.
    pub fn lookup(&mut self, name: FileName) -> Option<FileExtent> {
        let (number, index) = self.find(|entry| entry.status == EntryStatus::Permanent(name))?;
        Some(self.place(number, index))
    }

    /// Make a tentative entry for a file that will have `blocks` blocks.
    ///
    /// # Errors
    /// When there is no room on the volume or in its directory.
    ///
    /// # Panics
    /// When another file is tentative: a program here has one open at most.
    pub fn enter(
        &mut self,
        name: FileName,
        blocks: u64,
        allocation: Allocation,
    ) -> Result<FileExtent, Full> {
        assert!(!self.has_tentative(), "one file is open at most");
        loop {
            let (number, index, taken) = self.choose(blocks, allocation).ok_or(Full::Volume)?;
            if self.at(number).entries.len() == ENTRIES_MAX {
                self.split(number)?;
                continue;
            }
            let entries = &mut self.at_mut(number).entries;
            entries[index].blocks -= taken;
            let tentative = DirectoryEntry {
                status: EntryStatus::Tentative(name),
                blocks: taken,
            };
            entries.insert(index, tentative);
            self.write(number);
            return Ok(self.place(number, index));
        }
    }

    /// Make a tentative file permanent, with the blocks that were written. An older file of that
    /// name goes.
    ///
    /// # Panics
    /// When the file was not entered, or more was written than it was given.
    pub fn close(&mut self, name: FileName, place: &FileExtent, written: u64) {
        self.delete(name);
        let (number, index) = (place.segment, self.tentative(name, place.segment));
        let entries = &mut self.at_mut(number).entries;
        let spare = entries[index].blocks.checked_sub(written);
        entries[index] = DirectoryEntry {
            status: EntryStatus::Permanent(name),
            blocks: written,
        };
        entries[index + 1].blocks += spare.expect("as many blocks as it was given");
        self.merge(number);
        self.write(number);
    }

    /// Give up a tentative file.
    ///
    /// # Panics
    /// When the file was not entered.
    pub fn purge(&mut self, name: FileName, place: &FileExtent) {
        let (number, index) = (place.segment, self.tentative(name, place.segment));
        self.at_mut(number).entries[index].status = EntryStatus::Empty;
        self.merge(number);
        self.write(number);
    }

    /// Make an empty area of a file; returns whether there was one.
    pub fn delete(&mut self, name: FileName) -> bool {
        let Some((number, index)) = self.find(|entry| entry.status == EntryStatus::Permanent(name))
        else {
            return false;
        };
        self.at_mut(number).entries[index].status = EntryStatus::Empty;
        self.merge(number);
        self.write(number);
        true
    }

    /// Whether there is such a file; looking from here costs nothing.
    #[must_use]
    pub fn holds(&self, name: FileName) -> bool {
        let mut entries = self.segments.iter().flat_map(|segment| &segment.entries);
        entries.any(|entry| entry.status == EntryStatus::Permanent(name))
    }

    /// Give a file another name; a file that has it goes. Returns whether there was such a file.
    pub fn rename(&mut self, from: FileName, to: FileName) -> bool {
        if from != to && self.holds(from) {
            self.delete(to);
        }
        let Some((number, index)) = self.find(|entry| entry.status == EntryStatus::Permanent(from))
        else {
            return false;
        };
        self.at_mut(number).entries[index].status = EntryStatus::Permanent(to);
        self.write(number);
        true
    }

    /// Read the whole directory; returns how many files there are.
    pub fn list(&mut self) -> usize {
        self.find(|_| false);
        self.files().len()
    }

    /// Move all files to the front and leave one empty area behind them. The entries move
    /// together too: every segment is full but the last.
    ///
    /// # Panics
    /// When a file is tentative.
    pub fn squeeze(&mut self) {
        assert!(
            !self.has_tentative(),
            "no file is open on a volume that is squeezed"
        );
        self.find(|_| false);
        let mut start = segment_block(self.segments_max + 1);
        let first = start;
        let mut entries = Vec::new();
        for (name, place) in self.files() {
            if place.start != start {
                let (from, to, blocks) = (place.start, start, place.blocks);
                self.steps.push(DirectoryStep::Copy { from, to, blocks });
            }
            entries.push(DirectoryEntry {
                status: EntryStatus::Permanent(name),
                blocks: place.blocks,
            });
            start += place.blocks;
        }
        if start < self.blocks || entries.is_empty() {
            entries.push(DirectoryEntry::empty(self.blocks - start));
        }
        self.segments = laid_out(&entries, first);
        for number in FIRST..=self.segments.len() {
            self.write(number);
        }
    }

    fn at(&self, number: usize) -> &DirectorySegment {
        &self.segments[number - 1]
    }

    fn at_mut(&mut self, number: usize) -> &mut DirectorySegment {
        &mut self.segments[number - 1]
    }

    fn has_tentative(&self) -> bool {
        let mut entries = self.segments.iter().flat_map(|segment| &segment.entries);
        entries.any(|entry| matches!(entry.status, EntryStatus::Tentative(_)))
    }

    /// Have a segment in memory.
    fn fetch(&mut self, number: usize) {
        if self.in_memory != number {
            self.steps.push(DirectoryStep::Read(number));
            self.in_memory = number;
        }
    }

    fn write(&mut self, number: usize) {
        self.steps.push(DirectoryStep::Write(number));
        self.in_memory = number;
    }

    /// Search from the front for the first entry that is wanted: segment and index.
    fn find(&mut self, is_wanted: impl Fn(&DirectoryEntry) -> bool) -> Option<(usize, usize)> {
        let mut number = FIRST;
        while number != NONE {
            self.fetch(number);
            let entries = &self.at(number).entries;
            let found = entries.iter().position(&is_wanted);
            let searched = found.map_or(entries.len(), |index| index + 1);
            self.steps.push(DirectoryStep::Search(searched));
            if let Some(index) = found {
                return Some((number, index));
            }
            number = self.at(number).next;
        }
        None
    }

    /// The empty area for a new file, and how much of it the file is given.
    fn choose(&mut self, blocks: u64, allocation: Allocation) -> Option<(usize, usize, u64)> {
        let is_empty = |entry: &DirectoryEntry| entry.status == EntryStatus::Empty;
        if allocation == Allocation::Exact {
            let (number, index) = self.find(|e| is_empty(e) && e.blocks >= blocks.max(1))?;
            return Some((number, index, blocks));
        }
        self.find(|_| false);
        let (mut largest, mut second) = ((NONE, 0, 0), (NONE, 0, 0));
        for number in self.order() {
            for (index, entry) in self.at(number).entries.iter().enumerate() {
                let area = (number, index, entry.blocks);
                if is_empty(entry) && area.2 > largest.2 {
                    (largest, second) = (area, largest);
                } else if is_empty(entry) && area.2 > second.2 {
                    second = area;
                }
            }
        }
        let half = largest.2.div_ceil(2);
        let (number, index, taken) = if second.2 > half {
            second
        } else {
            (largest.0, largest.1, half)
        };
        if taken < blocks.max(1) {
            return None;
        }
        self.fetch(number);
        Some((number, index, taken))
    }

    /// Move half of a segment's entries to a new one behind it.
    fn split(&mut self, number: usize) -> Result<(), Full> {
        if self.segments.len() == self.segments_max {
            return Err(Full::Directory);
        }
        let new = self.segments.len() + 1;
        let segment = self.at_mut(number);
        let entries = segment.entries.split_off(ENTRIES_MAX / 2);
        let kept: u64 = segment.entries.iter().map(|entry| entry.blocks).sum();
        let (start, next) = (segment.start + kept, segment.next);
        segment.next = new;
        self.segments.push(DirectorySegment {
            next,
            start,
            entries,
        });
        self.write(new);
        self.write(number);
        // The first segment says how many are in use.
        if number != FIRST {
            self.fetch(FIRST);
            self.write(FIRST);
        }
        Ok(())
    }

    /// Make one of empty areas that follow each other in a segment. One of no blocks stays only
    /// behind a tentative file.
    fn merge(&mut self, number: usize) {
        let entries = &mut self.at_mut(number).entries;
        let mut merged: Vec<DirectoryEntry> = Vec::with_capacity(entries.len());
        for &entry in entries.iter() {
            let is_empty = entry.status == EntryStatus::Empty;
            match merged.last_mut() {
                Some(last) if is_empty && last.status == EntryStatus::Empty => {
                    last.blocks += entry.blocks;
                }
                Some(DirectoryEntry {
                    status: EntryStatus::Tentative(_),
                    ..
                }) => merged.push(entry),
                _ if is_empty && entry.blocks == 0 => {}
                _ => merged.push(entry),
            }
        }
        *entries = merged;
    }

    /// The index of the tentative file's entry in the segment where it was made.
    fn tentative(&mut self, name: FileName, number: usize) -> usize {
        self.fetch(number);
        let is_it = |entry: &DirectoryEntry| entry.status == EntryStatus::Tentative(name);
        let index = self.at(number).entries.iter().position(is_it);
        let index = index.expect("a file that was entered");
        self.steps.push(DirectoryStep::Search(index + 1));
        index
    }

    fn place(&self, number: usize, index: usize) -> FileExtent {
        let segment = self.at(number);
        let before: u64 = segment.entries[..index]
            .iter()
            .map(|entry| entry.blocks)
            .sum();
        FileExtent {
            segment: number,
            start: segment.start + before,
            blocks: segment.entries[index].blocks,
        }
    }

    /// The numbers of the segments in the order of the list.
    fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let next: Vec<usize> = self.segments.iter().map(|segment| segment.next).collect();
        std::iter::successors(Some(FIRST), move |&number| {
            let next = next[number - 1];
            (next != NONE).then_some(next)
        })
    }

    /// Every permanent file in the order of the list.
    fn files(&self) -> Vec<(FileName, FileExtent)> {
        let mut files = Vec::new();
        for number in self.order() {
            for (index, entry) in self.at(number).entries.iter().enumerate() {
                if let EntryStatus::Permanent(name) = entry.status {
                    files.push((name, self.place(number, index)));
                }
            }
        }
        files
    }
}

impl DirectoryEntry {
    const fn empty(blocks: u64) -> Self {
        Self {
            status: EntryStatus::Empty,
            blocks,
        }
    }
}

/// Segments that hold these entries, the first of which begins at block `start`.
fn laid_out(entries: &[DirectoryEntry], mut start: u64) -> Vec<DirectorySegment> {
    let last = entries.len().div_ceil(ENTRIES_MAX);
    let chunks = (FIRST..).zip(entries.chunks(ENTRIES_MAX));
    let segment = |(number, chunk): (usize, &[DirectoryEntry])| {
        let segment = DirectorySegment {
            next: if number == last { NONE } else { number + 1 },
            start,
            entries: chunk.to_vec(),
        };
        start += chunk.iter().map(|entry| entry.blocks).sum::<u64>();
        segment
    };
    chunks.map(segment).collect()
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
