//! One object, loaded to be looked at and not to be timed.

use std::io::{Read, Write};

use super::response::Response;
use crate::faults::cause_of;
use crate::patience::{Patience, Weary};
use crate::socket::{self, SocketOptions};
use crate::url::{Url, UrlError};

/// A document above this is not read.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Why an object could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No such server.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// It answered with something else.
    #[error("{address}: status {status}, not 200")]
    Status {
        /// Of the object.
        address: String,
        /// The server's answer.
        status: u16,
    },
    /// Nothing, or nothing whole, came.
    #[error("{address}: {cause}")]
    Failed {
        /// Of the object.
        address: String,
        /// What happened.
        cause: String,
    },
}

/// Load what is at `url`.
///
/// # Errors
/// When it does not come whole, or with another status than 200.
pub fn load(url: &Url, patience: &Patience<'_>) -> Result<Vec<u8>, LoadError> {
    let address = format!("http://{}{}", url.authority(), url.path);
    let failed = |cause: String| LoadError::Failed {
        address: address.clone(),
        cause,
    };
    let weary = |what: &str, weary: Weary| match weary {
        Weary::TimedOut => failed(format!("{what}: nothing within {:?}", patience.timeout)),
        Weary::Stopped => failed("stopped".into()),
        Weary::Failed(error) => failed(format!("{what}: {}", cause_of(&error))),
    };
    let server = url.resolve()?;
    let mut stream = socket::connect(&server, &SocketOptions::default(), patience)
        .map_err(|it| weary("connect", it))?;
    let host = url.authority();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n",
        url.path
    );
    let sent = stream.write_all(request.as_bytes());
    sent.map_err(|error| weary("write", Weary::Failed(error)))?;
    let mut response = Response::default();
    let mut body = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while !response.is_done() {
        let count = patience
            .attempt(|| stream.read(&mut buffer))
            .map_err(|it| weary("read", it))?;
        let ended = match count {
            0 => response.close(),
            count => response
                .take(&buffer[..count], &mut |part| body.extend_from_slice(part))
                .map(drop),
        };
        ended.map_err(|broken| failed(broken.to_string()))?;
        if body.len() > BODY_BYTES_MAX {
            return Err(failed("a document of more than 16 MiB".into()));
        }
    }
    match response.status {
        200 => Ok(body),
        status => Err(LoadError::Status { address, status }),
    }
}
