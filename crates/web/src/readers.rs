//! Private parsers of untrusted text, for the fuzz targets.

use std::net::SocketAddr;

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};

use crate::admission::Admission;

/// The path seen by a server at `address` for a request with this path, host and origin, if it
/// answers at all.
pub fn admitted(address: SocketAddr, path: &str, host: &[u8], origin: &[u8]) -> Option<String> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, HeaderValue::from_bytes(host).ok()?);
    if !origin.is_empty() {
        headers.insert(ORIGIN, HeaderValue::from_bytes(origin).ok()?);
    }
    let admission = Admission::of(address).ok()?;
    admission.admitted(path, &headers).map(str::to_owned)
}
