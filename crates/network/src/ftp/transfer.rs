//! Retrieves or stores one file, with timing.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use drivers::AlignedBuffer;
use rustix::net::sockopt;

use super::control::{Control, Trouble, good, trouble};
use crate::IsStopped;
use crate::http::thread_cpu;
use crate::local_file::Sink;
use crate::patience::{Patience, WaitError};
use crate::socket::SocketOptions;
use crate::url::Url;

/// Reply code for a missing file.
const NO_SUCH_FILE: u16 = 550;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FtpDirection {
    /// From the server.
    Retrieve,
    /// To the server: this many incompressible bytes.
    Store(u64),
}

/// A planned transfer.
#[derive(Debug)]
pub struct FtpPlan {
    /// The file on the server.
    pub file: Url,
    /// User; `anonymous` needs no password.
    pub user: String,
    /// Password, sent on request.
    pub password: String,
    /// Direction.
    pub direction: FtpDirection,
    /// Destination of a retrieved file, new and empty; without it, bytes are counted and discarded.
    pub local: Option<File>,
    /// Maximum size of the local file.
    pub room: u64,
    /// The local file grows in extents of this size; 0 leaves it to the file system.
    pub extent: u64,
    /// Whether the local file is synced before the transfer counts as complete.
    pub is_durable: bool,
    /// Buffer size between network and file.
    pub buffer: usize,
    /// Options of the data connection.
    pub socket: SocketOptions,
    /// Maximum silence of the server.
    pub timeout: Duration,
}

/// Result of a transfer.
#[derive(Clone, Debug, Default)]
pub struct FtpOutcome {
    /// Bytes moved.
    pub bytes: u64,
    /// From the start of the control connection to the end of everything.
    pub elapsed: Duration,
    /// From the command for the file to the server's completion reply and the local file closed.
    pub transfer: Duration,
    /// Round-trip time of connecting for the data, measured by the system on an idle link, so that
    /// it excludes our own scheduling delays.
    pub round_trip: Duration,
    /// CPU time of this client.
    pub client_cpu: Duration,
    /// Number of allocations for the local file.
    pub allocations: u64,
    /// Why it was incomplete.
    pub fault: Option<String>,
    /// Whether it was stopped early.
    pub is_stopped: bool,
}

/// Transfers one file.
pub fn transfer(plan: &FtpPlan, is_stopped: IsStopped<'_>) -> FtpOutcome {
    let patience = Patience {
        timeout: plan.timeout,
        is_stopped,
    };
    let mut outcome = FtpOutcome::default();
    let begun = Instant::now();
    let cpu_begun = thread_cpu();
    let ended = carry_out(plan, patience, &mut outcome);
    outcome.elapsed = begun.elapsed();
    outcome.client_cpu = thread_cpu().saturating_sub(cpu_begun);
    match ended {
        Ok(()) => {}
        Err(Trouble::Stopped) => outcome.is_stopped = true,
        Err(Trouble::Fault(cause)) => outcome.fault = Some(cause),
    }
    outcome
}

fn carry_out(
    plan: &FtpPlan,
    patience: Patience<'_>,
    outcome: &mut FtpOutcome,
) -> Result<(), Trouble> {
    let address = plan
        .file
        .resolve()
        .map_err(|error| Trouble::Fault(error.to_string()))?;
    let mut control = Control::open(address, patience)?;
    control.log_in(&plan.user, &plan.password)?;
    let path = &plan.file.path;
    let size = control.ask(&format!("SIZE {path}"))?;
    let expected = match (plan.direction, size.code) {
        // The server may not know the size; then its final reply must suffice.
        (FtpDirection::Retrieve, 213) => size.text.trim().parse().ok(),
        (FtpDirection::Retrieve, _) => None,
        (FtpDirection::Store(bytes), NO_SUCH_FILE) => Some(bytes),
        (FtpDirection::Store(_), 213) => {
            let cause = "it exists already and was not touched: choose a new name";
            return Err(Trouble::Fault(cause.into()));
        }
        (FtpDirection::Store(_), _) => {
            let cause = "SIZE: the server does not report whether it exists already";
            return Err(Trouble::Fault(cause.into()));
        }
    };
    refuse_large(plan, expected)?;
    let mut data = control.open_data(&plan.socket)?;
    // The control connection also waited for the server's Ethernet address to be resolved.
    outcome.round_trip = sys::round_trip(data.as_fd())
        .map_err(|error| trouble("connect for data", &WaitError::Failed(error), &patience))?;
    let transfer_begun = Instant::now();
    let command = match plan.direction {
        FtpDirection::Retrieve => format!("RETR {path}"),
        FtpDirection::Store(_) => format!("STOR {path}"),
    };
    let moved = match (control.demand(&command), plan.direction) {
        (Ok(_), FtpDirection::Retrieve) => receive(plan, &mut data, patience, outcome),
        (Ok(_), FtpDirection::Store(bytes)) => send(plan, &mut data, bytes, patience, outcome),
        // The server may have started with it.
        (Err(Trouble::Stopped), FtpDirection::Store(_)) => Err(Trouble::Stopped),
        (Err(trouble), _) => return Err(trouble),
    };
    if moved.is_err() {
        // Discards unsent data. If that is refused, it is sent.
        let _ = sockopt::set_socket_linger(&data, Some(Duration::ZERO));
    }
    drop(data);
    if moved == Err(Trouble::Stopped) && matches!(plan.direction, FtpDirection::Store(_)) {
        control.insist();
    }
    let ended = control.last_reply("end of the transfer");
    outcome.transfer = transfer_begun.elapsed();
    if matches!(plan.direction, FtpDirection::Store(_)) {
        remove(&mut control, path, moved.is_ok())?;
    }
    moved?;
    good("end of the transfer", ended?)?;
    match expected {
        Some(expected) if expected != outcome.bytes => Err(Trouble::Fault(format!(
            "{} bytes came, the server has {expected}",
            outcome.bytes
        ))),
        _ => Ok(()),
    }
}

