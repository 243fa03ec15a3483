//! The address of a server, and whether to connect with TLS.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use crate::tls::{TlsError, TlsPeer};
use crate::transport::HttpTransport;
use crate::url::{Protocol, Url, UrlError};

/// A server.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(crate) address: SocketAddr,
    /// The name it must prove; none without TLS.
    tls: Option<TlsPeer>,
}

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The address is not valid.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// TLS is not possible.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Endpoint {
    /// The server of an address. With TLS, its certificate must be issued by an authority in the
    /// PEM file `ca`, or without it by one of the system's.
    ///
    /// # Errors
    /// If the server or the authorities do not exist.
    pub fn of(url: &Url, ca: Option<&Path>) -> Result<Self, EndpointError> {
        let is_encrypted = url.protocol == Protocol::Https;
        let tls = is_encrypted.then(|| TlsPeer::new(&url.host, ca));
        Ok(Self {
            tls: tls.transpose()?,
            address: url.resolve()?,
        })
    }

    /// The transport for requests, before any handshake.
    pub(crate) fn transport(&self, stream: TcpStream) -> io::Result<Box<dyn HttpTransport>> {
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some(peer) => peer.begin(stream),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}
