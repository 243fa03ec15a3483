//! Which disk of an array holds which byte.

/// RAID level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidLevel {
    /// Striped, without redundancy.
    Raid0,
    /// Striped over pairs of mirrors.
    Raid1,
    /// Striped, with a rotating parity unit in each stripe.
    Raid5,
}

/// Disks and the stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayLayout {
    /// RAID level.
    pub level: RaidLevel,
    pub disks: usize,
    /// Stripe unit, bytes.
    pub unit: u64,
}

/// The part of a request in one stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripeSegment {
    /// The data disk; of a mirror, the first.
    pub disk: usize,
    /// The parity disk; of a mirror, the second; without redundancy, the data disk.
    pub other: usize,
    /// The stripe, counted on each disk.
    pub stripe: u64,
    /// First byte on the disk.
    pub offset: u64,
    /// Number of bytes.
    pub len: u64,
}

impl ArrayLayout {
    /// Data units per stripe.
    pub const fn data_units(&self) -> usize {
        match self.level {
            RaidLevel::Raid0 => self.disks,
            RaidLevel::Raid1 => self.disks / 2,
            RaidLevel::Raid5 => self.disks - 1,
        }
    }

    /// Size of the array with disks of `disk` bytes.
    pub const fn size(&self, disk: u64) -> u64 {
        disk / self.unit * self.unit * self.data_units() as u64
    }

    /// A range of the array, unit by unit.
    pub fn pieces(&self, offset: u64, len: u64) -> Vec<StripeSegment> {
        let mut pieces = Vec::with_capacity((len / self.unit + 2) as usize);
        let (mut at, end) = (offset, offset + len);
        while at < end {
            let number = at / self.unit;
            let within = at % self.unit;
            let len = (self.unit - within).min(end - at);
            pieces.push(self.piece(number, within, len));
            at += len;
        }
        pieces
    }

    /// The parity disk of a stripe (RAID-5).
    pub const fn parity(&self, stripe: u64) -> usize {
        self.disks - 1 - (stripe % self.disks as u64) as usize
    }

    fn piece(&self, number: u64, within: u64, len: u64) -> StripeSegment {
        let data = self.data_units() as u64;
        let (stripe, place) = (number / data, (number % data) as usize);
        let (disk, other) = match self.level {
            RaidLevel::Raid0 => (place, place),
            RaidLevel::Raid1 => (2 * place, 2 * place + 1),
            RaidLevel::Raid5 => {
                // Left-symmetric: data start after the parity and wrap around.
                let parity = self.parity(stripe);
                ((parity + 1 + place) % self.disks, parity)
            }
        };
        StripeSegment {
            disk,
            other,
            stripe,
            offset: stripe * self.unit + within,
            len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_and_parity_never_share_a_disk_and_cover_all_of_them() {
        for disks in 3..8 {
            let layout = ArrayLayout {
                level: RaidLevel::Raid5,
                disks,
                unit: 1024,
            };
            let units = (disks * (disks - 1)) as u64;
            let mut places = std::collections::BTreeSet::new();
            for number in 0..units {
                let pieces = layout.pieces(number * 1024, 1024);
                let [piece] = pieces[..] else { panic!() };
                assert_ne!(piece.disk, piece.other);
                places.insert((piece.disk, piece.offset));
            }
            for stripe in 0..disks as u64 {
                places.insert((layout.parity(stripe), stripe * 1024));
            }
            assert_eq!(places.len(), disks * disks, "{disks} disks");
        }
    }

    #[test]
    fn ranges_are_cut_at_units() {
        let layout = ArrayLayout {
            level: RaidLevel::Raid0,
            disks: 2,
            unit: 1000,
        };
        let pieces = layout.pieces(1500, 1000);
        let found: Vec<_> = pieces.iter().map(|p| (p.disk, p.offset, p.len)).collect();
        assert_eq!(found, [(1, 500, 500), (0, 1000, 500)]);
        assert_eq!(layout.size(3500), 6000);
    }
}