/// A full disk would make others fail.
fn refuse_large(plan: &FtpPlan, expected: Option<u64>) -> Result<(), Trouble> {
    match expected {
        Some(bytes) if plan.local.is_some() && bytes > plan.room => Err(Trouble::Fault(format!(
            "it has {bytes} bytes, and the local directory has space for {}. Choose another \
             directory, or discard the data (local = \"nowhere\")",
            plan.room
        ))),
        _ => Ok(()),
    }
}

/// The stored file is ours, and is removed.
fn remove(control: &mut Control<'_>, path: &str, is_whole: bool) -> Result<(), Trouble> {
    let reply = control.ask(&format!("DELE {path}"))?;
    // A server may itself discard an incomplete file.
    if reply.is_good() || (!is_whole && reply.code == NO_SUCH_FILE) {
        return Ok(());
    }
    Err(Trouble::Fault(format!(
        "stored, but cannot be removed: {} {}. Remove it on the server",
        reply.code, reply.text
    )))
}

fn receive(
    plan: &FtpPlan,
    data: &mut TcpStream,
    patience: Patience<'_>,
    outcome: &mut FtpOutcome,
) -> Result<(), Trouble> {
    let local = |error: io::Error| Trouble::Fault(format!("local file: {error}"));
    let mut sink = match &plan.local {
        Some(file) => Sink::file(file.try_clone().map_err(local)?, plan.extent, plan.room),
        None => Sink::nowhere(),
    };
    let memory = AlignedBuffer::zeroed(plan.buffer);
    let mut memory = memory.map_err(|error| Trouble::Fault(error.to_string()))?;
    let buffer = &mut memory.as_mut_slice()[..plan.buffer];
    loop {
        let count = patience
            .attempt(|| data.read(buffer))
            .map_err(|wait_error| trouble("data", &wait_error, &patience))?;
        if count == 0 {
            break;
        }
        outcome.bytes += count as u64;
        plan.socket
            .hold_window(data)
            .map_err(|error| Trouble::Fault(format!("window: {error}")))?;
        sink.take(&buffer[..count]).map_err(local)?;
        outcome.allocations = sink.allocations;
        if (patience.is_stopped)() {
            return Err(Trouble::Stopped);
        }
    }
    sink.finish(plan.is_durable).map(drop).map_err(local)
}

fn send(
    plan: &FtpPlan,
    data: &mut TcpStream,
    bytes: u64,
    patience: Patience<'_>,
    outcome: &mut FtpOutcome,
) -> Result<(), Trouble> {
    let mut buffer = vec![0; plan.buffer];
    drivers::fill_incompressible(&mut buffer, bytes);
    while outcome.bytes < bytes {
        let left = usize::try_from(bytes - outcome.bytes).unwrap_or(usize::MAX);
        let part = &buffer[..plan.buffer.min(left)];
        let count = patience
            .attempt(|| data.write(part))
            .map_err(|wait_error| trouble("data", &wait_error, &patience))?;
        outcome.bytes += count as u64;
        if (patience.is_stopped)() {
            return Err(Trouble::Stopped);
        }
    }
    data.shutdown(Shutdown::Write)
        .map_err(|error| Trouble::Fault(format!("data: {error}")))
}
