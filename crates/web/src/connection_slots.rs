//! Limits the number and slowness of connections. Further clients wait in the backlog, without cost
//! for this process.

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

/// Maximum number of connections.
pub(crate) const CONNECTION_SLOTS: usize = 16;

/// Slots for connections, with reserved descriptors: a measurement that counts its descriptors at
/// the start finds them in use, whether or not there are connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSlots {
    free: Arc<Semaphore>,
    kept: Arc<Mutex<Vec<OwnedFd>>>,
    listener: Arc<TcpListener>,
}

/// A connection's slot, freed on drop.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    slots: ConnectionSlots,
    _permit: OwnedSemaphorePermit,
    is_taken: bool,
}

impl ConnectionSlots {
    /// # Errors
    /// If the process may not have that many descriptors.
    pub fn of(listener: &TcpListener) -> io::Result<Self> {
        let kept = (0..CONNECTION_SLOTS).map(|_| listener.try_clone().map(OwnedFd::from));
        Ok(Self {
            kept: Arc::new(Mutex::new(kept.collect::<io::Result<_>>()?)),
            free: Arc::new(Semaphore::new(CONNECTION_SLOTS)),
            listener: Arc::new(listener.try_clone()?),
        })
    }

    /// A slot, as soon as there is one.
    pub async fn slot(&self) -> Option<ConnectionSlot> {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
        Some(ConnectionSlot {
            slots: self.clone(),
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

impl ConnectionSlot {
    /// The next connection in this slot, until it is idle for this long.
    pub async fn take(
        mut self,
        listener: &tokio::net::TcpListener,
        patience: Duration,
    ) -> io::Result<SlottedStream> {
        let accepted = listener.accept().await;
        // Releases the reserved descriptor, so that at least this one is free.
        self.slots.give_up_descriptor();
        self.is_taken = true;
        let (stream, _) = match accepted {
            Err(error) if error.raw_os_error().is_some() => listener.accept().await?,
            accepted => accepted?,
        };
        Ok(SlottedStream {
            stream,
            patience,
            wait: None,
            _slot: self,
        })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if !self.is_taken {
            return;
        }
        // If the process has used it for something else, there is nothing to reserve.
        if let Ok(kept) = self.slots.listener.try_clone() {
            let mut all = self
                .slots
                .kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            all.push(kept.into());
        }
    }
}

/// A connection in its slot.
#[derive(Debug)]
pub(crate) struct SlottedStream {
    stream: tokio::net::TcpStream,
    /// Maximum time for a write to wait for its reader.
    patience: Duration,
    wait: Option<Pin<Box<Sleep>>>,
    _slot: ConnectionSlot,
}

impl SlottedStream {
    /// Returns `polled`, unless its reader has taken nothing for too long.
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

impl AsyncRead for SlottedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for SlottedStream {
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
