//! One plain TCP stream between our own sender and receiver: the throughput of window and link.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use drivers::AlignedBuffer;

use crate::IsStopped;
use crate::faults::cause_of;
use crate::http::thread_cpu;
use crate::name_space::{NameSpaceError, run_in};
use crate::patience::{Patience, WaitError, is_silence};
use crate::socket::{self, SocketOptions};

/// A planned stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPlan {
    /// The receiver's own address; the system chooses the port.
    pub receiver: IpAddr,
    /// Network namespace of the receiver; the current one if absent.
    pub receiver_space: Option<String>,
    /// Network namespace of the sender; the current one if absent.
    pub sender_space: Option<String>,
    pub bytes: u64,
    /// Buffer size on both sides.
    pub buffer: usize,
    /// Window of the receiver, and congestion control of the sender.
    pub socket: SocketOptions,
    /// Maximum silence.
    pub timeout: Duration,
}

/// Result of a stream.
#[derive(Clone, Debug, Default)]
pub struct StreamOutcome {
    /// Bytes that reached the receiver.
    pub bytes: u64,
    /// From the start of connecting to the last byte at the receiver.
    pub elapsed: Duration,
    /// Round-trip time of connecting, measured by the sender's system: small packets, an idle link.
    pub idle_round_trip: Duration,
    /// Mean round-trip time as seen by the sender, sampled every 100 ms and at the end.
    pub round_trip: Duration,
    /// CPU time of the sender.
    pub sender_cpu: Duration,
    /// CPU time of the receiver.
    pub receiver_cpu: Duration,
    /// Why it was incomplete.
    pub fault: Option<String>,
    /// Whether it was stopped early.
    pub is_stopped: bool,
}

/// Why it could not start.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// A namespace cannot be entered.
    #[error(transparent)]
    NameSpace(#[from] NameSpaceError),
    /// A thread could not be started.
    #[error("cannot start a thread for the receiver: {0}")]
    Thread(String),
    /// The receiver cannot use the address.
    #[error("cannot listen on {address}: {cause}. It must be an address of the receiver's side")]
    Listen {
        /// As given.
        address: IpAddr,
        /// The system's text.
        cause: String,
    },
}

