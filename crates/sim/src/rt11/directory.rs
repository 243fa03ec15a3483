//! The directory of an RT-11 volume: its content, and the blocks that are read and written for it.
//!
//! Blocks 0 to 5 belong to the system. From block 6 on there are up to 31 segments of two blocks,
//! each with a header of 5 words and up to 72 entries of 7 words. The segments in use form a list.
//! Their entries describe every block after the directory in order: a permanent file, an open
//! tentative one, or an empty area. The system keeps only the last used segment in memory, and
//! reads all others on demand.
//!
//! Nothing here takes time: each call records its [`DirectoryStep`]s, which the volume carries out.
//! Sources: the DECUS paper "Real World Disk Comparisons" for the structure and the search; the
//! RT-11 manuals for allocation, closing and squeezing.

use workload::FileName;

/// The first block of the directory.
pub const DIRECTORY_START: u64 = 6;
pub const SEGMENT_BLOCKS: u64 = 2;
/// Maximum number of segments.
pub const SEGMENTS_MAX: usize = 31;
/// Maximum number of entries per segment.
pub const ENTRIES_MAX: usize = 72;

/// Number of the list's first segment.
const FIRST: usize = 1;
/// Not a segment.
const NONE: usize = 0;

/// How many blocks a new file gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// As many as requested, in the first empty area that is large enough.
    Exact,
    /// Half of the largest empty area, or all of the second largest if that is more. Unused blocks
    /// are returned when the file is closed.
    Half,
}

/// Why a file cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// No empty area is large enough.
    Volume,
    /// The segment is full, and there is no free segment to split it into.
    Directory,
}

/// A step that the system takes for the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryStep {
    /// Read a segment, counted from 1.
    Read(usize),
    Write(usize),
    /// Examine this many entries of the segment in memory.
    Search(usize),
    /// Copy the blocks of a file.
    Copy {
        /// First source block.
        from: u64,
        /// First destination block.
        to: u64,
        /// Number of blocks.
        blocks: u64,
    },
}

/// State of an entry's blocks.
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
    /// Next segment of the list; `NONE` for the last.
    next: usize,
    /// First block of the first entry.
    start: u64,
    /// The blocks of each entry follow those of the previous one. The tentative file is followed by
    /// an empty area, which may have no blocks.
    entries: Vec<DirectoryEntry>,
}

/// A file's extent in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Segment of its entry.
    pub segment: usize,
    /// Its first block.
    pub start: u64,
    pub blocks: u64,
}

/// A directory, with the segment that is in memory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Segments in use; indices are their numbers minus one.
    segments: Vec<DirectorySegment>,
    segments_max: usize,
    /// Blocks of the volume.
    blocks: u64,
    /// Number of the segment in memory, or `NONE`.
    in_memory: usize,
    steps: Vec<DirectoryStep>,
}

/// Default number of segments of a volume.
pub const fn default_segments(blocks: u64) -> usize {
    match blocks {
        0..=512 => 1,
        513..=2048 => 4,
        2049..=12_288 => 16,
        _ => SEGMENTS_MAX,
    }
}

/// First block of a segment.
pub const fn segment_block(number: usize) -> u64 {
    DIRECTORY_START + (number as u64 - 1) * SEGMENT_BLOCKS
}

impl Directory {
    /// The directory of a freshly initialised volume of `blocks` blocks.
    ///
    /// # Panics
    /// If there are no or too many segments, or nothing would be left for files.
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

    /// Takes the steps since the last call.
    pub fn take_steps(&mut self) -> Vec<DirectoryStep> {
        std::mem::take(&mut self.steps)
    }

    /// The segments in use.
    pub const fn segments_used(&self) -> usize {
        self.segments.len()
    }

    /// Drops the segment in memory.
    pub const fn forget(&mut self) {
        self.in_memory = NONE;
    }

    /// Looks up a file.
    pub fn lookup(&mut self, name: FileName) -> Option<FileExtent> {
        let (number, index) = self.find(|entry| entry.status == EntryStatus::Permanent(name))?;
        Some(self.place(number, index))
    }

    /// Creates a tentative entry for a file of `blocks` blocks.
    ///
    /// # Errors
    /// If there is no space on the volume or in its directory.
    ///
    /// # Panics
    /// If another file is tentative, since a program here has at most one open.
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

    /// Makes a tentative file permanent, with the blocks written. Deletes an older file of that
    /// name.
    ///
    /// # Panics
    /// If the file was not entered, or more was written than allocated.
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

    /// Discards a tentative file.
    ///
    /// # Panics
    /// If the file was not entered.
    pub fn purge(&mut self, name: FileName, place: &FileExtent) {
        let (number, index) = (place.segment, self.tentative(name, place.segment));
        self.at_mut(number).entries[index].status = EntryStatus::Empty;
        self.merge(number);
        self.write(number);
    }

    /// Deletes a file. Returns whether it existed.
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

    /// Whether a file exists, without cost.
    pub fn holds(&self, name: FileName) -> bool {
        let mut entries = self.segments.iter().flat_map(|segment| &segment.entries);
        entries.any(|entry| entry.status == EntryStatus::Permanent(name))
    }

    /// Renames a file, replacing an existing one. Returns whether it existed.
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

    /// Reads the whole directory. Returns the number of files.
    pub fn list(&mut self) -> usize {
        self.find(|_| false);
        self.files().len()
    }

    /// Moves all files to the front, with one empty area after them. Entries are also compacted:
    /// every segment except the last is full.
    ///
    /// # Panics
    /// If a file is tentative.
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

    /// Loads a segment into memory.
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

    /// Finds the first matching entry: segment and index.
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

    /// The empty area for a new file, and how many of its blocks the file gets.
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

    /// Moves half of a segment's entries to a new one after it.
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
        // The first segment holds the number of segments in use.
        if number != FIRST {
            self.fetch(FIRST);
            self.write(FIRST);
        }
        Ok(())
    }

    /// Merges adjacent empty areas in a segment. One without blocks stays only after a tentative
    /// file.
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

    /// Index of the tentative file's entry in its segment.
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

    /// Numbers of the segments in list order.
    fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let next: Vec<usize> = self.segments.iter().map(|segment| segment.next).collect();
        std::iter::successors(Some(FIRST), move |&number| {
            let next = next[number - 1];
            (next != NONE).then_some(next)
        })
    }

    /// All permanent files in list order.
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

/// Segments with these entries, the first of which starts at block `start`.
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
