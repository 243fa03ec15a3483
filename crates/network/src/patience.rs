//! Waiting in slices, so that somebody who wants an end is heard while a server says nothing.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::IsStopped;

/// How long one slice is.
pub const SLICE: Duration = Duration::from_millis(100);

/// How a wait ended that brought nothing.
#[derive(Debug)]
pub enum WaitError {
    /// Nothing came for as long as was allowed.
    TimedOut,
    /// Somebody wants an end.
    Stopped,
    /// The connection failed.
    Failed(io::Error),
}

/// How long a peer may be silent.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// The longest silence.
    pub timeout: Duration,
    /// Asked after each slice.
    pub is_stopped: IsStopped<'a>,
}

impl Patience<'_> {
    /// A stream that wakes up after each slice.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn prepare(&self, stream: &TcpStream) -> io::Result<()> {
        let slice = SLICE.min(self.timeout.max(Duration::from_millis(1)));
        stream.set_read_timeout(Some(slice))?;
        stream.set_write_timeout(Some(slice))
    }

    /// Try until something moves.
    ///
    /// # Errors
    /// When nothing does for the whole timeout, somebody stops it, or it fails.
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

/// Whether an error only says that nothing came within a slice.
#[must_use]
pub fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
