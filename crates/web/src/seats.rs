//! Connections of a listener: so many and no more, none that is slow. Who finds no seat waits
//! outside, where it costs this process nothing.

use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// Connections at a time.
pub(crate) const SEATS: usize = 16;

/// Seats for connections, and the descriptors that are kept for them: a measurement that counts
/// its descriptors before it begins finds them in use, whether or not somebody looks.
#[derive(Clone, Debug)]
pub(crate) struct Seats {
    free: Arc<Semaphore>,
    kept: Arc<Mutex<Vec<OwnedFd>>>,
    listener: Arc<TcpListener>,
}

/// A connection's place; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSeat {
    seats: Seats,
    _permit: OwnedSemaphorePermit,
    is_taken: bool,
}

impl Seats {
    /// # Errors
    /// When the process may not have so many descriptors.
    pub fn of(listener: &TcpListener) -> io::Result<Self> {
        let kept = (0..SEATS).map(|_| listener.try_clone().map(OwnedFd::from));
        Ok(Self {
            kept: Arc::new(Mutex::new(kept.collect::<io::Result<_>>()?)),
            free: Arc::new(Semaphore::new(SEATS)),
            listener: Arc::new(listener.try_clone()?),
        })
    }

    /// A seat, as soon as there is one.
    pub async fn seat(&self) -> Option<ConnectionSeat> {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
        Some(ConnectionSeat {
            seats: self.clone(),
            _permit: permit,
            is_taken: false,
        })
    }

    fn give_up_descriptor(&self) {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
    }
}

impl ConnectionSeat {
    /// Whoever comes next, with this seat, until it reads nothing for so long.
    pub async fn take(
        mut self,
        listener: &tokio::net::TcpListener,
        patience: Duration,
    ) -> io::Result<Seated> {
        let accepted = listener.accept().await;
        // The descriptor that was kept for it; if there was no other, it is free now.
        self.seats.give_up_descriptor();
        self.is_taken = true;
        let (stream, _) = match accepted {
            Err(error) if error.raw_os_error().is_some() => listener.accept().await?,
            accepted => accepted?,
        };
        Ok(Seated {
            stream,
            patience,
            wait: None,
            _seat: self,
        })
    }
}

impl Drop for ConnectionSeat {
    fn drop(&mut self) {
        if !self.is_taken {
            return;
        }
        // Where the process has taken it for something else, there is nothing to keep.
        if let Ok(kept) = self.seats.listener.try_clone() {
            let mut all = self
                .seats
                .kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            all.push(kept.into());
        }
    }
}

/// A connection on its seat.
#[derive(Debug)]
pub(crate) struct Seated {
    stream: tokio::net::TcpStream,
    /// How long a write may wait for its reader.
    patience: Duration,
    wait: Option<Pin<Box<Sleep>>>,
    _seat: ConnectionSeat,
}

impl Seated {
    /// `polled`, unless its reader has taken nothing for too long.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.wait = None;
            return polled;
        }
        let patience = self.patience;
        let wait = self.wait.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(wait.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Seated {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Seated {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
