//! One direction of a link: what happens to each packet, in the caller's time.

use std::collections::VecDeque;
use std::time::Duration;

use random::{Purpose, Stream};

/// Ethernet overhead per packet: preamble, checksum and gap (IEEE 802.3).
const FRAME_BYTES: u64 = 24;
const NS_PER_SECOND: u128 = 1_000_000_000;

/// Settings of a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneSettings {
    /// From the last bit sent to the last bit received.
    pub delay: Duration,
    /// Bits per second; without it, packets take no time on the line.
    pub bits_per_second: Option<u64>,
    /// Share of packets lost, 0 to 1.
    pub loss: f64,
    /// Queue size in bytes; packets beyond it are dropped.
    pub queue_bytes: u64,
}

/// Packet statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTally {
    /// Packets carried.
    pub carried: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Packets lost by chance, as configured.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub dropped: u64,
    /// Packets delivered at the far end.
    pub arrived: u64,
    /// Total lateness of deliveries.
    pub late: Duration,
    /// Maximum lateness.
    pub late_max: Duration,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketOutcome {
    /// In transit.
    Taken,
    /// Lost by chance.
    Lost,
    /// The queue was full.
    Dropped,
}

/// One direction.
#[derive(Debug)]
pub struct Lane {
    settings: LaneSettings,
    chance: Stream,
    /// When the line has sent everything in the queue.
    free_at: Duration,
    under_way: VecDeque<(Duration, Vec<u8>)>,
    /// Statistics so far.
    pub tally: LaneTally,
}

impl Lane {
    /// An idle line; `number` and `seed` determine its losses.
    pub fn new(settings: LaneSettings, seed: u64, number: u64) -> Self {
        Self {
            settings,
            chance: Stream::new(seed, number, Purpose::Network),
            free_at: Duration::ZERO,
            under_way: VecDeque::new(),
            tally: LaneTally::default(),
        }
    }

    /// Offers a packet at `now`.
    pub fn offer(&mut self, now: Duration, packet: &[u8]) -> PacketOutcome {
        // The random draw is made for every packet, so that a full queue does not shift it.
        if self.chance.unit() < self.settings.loss {
            self.tally.lost += 1;
            return PacketOutcome::Lost;
        }
        let start = self.free_at.max(now);
        let waiting = self.bytes_in(start - now);
        if waiting > u128::from(self.settings.queue_bytes) {
            self.tally.dropped += 1;
            return PacketOutcome::Dropped;
        }
        self.free_at = start + self.time_of(packet.len() as u64 + FRAME_BYTES);
        let due = self.free_at + self.settings.delay;
        self.under_way.push_back((due, packet.to_vec()));
        self.tally.carried += 1;
        self.tally.bytes += packet.len() as u64;
        PacketOutcome::Taken
    }

    /// The next packet delivered by `now`, and when it was due.
    pub fn arrive(&mut self, now: Duration) -> Option<(Duration, Vec<u8>)> {
        self.next_due().filter(|due| *due <= now)?;
        let (due, packet) = self.under_way.pop_front()?;
        self.tally.arrived += 1;
        self.tally.late += now - due;
        self.tally.late_max = self.tally.late_max.max(now - due);
        Some((due, packet))
    }

    /// When the next packet arrives.
    pub fn next_due(&self) -> Option<Duration> {
        self.under_way.front().map(|(due, _)| *due)
    }

    fn time_of(&self, bytes: u64) -> Duration {
        let Some(rate) = self.settings.bits_per_second else {
            return Duration::ZERO;
        };
        let ns = u128::from(bytes) * 8 * NS_PER_SECOND / u128::from(rate.max(1));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Bytes that the line sends in a span.
    fn bytes_in(&self, span: Duration) -> u128 {
        let rate = self.settings.bits_per_second.unwrap_or(0);
        span.as_nanos() * u128::from(rate) / 8 / NS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn settings() -> LaneSettings {
        LaneSettings {
            delay: 10 * MS,
            bits_per_second: Some(10_000_000),
            loss: 0.0,
            queue_bytes: 64 << 10,
        }
    }

    #[test]
    fn packets_follow_each_other_at_the_rate_and_arrive_after_the_delay() {
        let mut lane = Lane::new(settings(), 1, 0);
        // 1226 plus 24 bytes are 10,000 bits: one millisecond.
        for _ in 0..3 {
            assert_eq!(lane.offer(MS, &[7; 1226]), PacketOutcome::Taken);
        }
        assert_eq!(lane.arrive(12 * MS - Duration::from_nanos(1)), None);
        for due in [12, 13, 14] {
            assert_eq!(lane.next_due(), Some(due * MS));
            assert_eq!(lane.arrive(due * MS), Some((due * MS, vec![7; 1226])));
        }
        assert_eq!(lane.next_due(), None);
        assert_eq!(lane.offer(100 * MS, &[7; 1226]), PacketOutcome::Taken);
        assert_eq!(lane.next_due(), Some(111 * MS));
    }

    #[test]
    fn what_is_handed_over_late_is_counted_and_told_when_it_was_due() {
        let mut lane = Lane::new(settings(), 1, 0);
        for _ in 0..2 {
            lane.offer(MS, &[7; 1226]);
        }
        for due in [12, 13] {
            assert_eq!(lane.arrive(15 * MS).map(|it| it.0), Some(due * MS));
        }
        let LaneTally {
            arrived,
            late,
            late_max,
            ..
        } = lane.tally;
        assert_eq!((arrived, late, late_max), (2, 5 * MS, 3 * MS));
    }

    #[test]
    fn a_full_queue_drops_and_drains() {
        let mut lane = Lane::new(settings(), 1, 0);
        let taken = (0..100).filter(|_| lane.offer(MS, &[0; 1226]) == PacketOutcome::Taken);
        // 64 KiB wait, and one packet is on the line.
        assert_eq!(taken.count(), 53);
        assert_eq!((lane.tally.carried, lane.tally.dropped), (53, 47));
        assert_eq!(lane.offer(20 * MS, &[0; 1226]), PacketOutcome::Taken);
    }

    #[test]
    fn without_a_rate_only_the_delay_counts() {
        let without = LaneSettings {
            bits_per_second: None,
            ..settings()
        };
        let mut lane = Lane::new(without, 1, 0);
        for _ in 0..1000 {
            assert_eq!(lane.offer(MS, &[0; 1500]), PacketOutcome::Taken);
        }
        assert_eq!(lane.next_due(), Some(11 * MS));
    }

    #[test]
    fn losses_are_as_many_as_asked_for_and_the_same_for_the_same_seed() {
        let lossy = LaneSettings {
            loss: 0.02,
            bits_per_second: None,
            ..settings()
        };
        let fates = |seed: u64| -> Vec<PacketOutcome> {
            let mut lane = Lane::new(lossy.clone(), seed, 0);
            (0..20_000).map(|_| lane.offer(MS, &[0; 60])).collect()
        };
        let lost = fates(7)
            .iter()
            .filter(|it| **it == PacketOutcome::Lost)
            .count();
        // 400 expected; four standard deviations are 79.
        assert!((321..480).contains(&lost), "{lost}");
        assert_eq!(fates(7), fates(7));
        assert_ne!(fates(7), fates(8));
    }
}
