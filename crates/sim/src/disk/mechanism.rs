//! Arm and platters: the time to reach a sector and to transfer data under the head.

use std::collections::BTreeMap;

use workload::ClientId;

use crate::disk::geometry::{DiskAddress, Geometry};

/// Whether clients move the arm away from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeekInterference {
    /// One arm, which starts from wherever the last command left it.
    #[default]
    On,
    /// Hypothetical: each client's seeks start where its own last one ended. Everything else stays:
    /// one command at a time, rotating platters, one buffer. The difference is the cost of
    /// interference; the rest is queueing.
    Off,
}

/// The moving parts of a disk.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Layout of sectors.
    pub geometry: Geometry,
    seeks: Vec<u64>,
    head_switch: u64,
    cylinder_switch: u64,
    /// Angle of the platters at the start of time, ns of the period.
    phase: u64,
    /// Position of the arm.
    at: DiskAddress,
    /// The client for whom it moves.
    mover: Option<ClientId>,
    /// Where each client left the arm, if clients do not interfere.
    own: Option<BTreeMap<Option<ClientId>, DiskAddress>>,
}

/// A transfer under the head, in ns since the start of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaTransfer {
    /// When the first sector came under the head.
    pub first: u64,
    /// When the last sector had passed.
    pub end: u64,
}

/// A position that moves on with the platters, sector by sector.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// The next sector.
    pub sector: u64,
    place: DiskAddress,
    /// The client for whom the arm moves along.
    mover: Option<ClientId>,
    /// When it comes under the head.
    clock: u64,
}

