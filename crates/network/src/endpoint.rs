//! Where a server is, and whether it is spoken to in clear or encrypted.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use crate::tls::{TlsError, TlsPeer};
use crate::transport::HttpTransport;
use crate::url::{Protocol, Url, UrlError};

/// A server that can be connected to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(crate) address: SocketAddr,
    /// Who it must prove to be; in clear without it.
    tls: Option<TlsPeer>,
}

/// Why a server cannot be connected to.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// No such server.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Nothing can be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Endpoint {
    /// The server of an address. The certificate of an encrypted one must come from an authority
    /// in the PEM file `ca`; from one of the system's without it.
    ///
    /// # Errors
    /// When there is no such server, or there are no such authorities.
    pub fn of(url: &Url, ca: Option<&Path>) -> Result<Self, EndpointError> {
        let is_encrypted = url.protocol == Protocol::Https;
        let tls = is_encrypted.then(|| TlsPeer::new(&url.host, ca));
        Ok(Self {
            tls: tls.transpose()?,
            address: url.resolve()?,
        })
    }

    /// What requests are sent on; of the handshake nothing has happened yet.
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
