//! Steps that all ranks take at once, each on its own: files are made, looked up and removed by
//! calls that go through no trial, so ranks agree before and after each step instead.

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

/// Questions in a burst by which another host's clock is read before each step.
const QUESTIONS: u32 = 8;
/// From "all ready" to the step: by then all ranks must have heard of it.
const START_AHEAD: Duration = Duration::from_millis(5);
/// The same more for each rank.
const START_AHEAD_EACH: Duration = Duration::from_micros(50);
/// How often a rank at work says that it is alive.
const BEAT_EVERY: StdDuration = StdDuration::from_millis(500);
/// How long a wait for rank 0 lasts before it is seen whether it is still there.
const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Ranks {
    /// The same value on all ranks: that of rank 0.
    ///
    /// # Errors
    /// When rank 0 is silent.
    pub fn from_leader<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T, BenchError> {
        let received = self.round(|group| group.broadcast(&to_bytes(own)))?;
        self.checked(from_bytes(0, &received))
    }

    /// Go on together after a run in which the ranks parted, with a value of rank 0.
    ///
    /// # Errors
    /// When rank 0 is silent.
    pub fn meet_again<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T, BenchError> {
        self.stay();
        self.from_leader(own)
    }

    /// The largest number of all ranks, on all of them; none when one of them has none.
    ///
    /// # Errors
    /// When a rank is silent.
    pub fn furthest(&self, own: Option<u32>) -> Result<Option<u32>, BenchError> {
        // None is larger than any number, so that one rank's is all ranks'.
        let own = own.map_or(u64::MAX, u64::from);
        let largest = self.agree(Ok(own), |all| Ok(all.into_iter().max()))?;
        Ok(largest.and_then(|it| u32::try_from(it).ok()))
    }

    /// Wait for the instant at which all ranks begin; by how much this one is late for it.
    ///
    /// # Errors
    /// When a rank is silent.
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

    /// Do some work, and say meanwhile that this rank is alive.
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

    /// Part, when everything was removed that this rank made. Rank 0 gets what could not be, a
    /// sentence each.
    ///
    /// # Errors
    /// When a rank is silent.
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

/// As [`call`]; where that fails, nobody begins.
fn call_or_call_off(group: &mut FleetGroup) -> Result<Instant, FleetError> {
    let called = call(group);
    if called.is_err() {
        group.note_all(&Note::CallOff.to_bytes())?;
    }
    called
}

/// Hear that all are here, read their clocks, and tell each when to begin.
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

/// Say that this rank is here, and hear when to begin; none when it was called off.
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

    /// Rank 0 of a thousand hosts that have come so far, with clocks of their own, in virtual time.
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

    /// At a stonewall all hosts learn the largest number, or that one of them does not go on.
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