/// Sends one stream.
///
/// # Errors
/// If sender or receiver cannot be set up. Failures of the stream are in the outcome.
///
/// # Panics
/// Never, except for a bug here.
pub fn send_stream(
    plan: &StreamPlan,
    is_stopped: IsStopped<'_>,
) -> Result<StreamOutcome, StreamError> {
    let patience = Patience {
        timeout: plan.timeout,
        is_stopped,
    };
    // A failed sender must not leave the receiver waiting.
    let is_alone = AtomicBool::new(false);
    let is_over = || is_stopped() || is_alone.load(Ordering::Relaxed);
    let (sender, port) = channel();
    thread::scope(|scope| {
        let receiver = thread::Builder::new().spawn_scoped(scope, || {
            let sender = sender;
            let patience = Patience {
                is_stopped: &is_over,
                ..patience
            };
            run_in(plan.receiver_space.as_deref(), || {
                receive(plan, patience, &sender)
            })
        });
        let receiver = receiver.map_err(|error| StreamError::Thread(cause_of(&error)))?;
        let sent = run_in(plan.sender_space.as_deref(), move || {
            send(plan, patience, &port)
        });
        let has_failed = sent.as_ref().map_or(true, |sent| sent.ended.is_some());
        is_alone.store(has_failed, Ordering::Relaxed);
        let received = match receiver.join() {
            Ok(received) => received,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let received = received?.map_err(|error| StreamError::Listen {
            address: plan.receiver,
            cause: cause_of(&error),
        })?;
        Ok(sum_up(plan, &sent?, &received))
    })
}

#[derive(Debug)]
struct Sent {
    begun: Instant,
    idle_round_trip: Duration,
    /// Sum and number of round-trip samples.
    round_trips: (Duration, u32),
    cpu: Duration,
    ended: Option<WaitError>,
}

#[derive(Debug)]
struct Received {
    bytes: u64,
    last: Instant,
    cpu: Duration,
    ended: Option<WaitError>,
}

fn sum_up(plan: &StreamPlan, sent: &Sent, received: &Received) -> StreamOutcome {
    let described = |who: &str, wait_error: &WaitError| match wait_error {
        WaitError::TimedOut => Some(format!("{who}: nothing moved within {:?}", plan.timeout)),
        WaitError::Failed(error) => Some(format!("{who}: {}", cause_of(error))),
        WaitError::Stopped => None,
    };
    let is_short = received.bytes < plan.bytes;
    let short = || format!("{} of {} bytes came", received.bytes, plan.bytes);
    let sender = sent.ended.as_ref();
    let receiver = received.ended.as_ref();
    let fault = sender
        .and_then(|it| described("sender", it))
        .or_else(|| receiver.and_then(|it| described("receiver", it)));
    // A receiver also stops if the sender failed.
    let is_stopped = matches!(sender.or(receiver), Some(WaitError::Stopped));
    StreamOutcome {
        bytes: received.bytes,
        elapsed: received.last.saturating_duration_since(sent.begun),
        idle_round_trip: sent.idle_round_trip,
        round_trip: sent.round_trips.0 / sent.round_trips.1.max(1),
        sender_cpu: sent.cpu,
        receiver_cpu: received.cpu,
        fault: fault.or_else(|| (is_short && !is_stopped).then(short)),
        is_stopped,
    }
}

fn receive(
    plan: &StreamPlan,
    patience: Patience<'_>,
    sender: &Sender<u16>,
) -> io::Result<Received> {
    let address = SocketAddr::new(plan.receiver, 0);
    let listener = socket::listen(&address, &plan.socket)?;
    let port = listener.local_addr()?.port();
    let mut received = Received {
        bytes: 0,
        last: Instant::now(),
        cpu: Duration::ZERO,
        ended: None,
    };
    // Without a sender nobody will connect either.
    let _ = sender.send(port);
    let accept = || {
        patience.attempt(|| {
            socket::wait_until_readable(&listener)?;
            listener.accept()
        })
    };
    let accepted = accept().and_then(|_| accept());
    let cpu_begun = thread_cpu();
    match accepted {
        Ok((stream, _)) => {
            patience.prepare(&stream)?;
            received.ended = drain(plan, stream, patience, &mut received).err();
        }
        Err(wait_error) => received.ended = Some(wait_error),
    }
    received.cpu = thread_cpu().saturating_sub(cpu_begun);
    Ok(received)
}

fn drain(
    plan: &StreamPlan,
    mut stream: TcpStream,
    patience: Patience<'_>,
    received: &mut Received,
) -> Result<(), WaitError> {
    let memory = AlignedBuffer::zeroed(plan.buffer);
    let mut memory = memory.map_err(|error| WaitError::Failed(error.into()))?;
    let buffer = &mut memory.as_mut_slice()[..plan.buffer];
    loop {
        match patience.attempt(|| stream.read(buffer))? {
            0 => return Ok(()),
            count => received.bytes += count as u64,
        }
        received.last = Instant::now();
        plan.socket
            .hold_window(&stream)
            .map_err(WaitError::Failed)?;
    }
}

fn send(plan: &StreamPlan, patience: Patience<'_>, port: &Receiver<u16>) -> Sent {
    let mut buffer = vec![0; plan.buffer];
    drivers::fill_incompressible(&mut buffer, plan.bytes);
    let cpu_begun = thread_cpu();
    let mut sent = Sent {
        begun: Instant::now(),
        idle_round_trip: Duration::ZERO,
        round_trips: (Duration::ZERO, 0),
        cpu: Duration::ZERO,
        ended: None,
    };
    let Ok(port) = port.recv() else {
        // The receiver reports its own failure.
        sent.ended = Some(WaitError::Failed(io::ErrorKind::NotConnected.into()));
        return sent;
    };
    let address = SocketAddr::new(plan.receiver, port);
    // The receiver's window should be the limit, not the sender's buffer.
    let options = SocketOptions {
        window: None,
        ..plan.socket.clone()
    };
    // A first connection without data: an Ethernet may have to resolve the receiver's address.
    if let Err(wait_error) = socket::connect(&address, &options, &patience) {
        sent.ended = Some(wait_error);
        return sent;
    }
    sent.begun = Instant::now();
    sent.ended = match socket::connect(&address, &options, &patience) {
        Ok(stream) => pour(plan, stream, &buffer, patience, &mut sent).err(),
        Err(wait_error) => Some(wait_error),
    };
    sent.cpu = thread_cpu().saturating_sub(cpu_begun);
    sent
}

fn pour(
    plan: &StreamPlan,
    mut stream: TcpStream,
    buffer: &[u8],
    patience: Patience<'_>,
    sent: &mut Sent,
) -> Result<(), WaitError> {
    sent.idle_round_trip = sys::round_trip(stream.as_fd()).map_err(WaitError::Failed)?;
    let mut left = plan.bytes;
    while left > 0 {
        let part = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        left -= patience.attempt(|| stream.write(&buffer[..part]))? as u64;
        if (patience.is_stopped)() {
            return Err(WaitError::Stopped);
        }
    }
    stream
        .shutdown(Shutdown::Write)
        .map_err(WaitError::Failed)?;
    // Much of it may still be in the sender's memory. The receiver closes when it has everything,
    // or gives up waiting.
    loop {
        let closed = stream.read(&mut [0]);
        let seen = sys::round_trip(stream.as_fd()).map_err(WaitError::Failed)?;
        sent.round_trips.0 += seen;
        sent.round_trips.1 += 1;
        match closed {
            Ok(_) => return Ok(()),
            Err(error) if is_silence(&error) && !(patience.is_stopped)() => {}
            Err(error) if is_silence(&error) => return Err(WaitError::Stopped),
            Err(error) => return Err(WaitError::Failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(bytes: u64) -> StreamPlan {
        StreamPlan {
            receiver: [127, 0, 0, 1].into(),
            receiver_space: None,
            sender_space: None,
            bytes,
            buffer: 8 << 10,
            socket: SocketOptions::default(),
            timeout: Duration::from_secs(20),
        }
    }

    #[test]
    fn every_byte_arrives_with_and_without_a_window() {
        for window in [None, Some(9216), Some(32768)] {
            // A loopback packet is larger than such a window, which makes it slow.
            let bytes = if window.is_some() { 100_001 } else { 3_000_001 };
            let mut plan = plan(bytes);
            plan.socket.window = window;
            plan.socket.congestion = Some("reno".into());
            let outcome = send_stream(&plan, &|| false).unwrap();
            assert_eq!(outcome.fault, None);
            assert_eq!((outcome.bytes, outcome.is_stopped), (bytes, false));
            assert!(outcome.round_trip > Duration::ZERO);
            assert!(outcome.idle_round_trip > Duration::ZERO);
        }
    }

    #[test]
    fn somebody_who_wants_an_end_gets_it() {
        let outcome = send_stream(&plan(u64::MAX), &|| true).unwrap();
        assert!(outcome.is_stopped);
        assert_eq!(outcome.fault, None);
    }

    #[test]
    fn an_address_of_somebody_else_is_an_error() {
        let mut plan = plan(1);
        plan.receiver = [192, 0, 2, 1].into();
        let text = send_stream(&plan, &|| false).unwrap_err().to_string();
        assert!(text.contains("192.0.2.1"), "{text}");
        plan.receiver_space = Some("seekstone-nobody".into());
        let text = send_stream(&plan, &|| false).unwrap_err().to_string();
        assert!(text.contains("seekstone-nobody"), "{text}");
    }
}
