//! Single requests with bodies, on kept connections.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use drivers::AlignedBuffer;

use super::response::Response;
use crate::Endpoint;
use crate::faults::cause_of;
use crate::patience::{Patience, WaitError};
use crate::socket::{self, SocketOptions};
use crate::transport::HttpTransport;
use crate::url::Url;

/// Buffer size.
const BUFFER_BYTES: usize = 64 << 10;

/// A server for occasional requests, from several threads.
#[derive(Debug)]
pub struct HttpServer {
    endpoint: Endpoint,
    host: String,
    /// Idle connections.
    idle: Mutex<Vec<KeptConnection>>,
    opened: AtomicU64,
}

/// A request without its body.
#[derive(Clone, Copy, Debug)]
pub struct HttpRequest<'a> {
    pub method: &'a str,
    /// Path from the first slash, with the query.
    pub path: &'a str,
    /// Headers besides `Host` and `Content-Length`.
    pub headers: &'a [(&'a str, &'a str)],
}

/// A request body.
pub struct Body<'a> {
    /// Length.
    pub len: u64,
    /// Content.
    pub content: &'a mut dyn Read,
}

/// A complete response without its body.
#[derive(Debug)]
pub struct HttpAnswer {
    response: Response,
    /// Arrival of its first byte.
    pub first_byte: Instant,
}

/// Why there is no complete response, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct NoAnswer {
    pub cause: String,
    /// Whether the server closed a kept connection before it saw the request, which can be retried.
    pub is_stale: bool,
}

#[derive(Debug)]
struct KeptConnection {
    stream: Box<dyn HttpTransport>,
    buffer: AlignedBuffer,
    /// Whether it has carried a response before.
    has_served: bool,
}

/// A truncated request or response.
struct CutShort {
    cause: String,
    /// Whether the other side closed the connection.
    is_closed: bool,
}

impl HttpAnswer {
    pub const fn status(&self) -> u16 {
        self.response.status
    }

    /// The value of a header, by case-insensitive name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.header(name)
    }
}

impl HttpServer {
    /// The server at an address, without a connection yet.
    pub fn new(endpoint: Endpoint, url: &Url) -> Self {
        Self {
            endpoint,
            host: url.authority(),
            idle: Mutex::default(),
            opened: AtomicU64::new(0),
        }
    }

    /// Number of connections opened so far.
    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// Sends one request, and passes the body of the response to `sink` in pieces, with its status.
    ///
    /// # Errors
    /// If there is no complete response.
    pub fn ask(
        &self,
        request: HttpRequest<'_>,
        body: Option<Body<'_>>,
        patience: &Patience<'_>,
        sink: &mut dyn FnMut(u16, &[u8]) -> io::Result<()>,
    ) -> Result<HttpAnswer, NoAnswer> {
        let mut connection = match self.idle_connection() {
            Some(connection) => connection,
            None => self.connect(patience).map_err(|error| NoAnswer {
                cause: in_words("connect", &error, patience),
                is_stale: false,
            })?,
        };
        let head = head_of(request, &self.host, body.as_ref().map(|it| it.len));
        let sent = connection.send(&head, body, patience);
        let answer = match sent {
            // A server that rejects a long body may respond and close before all of it was sent.
            Err(cut) if cut.is_closed => connection
                .receive(request.method, patience, sink)
                .map(|answer| (answer, false))
                .map_err(|_| cut),
            Err(cut) => Err(cut),
            Ok(()) => connection
                .receive(request.method, patience, sink)
                .map(|answer| (answer, true)),
        };
        let (answer, is_sent) = answer.map_err(|cut| NoAnswer {
            is_stale: cut.is_closed && connection.has_served,
            cause: cut.cause,
        })?;
        if is_sent && answer.response.is_kept {
            connection.has_served = true;
            self.lock().push(connection);
        }
        Ok(answer)
    }

    fn connect(&self, patience: &Patience<'_>) -> Result<KeptConnection, WaitError> {
        let Endpoint { address, .. } = &self.endpoint;
        let connected = socket::connect(address, &SocketOptions::default(), patience)?;
        let mut stream = self
            .endpoint
            .transport(connected)
            .map_err(WaitError::Failed)?;
        patience.attempt(|| stream.shake_hands())?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        let buffer = AlignedBuffer::zeroed(BUFFER_BYTES);
        Ok(KeptConnection {
            stream,
            buffer: buffer.map_err(|error| WaitError::Failed(error.into()))?,
            has_served: false,
        })
    }