impl Mechanism {
    /// Idle at the outer edge.
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
            mover: None,
            own: None,
        }
    }

    /// Sets whether clients interfere.
    #[must_use]
    pub fn with_interference(mut self, interference: SeekInterference) -> Self {
        self.own = (interference == SeekInterference::Off).then(BTreeMap::new);
        self
    }

    /// Sets the client of the following work.
    pub fn work_for(&mut self, client: Option<ClientId>) {
        self.mover = client;
        self.at = self.place_of(client);
    }

    /// Position of the arm for `client`.
    fn place_of(&self, client: Option<ClientId>) -> DiskAddress {
        let own = self.own.as_ref().and_then(|own| own.get(&client));
        *own.unwrap_or(&self.at)
    }

    /// Seek time to the track of `place`.
    pub fn seek(&self, place: DiskAddress) -> u64 {
        if place.cylinder != self.at.cylinder {
            self.seeks[place.cylinder.abs_diff(self.at.cylinder) as usize]
        } else if place.head != self.at.head {
            self.head_switch
        } else {
            0
        }
    }

    /// Seeks to a sector from `now` on, waits for it, and transfers `count` sectors.
    pub fn transfer(
        &mut self,
        now: u64,
        settle: u64,
        first: u64,
        count: u64,
    ) -> (MediaTransfer, Cursor) {
        let place = self.geometry.place(first);
        let there = now + self.seek(place) + settle;
        let begin = there + self.wait(there, place);
        let mut cursor = Cursor {
            sector: first,
            place,
            mover: self.mover,
            clock: begin,
        };
        let end = self.advance(&mut cursor, u64::MAX, first + count);
        self.follow(&cursor);
        (MediaTransfer { first: begin, end }, cursor)
    }

    /// A cursor that starts at `sector` as soon as it comes round after `now`.
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

    /// Advances a cursor to the sector `limit`, or by the whole sectors that pass by `until`.
    /// Returns when the last one had passed.
    pub fn advance(&self, cursor: &mut Cursor, until: u64, limit: u64) -> u64 {
        let mut end = cursor.clock;
        while cursor.sector < limit {
            if cursor.place.sector == cursor.place.sectors {
                self.cross(cursor);
            } else if self.geometry.is_interleaved() {
                cursor.clock += self.wait(cursor.clock, cursor.place);
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

    /// Moves on to the next track, but not before its first sector is needed.
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

    /// Moves the arm to where a cursor took it; for clients other than the current one only if they
    /// share it.
    pub fn follow(&mut self, cursor: &Cursor) {
        if let Some(own) = &mut self.own {
            own.insert(cursor.mover, cursor.place);
            if cursor.mover != self.mover {
                return;
            }
        }
        self.at = cursor.place;
    }

    /// Continues a cursor for the current client.
    pub const fn take_over(&self, cursor: &mut Cursor) {
        cursor.mover = self.mover;
    }

    /// The cylinder under the arm, for `client`.
    pub fn cylinder(&self, client: Option<ClientId>) -> u32 {
        self.place_of(client).cylinder
    }

    fn wait(&self, now: u64, place: DiskAddress) -> u64 {
        let period = self.geometry.period;
        let under = (now + self.phase) % period;
        let wanted = self.geometry.angle(place);
        if wanted >= under {
            wanted - under
        } else {
            wanted + period - under
        }
    }

    /// How many of `count` sectors pass within `span`.
    fn fitting(&self, place: DiskAddress, count: u32, span: u64) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::geometry::{DiskLayout, ZoneSpec};
    use crate::disk::seek::SeekCurve;
    use random::{Purpose, Stream};

    const PERIOD: u64 = 13_333_333;

    /// Three zones with odd numbers of sectors, and skews that do not match the switches.
    fn mechanism(interleave: u32) -> Mechanism {
        let zone = |cylinders, sectors| ZoneSpec { cylinders, sectors };
        let geometry = Geometry::new(&DiskLayout {
            zones: vec![zone(40, 97), zone(30, 61), zone(50, 37)],
            heads: 3,
            period: PERIOD,
            track_skew: 1_500_000,
            cylinder_skew: 2_700_000,
            interleave,
        });
        let step = SeekCurve::Steps {
            step: 50_000.0,
            settle: 1e6,
        };
        let seeks = step.table(geometry.cylinders());
        Mechanism::new(geometry, seeks, 1_000_000, 3_000_000, 4_444_444)
    }

    /// Sector by sector: waits for each until it comes round.
    fn slowly(mechanism: &Mechanism, now: u64, first: u64, count: u64) -> (u64, u64) {
        let geometry = &mechanism.geometry;
        let mut now = now + mechanism.seek(geometry.place(first));
        let (mut begin, mut track) = (None, geometry.place(first));
        for sector in first..first + count {
            let place = geometry.place(sector);
            if (place.cylinder, place.head) != (track.cylinder, track.head) {
                let is_near = place.cylinder == track.cylinder;
                now += if is_near { 1_000_000 } else { 3_000_000 };
                track = place;
            }
            let under = (now + 4_444_444) % PERIOD;
            now += (geometry.angle(place) + PERIOD - under) % PERIOD;
            begin = begin.or(Some(now));
            now += geometry.sweep(place, 1);
        }
        (begin.unwrap_or(now), now)
    }

    #[test]
    fn a_transfer_is_what_sector_by_sector_comes_to() {
        let mut mechanism = mechanism(1);
        let mut stream = Stream::new(3, 0, Purpose::Device);
        let (mut now, sectors) = (0, mechanism.geometry.sectors());
        for round in 0..3000 {
            let count = 1 + stream.below(400);
            let first = stream.below(sectors - count);
            let expected = slowly(&mechanism, now, first, count);
            let (run, _) = mechanism.transfer(now, 0, first, count);
            assert_eq!(
                (run.first, run.end),
                expected,
                "round {round}: {first}, {count}"
            );
            now = run.end + stream.below(30_000_000);
        }
    }

    #[test]
    fn a_cursor_that_is_looked_at_often_is_where_it_would_be_anyway() {
        for interleave in [1, 2] {
            let mut mechanism = mechanism(interleave);
            let (_, begun) = mechanism.transfer(0, 0, 11_000, 1);
            let (mut often, mut once) = (begun, begun);
            for step in 1..2000 {
                mechanism.advance(&mut often, 50_000_000 + step * 77_777, 11_700);
            }
            mechanism.advance(&mut once, 50_000_000 + 1999 * 77_777, 11_700);
            assert_eq!(often.sector, once.sector, "interleave {interleave}");
            assert!(once.sector > 11_400, "{}", once.sector);
        }
    }
}
