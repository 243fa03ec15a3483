//! Transport of requests: a connection with or without TLS.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A connection to a server.
pub(crate) trait HttpTransport: Debug + Read + Send + Write {
    /// The underlying connection.
    fn socket(&self) -> &TcpStream;

    /// Whether requests must wait for a handshake.
    fn is_handshaking(&self) -> bool {
        false
    }

    /// Whether received data may be buffered here although a read did not fill its buffer.
    fn holds_back(&self) -> bool {
        false
    }

    /// Continues the handshake to its end.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while waiting for the server; in words if it does not prove
    /// its identity.
    fn shake_hands(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether written data has not been sent yet: [`Write::flush`] sends it.
    fn wants_write(&self) -> bool {
        false
    }
}

impl HttpTransport for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}
