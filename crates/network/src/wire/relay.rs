//! The loop that carries packets from one end to the other.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ends::{Ends, WireError};
use super::lane::{Lane, LaneSettings, LaneTally, Offer};
use crate::IsStopped;
use crate::patience::SLICE;

/// Larger than any packet of these interfaces.
const PACKET_BYTES_MAX: usize = 2048;
/// Packets taken from one end before the other has its turn.
const BATCH: usize = 32;

/// Carry packets between the ends until somebody stops it. Returns what became of them, per
/// direction.
///
/// # Errors
/// When an interface fails.
pub fn relay(
    ends: &Ends,
    settings: &LaneSettings,
    seed: u64,
    is_stopped: IsStopped<'_>,
) -> Result<[LaneTally; 2], WireError> {
    let [first, second] = &ends.taps[..] else {
        return Err(WireError::Relay(io::ErrorKind::NotConnected.into()));
    };
    let lane = |number| Lane::new(settings.clone(), seed, number);
    let mut relay = Relay {
        taps: [first, second],
        lanes: [lane(0), lane(1)],
        begun: Instant::now(),
    };
    hurry();
    relay.run(is_stopped).map_err(WireError::Relay)?;
    Ok(relay.lanes.map(|lane| lane.tally))
}

/// A link is late for nobody: before all others where the system lets us, else as it comes.
fn hurry() {
    let _ = rustix::process::nice(-20);
}

struct Relay<'a> {
    taps: [&'a File; 2],
    /// From the first end to the second, and back.
    lanes: [Lane; 2],
    begun: Instant,
}

impl Relay<'_> {
    fn run(&mut self, is_stopped: IsStopped<'_>) -> io::Result<()> {
        let mut looked = Instant::now();
        loop {
            self.deliver();
            self.wait()?;
            self.collect()?;
            if looked.elapsed() >= SLICE {
                looked = Instant::now();
                if is_stopped() {
                    return Ok(());
                }
            }
        }
    }

    fn deliver(&mut self) {
        let now = self.begun.elapsed();
        for (lane, mut tap) in self.lanes.iter_mut().zip([self.taps[1], self.taps[0]]) {
            while let Some(packet) = lane.arrive(now) {
                // An interface that is down takes nothing, as a host that is switched off.
                let _ = tap.write(&packet);
            }
        }
    }

    fn wait(&self) -> io::Result<()> {
        let now = self.begun.elapsed();
        let dues = self.lanes.iter().filter_map(Lane::next_due);
        let pause = dues
            .map(|due| due.saturating_sub(now))
            .fold(SLICE, Duration::min);
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(pause.subsec_nanos()),
        };
        let mut polled = self
            .taps
            .map(|tap| PollFd::from_borrowed_fd(tap.as_fd(), PollFlags::IN));
        match poll(&mut polled, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn collect(&mut self) -> io::Result<()> {
        let mut packet = [0; PACKET_BYTES_MAX];
        for (lane, mut tap) in self.lanes.iter_mut().zip(self.taps) {
            for _ in 0..BATCH {
                match tap.read(&mut packet) {
                    Ok(count) => {
                        let _: Offer = lane.offer(self.begun.elapsed(), &packet[..count]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
