//! TLS 1.2 and 1.3 connections by rustls.
//!
//! Sessions are not resumed: every connection does a full handshake, so that all cost the same. A
//! certificate that cannot be verified is always refused.

use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use units::LeftOut;

use crate::transport::HttpTransport;

/// This build supports TLS.
pub const TLS_LEFT_OUT: Option<LeftOut> = None;

/// Why TLS is not possible.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of authorities is invalid.
    #[error("ca = {file:?}: {cause}")]
    Authorities {
        /// As given.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The system has no list of authorities.
    #[error(
        "the system lists no certificate authorities{0}: install ca-certificates, or name a file \
         of them with ca"
    )]
    System(String),
    /// No certificate is possible for this name.
    #[error("{0:?} can have no certificate: {1}")]
    Name(String, InvalidDnsNameError),
    /// An error of rustls.
    #[error(transparent)]
    Library(#[from] rustls::Error),
}

/// A server that must prove its name.
#[derive(Clone, Debug)]
pub struct TlsPeer {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsPeer {
    /// The server `host`, verified by the authorities in `ca`, or by those of the system.
    ///
    /// # Errors
    /// If there are no authorities, or `host` cannot have a certificate.
    pub fn new(host: &str, ca: Option<&Path>) -> Result<Self, TlsError> {
        let authorities = match ca {
            Some(file) => authorities_in(file)?,
            None => authorities_of_system()?,
        };
        let name = ServerName::try_from(host.to_owned());
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(authorities)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            name: name.map_err(|error| TlsError::Name(host.to_owned(), error))?,
        })
    }

    /// A session on `stream`, before its handshake.
    pub fn begin(&self, stream: TcpStream) -> io::Result<Box<dyn HttpTransport>> {
        let session = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        let session = session.map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }
}

fn authorities_in(file: &Path) -> Result<RootCertStore, TlsError> {
    let fault = |cause: String| TlsError::Authorities {
        file: file.to_owned(),
        cause,
    };
    let mut store = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file);
    for certificate in certificates.map_err(|error| fault(error.to_string()))? {
        let certificate = certificate.map_err(|error| fault(error.to_string()))?;
        let added = store.add(certificate);
        added.map_err(|error| fault(error.to_string()))?;
    }
    match store.is_empty() {
        true => Err(fault("it has no certificate in PEM form".into())),
        false => Ok(store),
    }
}

/// Authorities that rustls does not understand are skipped, as other clients do.
fn authorities_of_system() -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let why = found.errors.first().map(|error| format!(" ({error})"));
        return Err(TlsError::System(why.unwrap_or_default()));
    }
    Ok(store)
}

impl HttpTransport for StreamOwned<ClientConnection, TcpStream> {
    fn socket(&self) -> &TcpStream {
        &self.sock
    }

    fn is_handshaking(&self) -> bool {
        self.conn.is_handshaking()
    }

    /// The server's close notification, which arrived with its last bytes.
    fn holds_back(&self) -> bool {
        true
    }

    fn shake_hands(&mut self) -> io::Result<()> {
        while self.conn.is_handshaking() {
            self.conn.complete_io(&mut self.sock).map_err(in_words)?;
        }
        Ok(())
    }

    fn wants_write(&self) -> bool {
        self.conn.wants_write()
    }
}

fn in_words(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let text = "closed in mid-handshake. Does this port speak TLS?";
        return io::Error::new(error.kind(), text);
    }
    let Some(cause) = error.get_ref().and_then(|it| it.downcast_ref()) else {
        return error;
    };
    let advice = match cause {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            ". Name the file of its authority's certificate with ca"
        }
        rustls::Error::InvalidMessage(_) => ". Does this port speak TLS?",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{cause}{advice}"))
}
