//! Zones of a file with different access frequencies, as in fio's `random_distribution=zoned` has
//! them ("Fio HOWTO", `random_distribution`).

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a file that follows the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessZone {
    /// Percentage of the requests.
    pub percent: u32,
    /// Its length.
    pub span: ZoneSpan,
}

/// Length of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneSpan {
    /// Percentage of the file.
    Percent(u32),
    Bytes(u64),
}

/// The block range of the zone whose share contains a number below 100, in a file of `blocks`
/// blocks of `block` bytes. At least one block; no zone exceeds the file.
pub(crate) fn blocks_of(
    zones: &[AccessZone],
    drawn: u64,
    (blocks, block): (u64, u64),
) -> Range<u64> {
    let (mut share, mut percent, mut bytes) = (0, 0, 0);
    let mut begin = 0;
    for zone in zones {
        match zone.span {
            ZoneSpan::Percent(more) => percent += u64::from(more),
            ZoneSpan::Bytes(more) => bytes += more,
        }
        let end = blocks * percent / 100 + bytes / block.max(1);
        share += u64::from(zone.percent);
        if drawn < share {
            let begin = begin.min(blocks - 1);
            return begin..end.clamp(begin + 1, blocks);
        }
        begin = end;
    }
    0..blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(percent: u32, span: ZoneSpan) -> AccessZone {
        AccessZone { percent, span }
    }

    /// The example of fio's documentation: 60 % of accesses to the first 10 %, and so on.
    #[test]
    fn each_number_leads_to_the_zone_in_whose_share_it_lies() {
        let zones = [(60, 10), (30, 20), (8, 30), (2, 40)];
        let zones = zones.map(|(percent, span)| zone(percent, ZoneSpan::Percent(span)));
        for (drawn, expected) in [
            (0, 0..100),
            (59, 0..100),
            (60, 100..300),
            (89, 100..300),
            (90, 300..600),
            (97, 300..600),
            (98, 600..1000),
            (99, 600..1000),
        ] {
            assert_eq!(blocks_of(&zones, drawn, (1000, 4096)), expected, "{drawn}");
        }
    }

    #[test]
    fn zones_in_bytes_end_with_the_file() {
        let zones = [(60, 16 << 10), (40, 1 << 40)];
        let zones = zones.map(|(percent, span)| zone(percent, ZoneSpan::Bytes(span)));
        assert_eq!(blocks_of(&zones, 59, (8, 4096)), 0..4);
        assert_eq!(blocks_of(&zones, 60, (8, 4096)), 4..8);
        // Beyond the end of a file that is too short.
        assert_eq!(blocks_of(&zones, 60, (2, 4096)), 1..2);
        assert_eq!(blocks_of(&zones, 0, (1, 4096)), 0..1);
    }

    #[test]
    fn a_zone_shorter_than_a_block_has_one() {
        let zones = [(50, 1), (50, 99)].map(|(share, span)| zone(share, ZoneSpan::Percent(span)));
        assert_eq!(blocks_of(&zones, 0, (10, 4096)), 0..1);
        assert_eq!(blocks_of(&zones, 50, (10, 4096)), 0..10);
    }
}
