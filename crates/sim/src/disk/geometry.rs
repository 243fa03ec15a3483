//! Where a sector is, and when it passes under the head.

/// Cylinders with the same number of sectors on each track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneSpec {
    pub cylinders: u32,
    /// Sectors per track.
    pub sectors: u32,
}

/// A position on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskAddress {
    /// Cylinder, from the outer edge.
    pub cylinder: u32,
    /// Surface.
    pub head: u32,
    /// Sector of the track.
    pub sector: u32,
    /// Sectors on this track.
    pub sectors: u32,
}

/// The layout of a disk. All angles are times within the rotation period.
#[derive(Clone, Debug)]
pub struct Geometry {
    zones: Vec<Zone>,
    heads: u32,
    cylinders: u32,
    sectors: u64,
    /// Rotation time, ns.
    pub period: u64,
    track_skew: u64,
    /// Angle from a cylinder's first track to that of the next.
    cylinder_step: u64,
    interleave: u32,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    first_cylinder: u32,
    first_sector: u64,
    sectors: u32,
    sectors_per_cylinder: u64,
}

/// Parameters of a geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskLayout {
    /// Zones from the outer edge inwards, at least one.
    pub zones: Vec<ZoneSpec>,
    /// Surfaces.
    pub heads: u32,
    /// Rotation time, ns.
    pub period: u64,
    /// Skew between tracks of a cylinder, ns.
    pub track_skew: u64,
    /// Skew from the last track of a cylinder to the first of the next, ns.
    pub cylinder_skew: u64,
    /// Interleave: every n-th slot of a track holds the next sector; 1 for none.
    pub interleave: u32,
}

impl DiskLayout {
    pub fn sectors(&self) -> u64 {
        let tracks = self.zones.iter();
        let sectors = tracks.map(|zone| u64::from(zone.cylinders) * u64::from(zone.sectors));
        sectors.sum::<u64>() * u64::from(self.heads)
    }
}

impl Geometry {
    /// The geometry of a layout.
    pub fn new(layout: &DiskLayout) -> Self {
        let mut zones = Vec::with_capacity(layout.zones.len());
        let (mut first_cylinder, mut first_sector) = (0, 0);
        for zone in &layout.zones {
            let sectors_per_cylinder = u64::from(zone.sectors) * u64::from(layout.heads);
            assert!(sectors_per_cylinder > 0, "a cylinder holds sectors");
            zones.push(Zone {
                first_cylinder,
                first_sector,
                sectors: zone.sectors,
                sectors_per_cylinder,
            });
            first_cylinder += zone.cylinders;
            first_sector += u64::from(zone.cylinders) * sectors_per_cylinder;
        }
        let step = layout.cylinder_skew + u64::from(layout.heads - 1) * layout.track_skew;
        Self {
            zones,
            heads: layout.heads,
            cylinders: first_cylinder,
            sectors: first_sector,
            period: layout.period,
            track_skew: layout.track_skew % layout.period,
            cylinder_step: step % layout.period,
            interleave: layout.interleave,
        }
    }

    pub const fn sectors(&self) -> u64 {
        self.sectors
    }

    pub const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Whether consecutive sectors are not adjacent on a track.
    pub const fn is_interleaved(&self) -> bool {
        self.interleave > 1
    }

    /// Position of a sector.
    pub fn place(&self, sector: u64) -> DiskAddress {
        let after = match self.zones.len() {
            1 => 1,
            _ => self
                .zones
                .partition_point(|zone| zone.first_sector <= sector),
        };
        let zone = &self.zones[after - 1];
        let within = sector - zone.first_sector;
        let cylinder = within / zone.sectors_per_cylinder;
        let rest = (within - cylinder * zone.sectors_per_cylinder) as u32;
        let head = rest / zone.sectors;
        DiskAddress {
            cylinder: zone.first_cylinder + cylinder as u32,
            head,
            sector: rest - head * zone.sectors,
            sectors: zone.sectors,
        }
    }

