//! A connection and the state of its current request.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::sockopt;

use super::response::{Broken, Response};
use crate::Endpoint;
use crate::faults::cause_of;
use crate::socket::{self, SocketOptions};
use crate::transport::HttpTransport;

/// A request for an object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRequest {
    /// Number of the object on the page.
    pub object: usize,
    /// When the client started it.
    pub started: Instant,
    /// Whether it is the second attempt, after the server closed a kept connection.
    pub is_resent: bool,
}

/// A connection, open or not.
#[derive(Debug, Default)]
pub struct Connection {
    stream: Option<Box<dyn HttpTransport>>,
    is_connected: bool,
    /// Whether it has carried a response before.
    has_served: bool,
    sent: usize,
    /// Arrival of the response's first byte.
    pub first_byte: Option<Instant>,
    /// The current request.
    pub task: Option<ObjectRequest>,
    /// The response so far.
    pub response: Response,
}

/// Result of an event.
#[derive(Debug)]
pub enum ResponseProgress {
    /// The request continues.
    Waiting,
    /// The response is complete.
    Done,
    /// The server closed a kept connection before it saw the request, which can be retried.
    Stale,
    /// It failed, with the reason.
    Failed(String),
}

impl Connection {
    /// Whether there is a socket.
    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// The socket, to poll.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(|it| it.socket().as_fd())
    }

    /// Starts to connect. The result is known when the socket is writable.
    ///
    /// # Errors
    /// If the system refuses immediately.
    pub fn open(&mut self, endpoint: &Endpoint) -> Result<(), String> {
        let failed = |error: io::Error| format!("connect: {}", cause_of(&error));
        let address = &endpoint.address;
        let made = socket::open(address, &SocketOptions::default()).map_err(failed)?;
        match rustix::net::connect(&made, address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        let stream = endpoint.transport(TcpStream::from(made));
        self.stream = Some(stream.map_err(failed)?);
        self.is_connected = false;
        self.has_served = false;
        Ok(())
    }

    /// Closes it in any state.
    pub fn close(&mut self) {
        self.stream = None;
    }

    /// Starts a request.
    pub fn begin(&mut self, task: ObjectRequest) {
        self.task = Some(task);
        self.sent = 0;
        self.first_byte = None;
        self.response.clear();
    }

    /// Whether there is something to write, or to connect.
    pub fn wants_to_write(&self, request: &[u8]) -> bool {
        let is_unsent = |it: &dyn HttpTransport| it.is_handshaking() || it.wants_write();
        !self.is_connected
            || self.sent < request.len()
            || self.stream.as_deref().is_some_and(is_unsent)
    }

    /// Events it waits for. A handshake mostly waits for the server, and polling for writability
    /// would then never block.
    pub fn awaited(&self, request: &[u8]) -> EventFlags {
        let is_held = |it: &dyn HttpTransport| it.is_handshaking() && !it.wants_write();
        let waits_for_server = self.is_connected && self.stream.as_deref().is_some_and(is_held);
        match self.wants_to_write(request) && !waits_for_server {
            true => EventFlags::IN | EventFlags::OUT,
            false => EventFlags::IN,
        }
    }

    /// The socket is writable, or the handshake continues.
    pub fn write(&mut self, request: &[u8]) -> ResponseProgress {
        let Some(stream) = &mut self.stream else {
            return ResponseProgress::Waiting;
        };
        if !self.is_connected {
            match sockopt::socket_error(stream.socket()) {
                Ok(Ok(())) => self.is_connected = true,
                Ok(Err(errno)) | Err(errno) => {
                    return ResponseProgress::Failed(format!(
                        "connect: {}",
                        cause_of(&errno.into())
                    ));
                }
            }
        }
        match stream.shake_hands() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return ResponseProgress::Waiting;
            }
            Err(error) => {
                return ResponseProgress::Failed(format!("connect: {}", cause_of(&error)));
            }
        }
        while self.sent < request.len() {
            match stream.write(&request[self.sent..]) {
                Ok(0) => return self.broken("write", &io::ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return self.broken("write", &error),
            }
        }
        match stream.flush() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => self.broken("write", &error),
            _ => ResponseProgress::Waiting,
        }
    }

    /// Data arrived. `body` receives the part that belongs to the body.
    pub fn read(&mut self, buffer: &mut [u8]) -> ResponseProgress {
        loop {
            let Some(stream) = &mut self.stream else {
                return ResponseProgress::Waiting;
            };
            let count = match stream.read(buffer) {
                Ok(0) => return self.closed(),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return ResponseProgress::Waiting;
                }
                Err(error) => return self.broken("read", &error),
            };
            let is_all = count < buffer.len() && !stream.holds_back();
            self.first_byte.get_or_insert_with(Instant::now);
            let taken = match self.response.take(&buffer[..count], &mut |_| ()) {
                Ok(taken) => taken,
                Err(broken) => return ResponseProgress::Failed(broken.to_string()),
            };
            if self.response.is_done() {
                self.has_served = true;
                // Unexpected bytes: the connection is not reused.
                self.response.is_kept &= taken == count;
                return ResponseProgress::Done;
            }
            if is_all {
                return ResponseProgress::Waiting;
            }
        }
    }

    fn closed(&mut self) -> ResponseProgress {
        if self.response.bytes == 0 && self.has_served {
            return ResponseProgress::Stale;
        }
        match self.response.close() {
            Ok(()) => ResponseProgress::Done,
            Err(Broken::Short) if self.response.bytes == 0 => {
                ResponseProgress::Failed("connection closed without an answer".into())
            }
            Err(broken) => ResponseProgress::Failed(broken.to_string()),
        }
    }

    fn broken(&self, what: &str, error: &io::Error) -> ResponseProgress {
        // With TLS, an end without a close notification.
        let is_reset = matches!(
            error.kind(),
            io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
        );
        if is_reset && self.response.bytes == 0 && self.has_served {
            return ResponseProgress::Stale;
        }
        ResponseProgress::Failed(format!("{what}: {}", cause_of(error)))
    }
}
