//! Placeholder for TLS in a build without it.

use std::io;
use std::net::TcpStream;
use std::path::Path;

use units::LeftOut;

use crate::transport::HttpTransport;

/// Why this build has no TLS, and how to get one that does.
pub const TLS_LEFT_OUT: Option<LeftOut> = Some(LEFT_OUT);
const LEFT_OUT: LeftOut = LeftOut {
    ability: "encrypted connections (https)",
    feature: "tls",
};

pub type TlsError = LeftOut;

/// A TLS server, which this build does not support.
#[derive(Clone, Debug)]
pub enum TlsPeer {}

impl TlsPeer {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub const fn new(_: &str, _: Option<&Path>) -> Result<Self, TlsError> {
        Err(LEFT_OUT)
    }

    pub fn begin(&self, _: TcpStream) -> io::Result<Box<dyn HttpTransport>> {
        match *self {}
    }
}
