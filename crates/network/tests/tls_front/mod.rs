//! TLS before a plain server of a test, with a certificate of an authority of our own.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustix::event::{PollFd, PollFlags, poll};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};
use tempfile::NamedTempFile;

/// What is said when the server behind closes a connection.
#[derive(Clone, Copy)]
pub enum Farewell {
    /// Nothing, as by many servers.
    None,
    /// TLS's own, and the client is to close.
    #[allow(dead_code, reason = "only the tests of one crate ask for it")]
    Said,
}

/// A server that proves to be `localhost`.
pub struct TlsFront {
    pub address: SocketAddr,
    /// The certificate of who vouches for it.
    pub ca: NamedTempFile,
}

impl TlsFront {
    /// Lives as long as the test program; hands on what it is sent to `behind`.
    pub fn start(behind: SocketAddr) -> Self {
        Self::parting(behind, Farewell::None)
    }

    /// The same, with what it says at the end of a connection.
    pub fn parting(behind: SocketAddr, farewell: Farewell) -> Self {
        let (config, ca) = certified("localhost");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for client in listener.incoming() {
                let session = ServerConnection::new(Arc::clone(&config)).expect("a session");
                let client = client.expect("a client");
                // What a client does to its connection is no failure of the server.
                thread::spawn(move || drop(relay(client, behind, session, farewell)));
            }
        });
        Self { address, ca }
    }

    /// The server by the name in its certificate.
    pub fn named(&self) -> String {
        format!("localhost:{}", self.address.port())
    }
}

fn certified(name: &str) -> (Arc<ServerConfig>, NamedTempFile) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().expect("a key");
    let own = authority.self_signed(&authority_key).expect("an authority");
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(own.pem().as_bytes()).expect("a certificate");
    let key = KeyPair::generate().expect("a key");
    let server = CertificateParams::new([name.to_owned()]).expect("a name");
    let server = server.signed_by(&key, &Issuer::new(authority, authority_key));
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![server.expect("a certificate").into()], key);
    (Arc::new(config.expect("a server")), file)
}

fn part(
    client: &mut TcpStream,
    mut session: ServerConnection,
    farewell: Farewell,
) -> io::Result<()> {
    if let Farewell::Said = farewell {
        session.send_close_notify();
        while session.wants_write() {
            session.write_tls(client)?;
        }
        while client.read(&mut [0; 4096])? > 0 {}
    }
    Ok(())
}

fn relay(
    mut client: TcpStream,
    behind: SocketAddr,
    mut session: ServerConnection,
    farewell: Farewell,
) -> io::Result<()> {
    let mut behind = TcpStream::connect(behind)?;
    let mut buffer = vec![0; 16 << 10];
    loop {
        while session.wants_write() {
            session.write_tls(&mut client)?;
        }
        let both = [client.try_clone()?, behind.try_clone()?];
        let mut waited = [&both[0], &both[1]].map(|it| PollFd::new(it, PollFlags::IN));
        poll(&mut waited, None)?;
        let [client_spoke, behind_spoke] = waited.map(|it| !it.revents().is_empty());
        if client_spoke {
            if session.read_tls(&mut client)? == 0 {
                return Ok(());
            }
            if let Err(error) = session.process_new_packets() {
                session.write_tls(&mut client)?;
                return Err(io::Error::other(error));
            }
            loop {
                match session.reader().read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(count) => behind.write_all(&buffer[..count])?,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        if behind_spoke {
            let count = behind.read(&mut buffer)?;
            if count == 0 {
                return part(&mut client, session, farewell);
            }
            session.writer().write_all(&buffer[..count])?;
        }
    }
}
