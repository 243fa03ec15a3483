//! Arm and platters: what it takes to come to a sector and to move data under the head.

use crate::disk::geometry::{Geometry, Place};

/// The moving parts of a disk.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Where sectors lie.
    pub geometry: Geometry,
    seeks: Vec<u64>,
    head_switch: u64,
    cylinder_switch: u64,
    /// The angle of the platters at the start of time, ns of the period.
    phase: u64,
    /// Where the arm is.
    at: Place,
}

/// Data moved under the head, in ns since the start of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// When the first sector came under the head.
    pub first: u64,
    /// When the last one had passed.
    pub end: u64,
}

/// A place that moves on with the platters, sector after sector.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// The next sector.
    pub sector: u64,
    place: Place,
    /// When it comes under the head.
    clock: u64,
}

impl Mechanism {
    /// At rest at the outer edge.
    #[must_use]
    pub fn new(
        geometry: Geometry,
        seeks: Vec<u64>,
        head_switch: u64,
        cylinder_switch: u64,
        phase: u64,
    ) -> Self {
        let at = geometry.place(0);
        Self {
            phase: phase % geometry.period,
            geometry,
            seeks,
            head_switch,
            cylinder_switch,
            at,
        }
    }

    /// How long the arm takes to the track of `place`.
    #[must_use]
    pub fn seek(&self, place: Place) -> u64 {
        if place.cylinder != self.at.cylinder {
            self.seeks[place.cylinder.abs_diff(self.at.cylinder) as usize]
        } else if place.head != self.at.head {
            self.head_switch
        } else {
            0
        }
    }

    /// Seek to a sector from `now` on, wait for it, and move `count` sectors.
    pub fn transfer(&mut self, now: u64, settle: u64, first: u64, count: u64) -> (Run, Cursor) {
        let place = self.geometry.place(first);
        let there = now + self.seek(place) + settle;
        let begin = there + self.wait(there, place);
        let mut cursor = Cursor {
            sector: first,
            place,
            clock: begin,
        };
        let end = self.advance(&mut cursor, u64::MAX, first + count);
        self.at = cursor.place;
        (Run { first: begin, end }, cursor)
    }

    /// A cursor that begins at `sector` as soon as it comes round after `now`.
    #[must_use]
    pub fn resume(&self, cursor: Cursor, now: u64) -> Cursor {
        let mut cursor = Cursor {
            clock: now,
            ..cursor
        };
        if cursor.place.sector == cursor.place.sectors {
            self.cross(&mut cursor);
        } else {
            cursor.clock += self.wait(now, cursor.place);
        }
        cursor
    }

    /// Move a cursor on to the sector `limit`, or to as many whole sectors as pass by `until`.
    /// Returns when the last one had passed.
    pub fn advance(&self, cursor: &mut Cursor, until: u64, limit: u64) -> u64 {
        let mut end = cursor.clock;
        while cursor.sector < limit {
            if cursor.place.sector == cursor.place.sectors {
                self.cross(cursor);
            }
            let place = cursor.place;
            let left = u64::from(place.sectors - place.sector).min(limit - cursor.sector) as u32;
            let whole = self.geometry.sweep(place, left);
            if cursor.clock.saturating_add(whole) > until {
                let passed = self.fitting(place, left, until.saturating_sub(cursor.clock));
                cursor.clock += self.geometry.sweep(place, passed);
                cursor.sector += u64::from(passed);
                cursor.place.sector += passed;
                return cursor.clock;
            }
            cursor.clock += whole;
            cursor.sector += u64::from(left);
            end = cursor.clock;
            cursor.place.sector += left;
        }
        end
    }

    /// On to the next track. Not before its first sector is wanted: until then the arm stays.
    fn cross(&self, cursor: &mut Cursor) {
        let next = self.geometry.next_track(cursor.place);
        let switch = if next.cylinder == cursor.place.cylinder {
            self.head_switch
        } else {
            self.cylinder_switch
        };
        let there = cursor.clock + switch;
        cursor.clock = there + self.wait(there, next);
        cursor.place = next;
    }

    /// The arm is where a cursor took it.
    pub const fn follow(&mut self, cursor: &Cursor) {
        self.at = cursor.place;
    }

    /// The cylinder under the arm.
    #[must_use]
    pub const fn cylinder(&self) -> u32 {
        self.at.cylinder
    }

    fn wait(&self, now: u64, place: Place) -> u64 {
        let period = self.geometry.period;
        let under = (now + self.phase) % period;
        let wanted = self.geometry.angle(place);
        if wanted >= under {
            wanted - under
        } else {
            wanted + period - under
        }
    }

    /// How many of `count` sectors pass in `span`.
    fn fitting(&self, place: Place, count: u32, span: u64) -> u32 {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.geometry.sweep(place, middle) <= span {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}