    /// An idle connection that the server has not closed.
    fn idle_connection(&self) -> Option<KeptConnection> {
        loop {
            let connection = self.lock().pop()?;
            let socket = connection.stream.socket();
            let is_quiet = socket.set_nonblocking(true).is_ok()
                && socket
                    .peek(&mut [0])
                    .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
            if is_quiet && socket.set_nonblocking(false).is_ok() {
                return Some(connection);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<KeptConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn head_of(request: HttpRequest<'_>, host: &str, body_len: Option<u64>) -> String {
    let HttpRequest { method, path, .. } = request;
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    let mut add = |name: &str, value: &str| {
        for part in [name, ": ", value, "\r\n"] {
            head.push_str(part);
        }
    };
    for (name, value) in request.headers {
        add(name, value);
    }
    if let Some(len) = body_len {
        add("Content-Length", &len.to_string());
    }
    head.push_str("\r\n");
    head
}

impl KeptConnection {
    /// Sends head and body, the start of the body together with the head.
    fn send(
        &mut self,
        head: &str,
        body: Option<Body<'_>>,
        patience: &Patience<'_>,
    ) -> Result<(), CutShort> {
        let mut rest = head.as_bytes();
        while rest.len() >= BUFFER_BYTES {
            self.write(Some(&rest[..BUFFER_BYTES]), 0, patience)?;
            rest = &rest[BUFFER_BYTES..];
        }
        self.buffer.as_mut_slice()[..rest.len()].copy_from_slice(rest);
        let mut held = rest.len();
        if let Some(Body { len, content }) = body {
            let mut left = len;
            while left > 0 {
                if held == BUFFER_BYTES {
                    self.write(None, held, patience)?;
                    held = 0;
                }
                let part = usize::try_from(left).unwrap_or(usize::MAX);
                let end = held + part.min(BUFFER_BYTES - held);
                let count = content.read(&mut self.buffer.as_mut_slice()[held..end]);
                let count = count.map_err(|error| ours(format!("what is to be sent: {error}")))?;
                if count == 0 {
                    return Err(ours(format!("what is to be sent ends {left} bytes early")));
                }
                held += count;
                left -= count as u64;
            }
        }
        self.write(None, held, patience)?;
        let flushed = patience.attempt(|| self.stream.flush());
        flushed.map_err(|error| CutShort::of("write", &error, patience))
    }

    /// Writes `bytes`, or the content of the buffer.
    fn write(
        &mut self,
        bytes: Option<&[u8]>,
        held: usize,
        patience: &Patience<'_>,
    ) -> Result<(), CutShort> {
        let mut rest = bytes.unwrap_or(&self.buffer.as_slice()[..held]);
        while !rest.is_empty() {
            let count = patience.attempt(|| self.stream.write(rest));
            let count = count.map_err(|error| CutShort::of("write", &error, patience))?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn receive(
        &mut self,
        method: &str,
        patience: &Patience<'_>,
        sink: &mut dyn FnMut(u16, &[u8]) -> io::Result<()>,
    ) -> Result<HttpAnswer, CutShort> {
        let mut response = Response::keeping_headers(method);
        let mut pieces: Vec<u8> = Vec::new();
        let mut first_byte = None;
        while !response.is_done() {
            let count = patience.attempt(|| self.stream.read(self.buffer.as_mut_slice()));
            let count = count.map_err(|error| {
                let cut = CutShort::of("read", &error, patience);
                CutShort {
                    is_closed: cut.is_closed && response.bytes == 0,
                    ..cut
                }
            })?;
            first_byte.get_or_insert_with(Instant::now);
            let is_silent = count == 0 && response.bytes == 0;
            let came = match count {
                0 => response.close(),
                count => response
                    .take(&self.buffer.as_slice()[..count], &mut |piece| {
                        pieces.extend_from_slice(piece);
                    })
                    .map(drop),
            };
            came.map_err(|broken| CutShort {
                cause: match is_silent {
                    true => "connection closed without an answer".into(),
                    false => broken.to_string(),
                },
                is_closed: is_silent,
            })?;
            let kept = sink(response.status, &pieces);
            kept.map_err(|error| ours(format!("what came cannot be kept: {error}")))?;
            pieces.clear();
        }
        Ok(HttpAnswer {
            response,
            first_byte: first_byte.unwrap_or_else(Instant::now),
        })
    }
}

/// A failure on this side.
const fn ours(cause: String) -> CutShort {
    CutShort {
        cause,
        is_closed: false,
    }
}

impl CutShort {
    fn of(what: &str, error: &WaitError, patience: &Patience<'_>) -> Self {
        let is_closed = |error: &io::Error| {
            let kinds = [
                io::ErrorKind::ConnectionReset,
                io::ErrorKind::BrokenPipe,
                io::ErrorKind::UnexpectedEof,
            ];
            kinds.contains(&error.kind())
        };
        Self {
            is_closed: matches!(error, WaitError::Failed(error) if is_closed(error)),
            cause: in_words(what, error, patience),
        }
    }
}

fn in_words(what: &str, wait_error: &WaitError, patience: &Patience<'_>) -> String {
    match wait_error {
        WaitError::TimedOut => format!("{what}: nothing within {:?}", patience.timeout),
        WaitError::Stopped => "stopped".into(),
        WaitError::Failed(error) => format!("{what}: {}", cause_of(error)),
    }
}
