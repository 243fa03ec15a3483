//! A buffer of the program's own.

use std::collections::BTreeMap;

use units::Bytes;

use crate::measure::place::{MeasureError, Result};

/// Records in memory, the least recently used of which goes first.
pub(super) struct RecordCache {
    room: usize,
    len: usize,
    memory: Vec<u8>,
    /// Where a record lies, and when it was used last.
    places: BTreeMap<u64, (usize, u64)>,
    /// Records in the order of their last use.
    uses: BTreeMap<u64, u64>,
    clock: u64,
}

impl RecordCache {
    pub(super) fn new(room: u64, record: Bytes) -> Result<Self> {
        let too_large = || MeasureError::Usage("buffer: it is more than memory can hold".into());
        Ok(Self {
            room: usize::try_from(room).map_err(|_| too_large())?,
            len: record.0 as usize,
            memory: Vec::new(),
            places: BTreeMap::new(),
            uses: BTreeMap::new(),
            clock: 0,
        })
    }

    /// Copy the record, if it is there.
    pub(super) fn take(&mut self, number: u64, into: &mut [u8]) -> bool {
        let Some(&(place, used)) = self.places.get(&number) else {
            return false;
        };
        into.copy_from_slice(&self.memory[place * self.len..][..self.len]);
        self.uses.remove(&used);
        self.note_use(number, place);
        true
    }

    /// Keep a record that is not there.
    pub(super) fn keep(&mut self, number: u64, bytes: &[u8]) {
        if self.room == 0 {
            return;
        }
        let place = if self.places.len() < self.room {
            self.memory.extend_from_slice(bytes);
            self.places.len()
        } else {
            let Some((_, oldest)) = self.uses.pop_first() else {
                return;
            };
            let (place, _) = self.places.remove(&oldest).unwrap_or_default();
            self.memory[place * self.len..][..self.len].copy_from_slice(bytes);
            place
        };
        self.note_use(number, place);
    }

    fn note_use(&mut self, number: u64, place: usize) {
        self.clock += 1;
        self.uses.insert(self.clock, number);
        self.places.insert(number, (place, self.clock));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_gives_up_what_was_used_least_recently() {
        let mut buffer = RecordCache::new(2, Bytes(1)).unwrap();
        let mut got = [0];
        let mut holds = |buffer: &mut RecordCache, number: u64| {
            let is_there = buffer.take(number, &mut got);
            assert!(!is_there || got == [number as u8 + 100]);
            is_there
        };
        buffer.keep(1, &[101]);
        buffer.keep(2, &[102]);
        assert!(holds(&mut buffer, 1));
        buffer.keep(3, &[103]);
        assert!(!holds(&mut buffer, 2) && holds(&mut buffer, 1) && holds(&mut buffer, 3));
        let mut nothing = RecordCache::new(0, Bytes(1)).unwrap();
        nothing.keep(1, &[101]);
        assert!(!holds(&mut nothing, 1));
    }
}