    /// The first sector of the next track; after the last track, the first of all.
    pub fn next_track(&self, place: DiskAddress) -> DiskAddress {
        let (cylinder, head) = if place.head + 1 < self.heads {
            (place.cylinder, place.head + 1)
        } else {
            ((place.cylinder + 1) % self.cylinders, 0)
        };
        let after = self
            .zones
            .partition_point(|zone| zone.first_cylinder <= cylinder);
        DiskAddress {
            cylinder,
            head,
            sector: 0,
            sectors: self.zones[after - 1].sectors,
        }
    }

    /// Angle at which a sector starts, ns of the period.
    pub fn angle(&self, place: DiskAddress) -> u64 {
        let skew = u64::from(place.cylinder) * self.cylinder_step
            + u64::from(place.head) * self.track_skew;
        (skew + self.slot_start(self.slot(place), place.sectors)) % self.period
    }

    /// Time to transfer `count` sectors of one track, from `place` on, once the first is under the
    /// head.
    pub fn sweep(&self, place: DiskAddress, count: u32) -> u64 {
        if self.interleave == 1 {
            let last = place.sector + count;
            return self.slot_start(last, place.sectors)
                - self.slot_start(place.sector, place.sectors);
        }
        if count == 0 {
            return 0;
        }
        let one = self.slot_start(1, place.sectors);
        let mut at = self.slot_start(self.slot(place), place.sectors);
        let begin = at;
        at += one;
        for sector in place.sector + 1..place.sector + count {
            let slot = self.slot(DiskAddress { sector, ..place });
            let angle = self.slot_start(slot, place.sectors);
            at += (angle + self.period - at % self.period) % self.period + one;
        }
        at - begin
    }

    fn slot(&self, place: DiskAddress) -> u32 {
        if self.interleave == 1 {
            return place.sector;
        }
        let stretched = u64::from(place.sector) * u64::from(self.interleave);
        let turns = stretched / u64::from(place.sectors);
        // If the interleave divides the track, each rotation starts one slot later.
        let shift = if place.sectors.is_multiple_of(self.interleave) {
            turns
        } else {
            0
        };
        ((stretched + shift) % u64::from(place.sectors)) as u32
    }

    const fn slot_start(&self, slot: u32, sectors: u32) -> u64 {
        slot as u64 * self.period / sectors as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(interleave: u32) -> Geometry {
        let zone = |cylinders, sectors| ZoneSpec { cylinders, sectors };
        Geometry::new(&DiskLayout {
            zones: vec![zone(10, 20), zone(5, 12)],
            heads: 3,
            period: 1_000_000,
            track_skew: 100_000,
            cylinder_skew: 250_000,
            interleave,
        })
    }

    #[test]
    fn every_sector_has_a_place_of_its_own_in_order() {
        let geometry = geometry(1);
        assert_eq!(geometry.sectors(), 10 * 60 + 5 * 36);
        let mut last = geometry.place(0);
        for sector in 1..geometry.sectors() {
            let place = geometry.place(sector);
            let expected = if last.sector + 1 < last.sectors {
                DiskAddress {
                    sector: last.sector + 1,
                    ..last
                }
            } else {
                geometry.next_track(last)
            };
            assert_eq!(place, expected, "sector {sector}");
            last = place;
        }
        assert_eq!(geometry.next_track(last).cylinder, 0);
    }

    #[test]
    fn skew_adds_up_over_tracks_and_cylinders() {
        let geometry = geometry(1);
        let first = |sector| geometry.angle(geometry.place(sector));
        assert_eq!([first(0), first(20), first(40)], [0, 100_000, 200_000]);
        assert_eq!(first(60), 450_000, "the next cylinder");
        assert_eq!(first(5), 250_000, "a quarter of a turn");
    }

    #[test]
    fn interleaved_sectors_fill_every_slot_once_and_need_more_turns() {
        let geometry = geometry(2);
        let slots: std::collections::BTreeSet<u64> = (0..20)
            .map(|sector| geometry.angle(geometry.place(sector)))
            .collect();
        assert_eq!(slots.len(), 20);
        let turns = geometry.sweep(geometry.place(0), 20) as f64 / 1e6;
        assert!((1.9..=2.05).contains(&turns), "{turns}");
    }
}
