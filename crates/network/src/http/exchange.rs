//! Single requests with bodies, on connections that are kept for the next one.

use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};

use super::response::Response;
use crate::Endpoint;
use crate::faults::cause_of;
use crate::patience::{Patience, WaitError};
use crate::socket::{self, SocketOptions};
use crate::transport::HttpTransport;
use crate::url::Url;

/// Bytes moved at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A server that is asked now and then, by several threads at once.
#[derive(Debug)]
pub struct HttpServer {
    endpoint: Endpoint,
    host: String,
    /// Connections that wait for the next request.
    idle: Mutex<Vec<Box<dyn HttpTransport>>>,
}

/// What is sent along.
pub struct Body<'a> {
    /// How many bytes.
    pub len: u64,
    /// Where they come from.
    pub content: &'a mut dyn Read,
}

impl HttpServer {
    /// The server of an address; nothing is connected yet.
    #[must_use]
    pub fn new(endpoint: Endpoint, url: &Url) -> Self {
        Self {
            endpoint,
            host: url.authority(),
            idle: Mutex::default(),
        }
    }

    /// Ask for `path`, and hand the body of the answer to `sink`, piece by piece, with its status.
    /// Returns the status.
    ///
    /// # Errors
    /// When no whole answer comes, in words.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<Body<'_>>,
        patience: &Patience<'_>,
        sink: &mut dyn FnMut(u16, &[u8]) -> io::Result<()>,
    ) -> Result<u16, String> {
        let mut stream = match self.idle_connection() {
            Some(stream) => stream,
            None => self
                .connect(patience)
                .map_err(|wait_error| in_words("connect", &wait_error, patience))?,
        };
        let length = body.as_ref().map(|body| body.len);
        let length = length.map_or(String::new(), |it| format!("Content-Length: {it}\r\n"));
        let host = &self.host;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{length}\r\n");
        send(&mut *stream, head.as_bytes(), patience)?;
        if let Some(mut body) = body {
            send_body(&mut *stream, &mut body, patience)?;
        }
        patience
            .attempt(|| stream.flush())
            .map_err(|wait_error| in_words("write", &wait_error, patience))?;
        let response = receive(&mut *stream, patience, sink)?;
        if response.is_kept {
            self.lock().push(stream);
        }
        Ok(response.status)
    }

    fn connect(&self, patience: &Patience<'_>) -> Result<Box<dyn HttpTransport>, WaitError> {
        let Endpoint { address, .. } = &self.endpoint;
        let connected = socket::connect(address, &SocketOptions::default(), patience)?;
        let mut stream = self
            .endpoint
            .transport(connected)
            .map_err(WaitError::Failed)?;
        patience.attempt(|| stream.shake_hands())?;
        Ok(stream)
    }

    /// One that the server has not closed meanwhile.
    fn idle_connection(&self) -> Option<Box<dyn HttpTransport>> {
        loop {
            let stream = self.lock().pop()?;
            let socket = stream.socket();
            let is_quiet = socket.set_nonblocking(true).is_ok()
                && socket
                    .peek(&mut [0])
                    .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
            if is_quiet && socket.set_nonblocking(false).is_ok() {
                return Some(stream);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Box<dyn HttpTransport>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn send(
    stream: &mut dyn HttpTransport,
    bytes: &[u8],
    patience: &Patience<'_>,
) -> Result<(), String> {
    let mut sent = 0;
    while sent < bytes.len() {
        sent += patience
            .attempt(|| stream.write(&bytes[sent..]))
            .map_err(|wait_error| in_words("write", &wait_error, patience))?;
    }
    Ok(())
}

fn send_body(
    stream: &mut dyn HttpTransport,
    body: &mut Body<'_>,
    patience: &Patience<'_>,
) -> Result<(), String> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut left = body.len;
    while left > 0 {
        let part = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = body.content.read(&mut buffer[..part]);
        let count = count.map_err(|error| format!("what is to be sent: {error}"))?;
        if count == 0 {
            return Err(format!("what is to be sent ends {left} bytes early"));
        }
        send(stream, &buffer[..count], patience)?;
        left -= count as u64;
    }
    Ok(())
}

fn receive(
    stream: &mut dyn HttpTransport,
    patience: &Patience<'_>,
    sink: &mut dyn FnMut(u16, &[u8]) -> io::Result<()>,
) -> Result<Response, String> {
    let mut response = Response::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut pieces: Vec<u8> = Vec::new();
    while !response.is_done() {
        let count = patience
            .attempt(|| stream.read(&mut buffer))
            .map_err(|wait_error| in_words("read", &wait_error, patience))?;
        let came = match count {
            0 => response.close(),
            count => response
                .take(&buffer[..count], &mut |piece| {
                    pieces.extend_from_slice(piece);
                })
                .map(drop),
        };
        came.map_err(|broken| broken.to_string())?;
        let kept = sink(response.status, &pieces);
        kept.map_err(|error| format!("what came cannot be kept: {error}"))?;
        pieces.clear();
    }
    Ok(response)
}

fn in_words(what: &str, wait_error: &WaitError, patience: &Patience<'_>) -> String {
    match wait_error {
        WaitError::TimedOut => format!("{what}: nothing within {:?}", patience.timeout),
        WaitError::Stopped => "stopped".into(),
        WaitError::Failed(error) => format!("{what}: {}", cause_of(error)),
    }
}
