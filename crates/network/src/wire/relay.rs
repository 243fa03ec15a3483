//! The loop that forwards packets between the ends.

use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ends::{Ends, WireError};
use super::lane::{Lane, LaneSettings, LaneTally, PacketOutcome};
use crate::IsStopped;
use crate::patience::SLICE;

/// Larger than any packet of these interfaces.
const PACKET_BYTES_MAX: usize = 2048;
/// Packets taken from one end before the other gets its turn.
const BATCH: usize = 32;
/// A host answers within this time, unless it computes.
const ANSWER_MAX: Duration = Duration::from_millis(1);

/// Forwards packets between the ends until stopped. Returns the statistics per direction.
///
/// # Errors
/// If an interface fails.
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
        handed: [None; 2],
    };
    hurry();
    relay.run(is_stopped).map_err(WireError::Relay)?;
    Ok(relay.lanes.map(|lane| lane.tally))
}

/// Raises the thread's priority and timer precision as far as permitted, so that packets are not
/// late.
fn hurry() {
    let _ = rustix::process::nice(-20);
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

struct Relay<'a> {
    taps: [&'a File; 2],
    /// From the first end to the second, and back.
    lanes: [Lane; 2],
    begun: Instant,
    /// When the last packet for a host was due, and when it was delivered.
    handed: [Option<(Duration, Instant)>; 2],
}

impl Relay<'_> {
    fn run(&mut self, is_stopped: IsStopped<'_>) -> io::Result<()> {
        let mut looked = Instant::now();
        loop {
            self.wait()?;
            for from in 0..self.taps.len() {
                self.collect(from)?;
            }
            self.deliver()?;
            if looked.elapsed() >= SLICE {
                looked = Instant::now();
                if is_stopped() {
                    return Ok(());
                }
            }
        }
    }

    /// Delivers due packets, and takes the answers at once.
    fn deliver(&mut self) -> io::Result<()> {
        for from in 0..self.taps.len() {
            let to = 1 - from;
            while let Some((due, packet)) = self.lanes[from].arrive(self.begun.elapsed()) {
                self.handed[to] = Some((due, Instant::now()));
                // An interface that is down takes nothing, like a host that is switched off.
                let _ = self.taps[to].write(&packet);
                self.collect(to)?;
            }
        }
        Ok(())
    }

    /// When a host sent the packet being taken. A packet sent right after a delivery is taken for
    /// an answer (an acknowledgement, or data that its window now allows), and counts from when
    /// that delivery was due, so that scheduling delays of the relay do not lengthen round trips.
    fn sent_at(&self, host: usize) -> Duration {
        if let Some((due, handed)) = self.handed[host] {
            let since = handed.elapsed();
            if since < ANSWER_MAX {
                return due + since;
            }
        }
        self.begun.elapsed()
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

    /// Takes packets sent by a host.
    fn collect(&mut self, from: usize) -> io::Result<()> {
        let mut packet = [0; PACKET_BYTES_MAX];
        let mut tap = self.taps[from];
        for _ in 0..BATCH {
            match tap.read(&mut packet) {
                Ok(count) => {
                    let sent_at = self.sent_at(from);
                    let _: PacketOutcome = self.lanes[from].offer(sent_at, &packet[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
