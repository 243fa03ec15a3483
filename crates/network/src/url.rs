//! Addresses as typed by the user: `http://HOST:PORT/PATH`, `https://...` and `ftp://...`.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

units::words! {
    /// A supported protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Protocol {
        /// The web's.
        Http = "http",
        /// HTTP over TLS.
        Https = "https",
        /// File transfer.
        Ftp = "ftp",
    }
}

impl Protocol {
    fn port(self) -> u16 {
        match self {
            Protocol::Http => 80,
            Protocol::Https => 443,
            Protocol::Ftp => 21,
        }
    }
}

/// An address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Its protocol.
    pub protocol: Protocol,
    /// Name or address of the server, without brackets.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// Path from the first slash; never empty.
    pub path: String,
}

/// Why a text is not a valid address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It has an unknown prefix.
    #[error(
        "`{0}` is not a server address: write http://HOST/PATH, https://HOST/PATH or \
         ftp://HOST/PATH"
    )]
    Protocol(String),
    #[error("`{0}`: FTP is not measured encrypted. Let the server speak plain FTP")]
    Encrypted(String),
    /// Invalid host part.
    #[error("`{0}` names no server: write HOST, HOST:PORT or [ADDRESS]:PORT after the slashes")]
    Host(String),
    /// A path that would corrupt a request.
    #[error("`{0}` has a blank or control character: escape it, as in %20")]
    Path(String),
    /// Unknown server.
    #[error("{host} cannot be resolved: {cause}")]
    Unknown {
        /// As written.
        host: String,
        /// The system's text.
        cause: String,
    },
}

impl Url {
    /// Parses an address.
    ///
    /// # Errors
    /// If it is invalid.
    // fuzzed: http, ftp
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let fault = || UrlError::Protocol(text.into());
        let (name, rest) = text.split_once("://").ok_or_else(fault)?;
        if name == "ftps" {
            return Err(UrlError::Encrypted(text.into()));
        }
        let named = |it: &Protocol| it.name() == name;
        let protocol = Protocol::ALL.into_iter().find(named).ok_or_else(fault)?;
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        if path.chars().any(|it| it.is_ascii_control() || it == ' ') {
            return Err(UrlError::Path(text.into()));
        }
        let (host, port) = split_port(authority).ok_or_else(|| UrlError::Host(text.into()))?;
        Ok(Self {
            protocol,
            host: host.into(),
            port: port.unwrap_or(protocol.port()),
            path: path.into(),
        })
    }

    /// Another path of the same server.
    pub fn with_path(&self, path: &str) -> Self {
        Self {
            path: path.into(),
            ..self.clone()
        }
    }

    /// The server's name in a request.
    pub fn authority(&self) -> String {
        let is_usual = self.port == self.protocol.port();
        match (self.host.contains(':'), is_usual) {
            (true, true) => format!("[{}]", self.host),
            (true, false) => format!("[{}]:{}", self.host, self.port),
            (false, true) => self.host.clone(),
            (false, false) => format!("{}:{}", self.host, self.port),
        }
    }

    /// The server's first address.
    ///
    /// # Errors
    /// If it has none.
    pub fn resolve(&self) -> Result<SocketAddr, UrlError> {
        let unknown = |cause: String| UrlError::Unknown {
            host: self.host.clone(),
            cause,
        };
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let mut addresses = found.map_err(|error| unknown(error.to_string()))?;
        addresses
            .next()
            .ok_or_else(|| unknown("it has no address".into()))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.name();
        write!(f, "{protocol}://{}{}", self.authority(), self.path)
    }
}

fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => match authority.find(':') {
            Some(colon) => authority.split_at(colon),
            None => (authority, ""),
        },
    };
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
        None if rest.is_empty() => None,
        None => return None,
    };
    let is_name = |it: char| it.is_ascii_graphic() && !"@?#/\\".contains(it);
    (!host.is_empty() && host.chars().all(is_name)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, host: &str, port: u16, path: &str) {
        let url = Url::parse(text).unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            (host, port, path)
        );
    }

    #[test]
    fn addresses_are_read() {
        check("http://a", "a", 80, "/");
        check("http://a:8080/x/y?z", "a", 8080, "/x/y?z");
        check("ftp://10.0.0.1/f", "10.0.0.1", 21, "/f");
        check("http://[::1]:81/", "::1", 81, "/");
        check("http://[::1]", "::1", 80, "/");
        check("https://a/b", "a", 443, "/b");
    }

    #[test]
    fn mistakes_are_named() {
        for text in ["", "a/b", "gopher://a", "http//a"] {
            let fault = Url::parse(text).unwrap_err();
            assert!(matches!(fault, UrlError::Protocol(_)), "{text}: {fault}");
        }
        for text in [
            "http://",
            "http:///x",
            "http://a:",
            "http://a:0/",
            "http://a:99999/",
            "http://[::1/",
            "http://[::1]80/",
            "http://me@a/",
        ] {
            let fault = Url::parse(text).unwrap_err();
            assert!(matches!(fault, UrlError::Host(_)), "{text}: {fault}");
        }
        assert!(matches!(
            Url::parse("ftps://a/"),
            Err(UrlError::Encrypted(_))
        ));
        assert!(matches!(Url::parse("http://a/x y"), Err(UrlError::Path(_))));
        assert!(matches!(
            Url::parse("http://a/x\r\nHost: b"),
            Err(UrlError::Path(_))
        ));
    }

    #[test]
    fn a_server_is_named_as_a_request_wants_it() {
        let named = |text: &str| Url::parse(text).unwrap().authority();
        assert_eq!(named("http://a/x"), "a");
        assert_eq!(named("http://a:8080/x"), "a:8080");
        assert_eq!(named("http://[::1]:8080/x"), "[::1]:8080");
        assert_eq!(named("http://[::1]/x"), "[::1]");
    }
}
