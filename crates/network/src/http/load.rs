//! Loads one object without timing.

use std::io;

use super::exchange::{HttpRequest, HttpServer};
use crate::Endpoint;
use crate::patience::Patience;
use crate::url::Url;

/// Maximum size of a document.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Why an object could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Another status than 200.
    #[error("{address}: status {status}, not 200")]
    Status {
        /// Address of the object.
        address: String,
        /// Status of the response.
        status: u16,
    },
    /// No complete response.
    #[error("{address}: {cause}")]
    Failed {
        /// Address of the object.
        address: String,
        /// The cause.
        cause: String,
    },
}

/// Loads the object at `url` from its server.
///
/// # Errors
/// If it is incomplete, or its status is not 200.
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
