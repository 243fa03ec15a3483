//! Waits in slices, so that a stop request is noticed while a server is silent.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::IsStopped;

/// Length of a slice.
pub const SLICE: Duration = Duration::from_millis(100);

/// Why a wait ended without data.
#[derive(Debug)]
pub enum WaitError {
    /// The timeout expired.
    TimedOut,
    /// The run is stopped.
    Stopped,
    /// The connection failed.
    Failed(io::Error),
}

/// How long a peer may be silent.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// Maximum silence.
    pub timeout: Duration,
    /// Checked after each slice.
    pub is_stopped: IsStopped<'a>,
}

impl Patience<'_> {
    /// Makes a stream's calls return after each slice.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn prepare(&self, stream: &TcpStream) -> io::Result<()> {
        let slice = SLICE.min(self.timeout.max(Duration::from_millis(1)));
        stream.set_read_timeout(Some(slice))?;
        stream.set_write_timeout(Some(slice))
    }

    /// Retries until there is progress.
    ///
    /// # Errors
    /// If there is none for the whole timeout, the run is stopped, or it fails.
    pub fn attempt<T>(&self, mut work: impl FnMut() -> io::Result<T>) -> Result<T, WaitError> {
        let begun = Instant::now();
        loop {
            match work() {
                Ok(done) => return Ok(done),
                Err(error) if is_silence(&error) => {}
                Err(error) => return Err(WaitError::Failed(error)),
            }
            if (self.is_stopped)() {
                return Err(WaitError::Stopped);
            }
            if begun.elapsed() >= self.timeout {
                return Err(WaitError::TimedOut);
            }
        }
    }
}

/// Whether an error only means that a slice passed without data.
pub fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
