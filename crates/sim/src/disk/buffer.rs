//! The segmented buffer of a disk, and its read-ahead.
//!
//! After a read the disk continues until the segment is full. Sequential reads free space, so that
//! it reads on. It stops when the segment is full or the arm is needed elsewhere. Once stopped, it
//! must wait for the next sector.

use std::ops::Range;

use crate::disk::mechanism::{Cursor, Mechanism};

/// Size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    /// Number of streams that it can hold.
    pub segments: u32,
    pub segment_sectors: u64,
    /// Maximum read-ahead, sectors.
    pub read_ahead: u64,
}

/// Content of the buffer, and the read-ahead in progress.
#[derive(Clone, Debug)]
pub struct DiskBuffer {
    spec: BufferSpec,
    segments: Vec<BufferSegment>,
    stamp: u64,
    stream: Option<ReadAhead>,
    sectors: u64,
}

#[derive(Clone, Debug, Default)]
struct BufferSegment {
    holds: Range<u64>,
    used: u64,
    /// Start of a read that continues the last one.
    follows: u64,
}

#[derive(Clone, Debug)]
struct ReadAhead {
    segment: usize,
    cursor: Cursor,
    limit: u64,
}

/// A read request to the buffer. Times are ns since the start of time.
#[derive(Clone, Debug)]
pub struct BufferedRead {
    /// When the command arrived.
    pub now: u64,
    /// When the command was decoded.
    pub ready: u64,
    pub sectors: Range<u64>,
    /// Bus transfer time.
    pub bus: u64,
}

impl DiskBuffer {
    /// An empty buffer of a disk with `sectors` sectors.
    pub fn new(spec: BufferSpec, sectors: u64) -> Self {
        Self {
            spec,
            segments: vec![BufferSegment::default(); spec.segments.max(1) as usize],
            stamp: 0,
            stream: None,
            sectors,
        }
    }

    /// When a read completes.
    pub fn read(&mut self, mechanism: &mut Mechanism, wanted: &BufferedRead) -> u64 {
        self.catch_up(mechanism, wanted.now);
        self.stamp += 1;
        let over_bus = wanted.ready + wanted.bus;
        if let Some(index) = self.holding(&wanted.sectors) {
            self.segments[index].used = self.stamp;
            if self.segments[index].follows == wanted.sectors.start {
                self.read_further(mechanism, index, wanted);
            }
            self.segments[index].follows = wanted.sectors.end;
            return over_bus;
        }
        let is_ahead = |stream: &ReadAhead| {
            let holds = &self.segments[stream.segment].holds;
            (holds.start..=stream.limit).contains(&wanted.sectors.start)
        };
        if self.stream.as_ref().is_some_and(is_ahead) {
            return self.wait_for_stream(mechanism, wanted).max(over_bus);
        }
        self.stop(mechanism);
        self.miss(mechanism, wanted)
    }

    /// A write to these sectors takes the arm, and invalidates cached ones.
    pub fn give_way(&mut self, mechanism: &mut Mechanism, now: u64, written: &Range<u64>) {
        self.catch_up(mechanism, now);
        self.stop(mechanism);
        for segment in &mut self.segments {
            if segment.holds.start < written.end && written.start < segment.holds.end {
                *segment = BufferSegment::default();
            }
        }
    }

    fn holding(&self, sectors: &Range<u64>) -> Option<usize> {
        self.segments.iter().position(|segment| {
            segment.holds.start <= sectors.start && sectors.end <= segment.holds.end
        })
    }

    /// Advances read-ahead until `now`.
    fn catch_up(&mut self, mechanism: &Mechanism, now: u64) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        mechanism.advance(&mut stream.cursor, now, stream.limit);
        let (index, end) = (stream.segment, stream.cursor.sector);
        self.fill(index, end);
    }

    fn fill(&mut self, index: usize, end: u64) {
        let holds = &mut self.segments[index].holds;
        holds.end = holds.end.max(end);
        let oldest = holds.end.saturating_sub(self.spec.segment_sectors);
        holds.start = holds.start.max(oldest);
    }

    fn limit_after(&self, end: u64) -> u64 {
        (end + self.spec.read_ahead).min(self.sectors)
    }

    /// Continues read-ahead, since a hit freed space.
    fn read_further(&mut self, mechanism: &Mechanism, index: usize, wanted: &BufferedRead) {
        let limit = self.limit_after(wanted.sectors.end);
        let Some(stream) = self
            .stream
            .as_mut()
            .filter(|stream| stream.segment == index)
        else {
            return;
        };
        if limit > stream.limit {
            if stream.cursor.sector == stream.limit {
                stream.cursor = mechanism.resume(stream.cursor, wanted.ready);
            }
            stream.limit = limit;
        }
    }

    /// Waits until the read-ahead reaches the requested sectors.
    fn wait_for_stream(&mut self, mechanism: &mut Mechanism, wanted: &BufferedRead) -> u64 {
        let index = self.stream.as_ref().map_or(0, |stream| stream.segment);
        self.read_further(mechanism, index, wanted);
        let Some(stream) = &mut self.stream else {
            return wanted.ready;
        };
        stream.limit = stream.limit.max(wanted.sectors.end);
        mechanism.take_over(&mut stream.cursor);
        let passed = mechanism.advance(&mut stream.cursor, u64::MAX, wanted.sectors.end);
        mechanism.follow(&stream.cursor);
        self.segments[index].used = self.stamp;
        self.segments[index].follows = wanted.sectors.end;
        self.fill(index, wanted.sectors.end);
        passed
    }

    fn stop(&mut self, mechanism: &mut Mechanism) {
        if let Some(stream) = self.stream.take() {
            mechanism.follow(&stream.cursor);
        }
    }

    fn miss(&mut self, mechanism: &mut Mechanism, wanted: &BufferedRead) -> u64 {
        let Range { start, end } = wanted.sectors;
        let follows = |segment: &BufferSegment| segment.used > 0 && segment.follows == start;
        let is_in_order = self.segments.iter().any(follows);
        let (run, cursor) = mechanism.transfer(wanted.ready, 0, start, end - start);
        let oldest = (0..self.segments.len()).min_by_key(|&index| self.segments[index].used);
        let index = oldest.unwrap_or(0);
        self.segments[index] = BufferSegment {
            holds: start..start,
            used: self.stamp,
            follows: end,
        };
        self.fill(index, end);
        self.stream = Some(ReadAhead {
            segment: index,
            cursor,
            limit: if is_in_order {
                self.limit_after(end)
            } else {
                self.limit_after(end)
                    .min(start + self.spec.segment_sectors)
                    .max(end)
            },
        });
        run.end.max(run.first + wanted.bus)
    }
}
