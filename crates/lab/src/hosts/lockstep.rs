//! Steps that all ranks take together, each on its own. Files are created, looked up and removed by
//! calls that are not part of a trial, so ranks agree before and after each step instead.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration as StdDuration;

use fleet::{ClockLine, FleetError, FleetGroup};
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::{Duration, Instant};

use super::ranks::Ranks;
use super::wire::{Note, from_bytes, to_bytes};
use crate::bench::BenchError;

/// Messages in a burst to read another host's clock before each step.
const QUESTIONS: u32 = 8;
/// Time from "all ready" to the step, within which all ranks must be notified.
const START_AHEAD: Duration = Duration::from_millis(5);
/// Additional time per rank.
const START_AHEAD_EACH: Duration = Duration::from_micros(50);
/// Interval of a busy rank's heartbeat.
const BEAT_EVERY: StdDuration = StdDuration::from_millis(500);
/// Interval for checking that rank 0 is still there.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Ranks {
    /// Rank 0's value, on all ranks.
    ///
    /// # Errors
    /// If rank 0 does not respond.
    pub fn from_leader<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T, BenchError> {
        let received = self.round(|group| group.broadcast(&to_bytes(own)))?;
        self.checked(from_bytes(0, &received))
    }

    /// Joins again after a run in which the ranks parted, with a value of rank 0.
    ///
    /// # Errors
    /// If rank 0 does not respond.
    pub fn meet_again<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T, BenchError> {
        self.stay();
        self.from_leader(own)
    }

    /// The largest number of all ranks; none if one of them has none.
    ///
    /// # Errors
    /// If a rank does not respond.
    pub fn furthest(&self, own: Option<u32>) -> Result<Option<u32>, BenchError> {
        // None is encoded as larger than any number, so that one rank's none wins.
        let own = own.map_or(u64::MAX, u64::from);
        let largest = self.agree(Ok(own), |all| Ok(all.into_iter().max()))?;
        Ok(largest.and_then(|it| u32::try_from(it).ok()))
    }

    /// Waits for the common start. Returns how late this rank is.
    ///
    /// # Errors
    /// If a rank does not respond.
    pub fn begin_together(&self) -> Result<Duration, BenchError> {
        let start = self.round(|group| match group.leads() {
            true => call_or_call_off(group).map(Some),
            false => await_call(group),
        });
        let start = start.and_then(|it| it.ok_or(BenchError::Served));
        let start = start.inspect_err(|_| self.part())?;
        let left = start.since(self.group().now());
        thread::sleep(left.to_std());
        Ok(self.group().now().since(start))
    }

    /// Does some work while sending heartbeats.
    pub fn beating<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            scope.spawn(move || {
                while is_done.recv_timeout(BEAT_EVERY) == Err(RecvTimeoutError::Timeout) {
                    self.beat();
                }
            });
            let worked = work();
            drop(done);
            worked
        })
    }

    /// Parts, after this rank removed its files. Rank 0 receives what could not be removed, a
    /// sentence each.
    ///
    /// # Errors
    /// If a rank does not respond.
    pub fn part_with(&self, left: &str) -> Result<Vec<String>, BenchError> {
        if self.has_parted() {
            return Ok(Vec::new());
        }
        let all = self.round(|group| group.gather(&to_bytes(&left)))?;
        self.part();
        let mut texts = Vec::new();
        for (rank, bytes) in (0..).zip(&all).skip(1) {
            let text: String = self.checked(from_bytes(rank, bytes))?;
            if !text.is_empty() {
                texts.push(format!("{}: {text}", self.name(rank)));
            }
        }
        Ok(texts)
    }
}

/// As [`call`]; if that fails, cancels the start everywhere.
fn call_or_call_off(group: &mut FleetGroup) -> Result<Instant, FleetError> {
    let called = call(group);
    if called.is_err() {
        group.note_all(&Note::CallOff.to_bytes())?;
    }
    called
}

/// Waits until all are ready, reads their clocks, and sends each its start.
fn call(group: &mut FleetGroup) -> Result<Instant, FleetError> {
    group.gather(&[])?;
    let ranks = group.share().ranks;
    let mut lines = Vec::with_capacity(ranks as usize);
    for rank in 1..ranks {
        let mut line = ClockLine::own();
        line.add(&group.read_clock(rank, QUESTIONS)?);
        lines.push(line);
    }
    let start = group.now() + START_AHEAD + START_AHEAD_EACH * u64::from(ranks);
    for (rank, line) in (1..).zip(&lines) {
        let start = line.there(start);
        group.note(rank, &Note::Go { start }.to_bytes())?;
    }
    Ok(start)
}

/// Reports that this rank is ready, and receives the start; none if it was cancelled.
fn await_call(group: &mut FleetGroup) -> Result<Option<Instant>, FleetError> {
    group.gather(&[])?;
    let begun = group.now();
    loop {
        let until = group.now() + LOOK_EVERY;
        match group.next_note(until)? {
            Some((rank, bytes)) => match Note::from_bytes(rank, &bytes)? {
                Note::Go { start } => return Ok(Some(start)),
                Note::CallOff => return Ok(None),
                _ => {
                    let what = "no start message".into();
                    return Err(FleetError::Unexpected { rank, what });
                }
            },
            None => group.silent_since(begun, &[0]).map_or(Ok(()), Err)?,
        }
        group.tick()?;
    }
}

#[cfg(test)]
mod tests {
    use crate::hosts::virtual_fleet::{HostClock, Latency, Servant, VirtualFleet};

    use super::super::ranks::TargetSharing;
    use super::*;

    /// Rank 0 of a thousand hosts with these numbers and different clocks, in virtual time.
    fn furthest(own: Option<u32>, received: impl Fn(u64) -> Option<u32>) -> Option<u32> {
        let latency = Latency {
            least: Duration::from_micros(20),
            more: Duration::from_micros(80),
        };
        let mut fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        for rank in 1..=1000_u64 {
            let clock = HostClock {
                ahead_ns: rank as i64 * 1000 - 500_000,
                drift_ppm: rank as f64 / 20.0 - 25.0,
            };
            let own = received(rank).map_or(u64::MAX, u64::from);
            let bytes = to_bytes(&Ok::<u64, (bool, String)>(own));
            let answer = move |_: &[u8]| bytes.clone();
            fleet = fleet.with(Servant { answer }, clock, Instant::NEVER);
        }
        let ranks = Ranks::new(Box::new(fleet), TargetSharing::Separate);
        ranks.from_leader(&0_u64).expect("a round");
        ranks.furthest(own).expect("a round")
    }

    /// At a stonewall all hosts learn the largest number, or that one of them stops.
    #[test]
    fn the_furthest_of_a_thousand_hosts_is_found() {
        let received = |rank: u64| Some(70_000 + (rank * 7919 % 1009) as u32);
        let largest = (1..=1000).filter_map(received).max();
        assert_eq!(furthest(Some(3), received), largest);
        assert_eq!(furthest(Some(90_000), received), Some(90_000));
        assert_eq!(furthest(None, received), None);
        assert_eq!(
            furthest(Some(3), |rank| received(rank).filter(|_| rank != 512)),
            None
        );
    }
}
