//! One object, loaded to be looked at and not to be timed.

use std::io;

use super::exchange::{HttpRequest, HttpServer};
use crate::Endpoint;
use crate::patience::Patience;
use crate::url::Url;

/// A document above this is not read.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Why an object could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
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

/// Load what is at `url`, from its server.
///
/// # Errors
/// When it does not come whole, or with another status than 200.
pub fn load(url: &Url, endpoint: &Endpoint, patience: &Patience<'_>) -> Result<Vec<u8>, LoadError> {
    let address = url.to_string();
    let mut body = Vec::new();
    let mut keep = |_: u16, piece: &[u8]| {
        body.extend_from_slice(piece);
        if body.len() > BODY_BYTES_MAX {
            return Err(io::Error::other("a document of more than 16 MiB"));
        }
        Ok(())
    };
    let server = HttpServer::new(endpoint.clone(), url);
    let request = HttpRequest {
        method: "GET",
        path: &url.path,
        headers: &[],
    };
    match server.ask(request, None, patience, &mut keep) {
        Ok(answer) if answer.status() == 200 => Ok(body),
        Ok(answer) => Err(LoadError::Status {
            address,
            status: answer.status(),
        }),
        Err(error) => Err(LoadError::Failed {
            address,
            cause: error.cause,
        }),
    }
}
