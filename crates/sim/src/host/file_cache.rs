//! The file cache of a host, with LRU replacement.

use std::collections::{BTreeMap, BTreeSet};

/// No place.
const NONE: u32 = u32::MAX;

/// Pages in memory, with LRU replacement.
#[derive(Clone, Debug)]
pub struct FileCache {
    places: BTreeMap<u64, u32>,
    entries: Vec<FileCacheEntry>,
    free: Vec<u32>,
    /// The most recently used page, and the least recently used.
    newest: u32,
    oldest: u32,
    /// Capacity, pages.
    room: usize,
    dirty: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug)]
struct FileCacheEntry {
    page: u64,
    newer: u32,
    older: u32,
}

impl FileCache {
    /// An empty cache with a capacity of `room` pages.
    pub const fn new(room: usize) -> Self {
        Self {
            places: BTreeMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            newest: NONE,
            oldest: NONE,
            room,
            dirty: BTreeSet::new(),
        }
    }

    /// Capacity, pages.
    pub const fn room(&self) -> usize {
        self.room
    }

    /// Pages in the cache.
    pub fn pages(&self) -> usize {
        self.places.len()
    }

    /// Changes the capacity. Dirty pages stay until they are clean.
    pub fn set_room(&mut self, room: usize) {
        self.room = room;
        self.shrink();
    }

    /// Uses a page if it is in the cache. Returns whether it is.
    pub fn touch(&mut self, page: u64) -> bool {
        let Some(&place) = self.places.get(&page) else {
            return false;
        };
        self.unlink(place);
        self.link(place);
        true
    }

    /// Whether a page is in the cache, without using it.
    #[cfg(test)]
    fn holds(&self, page: u64) -> bool {
        self.places.contains_key(&page)
    }

    /// Adds a page.
    pub fn insert(&mut self, page: u64) {
        if self.room == 0 || self.touch(page) {
            return;
        }
        let entry = FileCacheEntry {
            page,
            newer: NONE,
            older: NONE,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.entries[place as usize] = entry;
                place
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.places.insert(page, place);
        self.link(place);
        self.shrink();
    }

    /// Marks a cached page as dirty.
    pub fn soil(&mut self, page: u64) {
        self.dirty.insert(page);
    }

    pub fn dirty_pages(&self) -> usize {
        self.dirty.len()
    }

    /// Takes a run of adjacent dirty pages at or after `from`, or else from the beginning, and
    /// marks them as clean.
    pub fn take_run(&mut self, from: u64, pages_max: u64) -> Option<std::ops::Range<u64>> {
        let next = self.dirty.range(from..).next();
        let start = *next.or_else(|| self.dirty.first())?;
        let mut end = start;
        while end - start < pages_max && self.dirty.remove(&end) {
            end += 1;
        }
        self.shrink();
        Some(start..end)
    }

    fn shrink(&mut self) {
        let mut candidate = self.oldest;
        while self.places.len() > self.room && candidate != NONE {
            let FileCacheEntry { page, newer, .. } = self.entries[candidate as usize];
            if !self.dirty.contains(&page) {
                self.unlink(candidate);
                self.places.remove(&page);
                self.free.push(candidate);
            }
            candidate = newer;
        }
    }

    fn link(&mut self, place: u32) {
        let before = self.newest;
        let entry = &mut self.entries[place as usize];
        entry.newer = NONE;
        entry.older = before;
        match before {
            NONE => self.oldest = place,
            before => self.entries[before as usize].newer = place,
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let FileCacheEntry { newer, older, .. } = self.entries[place as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{Purpose, Stream};

    #[test]
    fn the_least_recently_used_page_goes_first() {
        let mut cache = FileCache::new(2);
        cache.insert(1);
        cache.insert(2);
        assert!(cache.touch(1));
        cache.insert(3);
        assert!(cache.holds(1) && !cache.holds(2) && cache.holds(3));
        cache.set_room(1);
        assert!(!cache.holds(1) && cache.holds(3));
    }

    #[test]
    fn dirty_pages_stay_until_they_were_taken() {
        let mut cache = FileCache::new(2);
        for page in [5, 6, 9] {
            cache.insert(page);
            cache.soil(page);
        }
        assert!(cache.holds(5), "dirty pages may exceed the room");
        assert_eq!(cache.take_run(0, 8), Some(5..7));
        assert_eq!(cache.take_run(0, 8), Some(9..10));
        assert_eq!(cache.take_run(0, 8), None);
        assert_eq!(cache.places.len(), 2);
    }

    /// Under uniform reads of F pages, a cache of C pages has a hit ratio of C/F in the long run,
    /// and after k cold reads of 1 - exp(-k/F), as long as it is not full.
    #[test]
    fn uniform_reads_hit_as_the_law_says() {
        let (pages, room) = (4000_u64, 1200);
        let mut cache = FileCache::new(room);
        let mut stream = Stream::new(1, 0, Purpose::Address);
        let mut read = |cache: &mut FileCache| {
            let page = stream.below(pages);
            let is_hit = cache.touch(page);
            cache.insert(page);
            is_hit
        };
        let mut early = 0;
        for _ in 0..1000 {
            read(&mut cache);
        }
        for _ in 0..200 {
            early += u32::from(read(&mut cache));
        }
        let expected = 1.0 - f64::exp(-1100.0 / 4000.0);
        assert!(
            (f64::from(early) / 200.0 - expected).abs() < 0.09,
            "{early}"
        );
        (0..10_000).for_each(|_| {
            read(&mut cache);
        });
        let hits = (0..100_000).filter(|_| read(&mut cache)).count();
        assert!((hits as f64 / 1e5 - 0.3).abs() < 0.01, "{hits}");
    }
}
