//! Encrypted connections, in a build without them.

use std::io;
use std::net::TcpStream;
use std::path::Path;

use units::LeftOut;

use crate::transport::HttpTransport;

/// That this build has none, and how to get one that has.
pub const TLS_LEFT_OUT: Option<LeftOut> = Some(LEFT_OUT);
const LEFT_OUT: LeftOut = LeftOut {
    ability: "encrypted connections (https)",
    feature: "tls",
};

pub type TlsError = LeftOut;

/// A server that must prove its name, of which this build has none.
#[derive(Clone, Debug)]
pub enum TlsPeer {}

impl TlsPeer {
    /// Refuse.
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
