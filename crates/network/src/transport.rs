//! What requests are sent on: a connection, in clear or encrypted.

use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A connection to a server.
pub(crate) trait HttpTransport: Debug + Read + Send + Write {
    /// The connection itself.
    fn socket(&self) -> &TcpStream;

    /// Whether requests must wait for a handshake.
    fn is_handshaking(&self) -> bool {
        false
    }

    /// Whether what came may wait in here although a read did not fill its buffer.
    fn holds_back(&self) -> bool {
        false
    }

    /// Go on with the handshake to its end.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while the server is to be waited for; in words when it does
    /// not prove who it is.
    fn shake_hands(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Whether something that was written has not left yet: [`Write::flush`] sends it.
    fn wants_write(&self) -> bool {
        false
    }
}

impl HttpTransport for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}
