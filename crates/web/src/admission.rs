//! Access control. On a loopback address, requests must name this host, so that no page of another
//! site reaches it by DNS rebinding; elsewhere they need a token. Cross-site requests are refused.

use std::io;
use std::net::SocketAddr;

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use rustix::rand::{GetRandomFlags, getrandom};

const TOKEN_BYTES: usize = 16;
/// The port that an address of HTTP need not name.
const HTTP_PORT: u16 = 80;

/// Conditions for a request to be answered.
#[derive(Clone, Debug)]
pub(crate) struct Admission {
    address: SocketAddr,
    /// Prefix of paths on a non-loopback address.
    token: Option<String>,
}

impl Admission {
    /// The conditions of a server at that address.
    pub fn of(address: SocketAddr) -> io::Result<Self> {
        let token = (!address.ip().is_loopback()).then(token).transpose()?;
        Ok(Self { address, token })
    }

    /// URL of the first page.
    pub fn url(&self) -> String {
        let token = self.token.iter().map(|token| format!("{token}/"));
        format!("http://{}/{}", self.address, token.collect::<String>())
    }

    /// The path without the token; `None` if the request is refused.
    // fuzzed: request_head
    pub fn admitted<'a>(&self, path: &'a str, headers: &HeaderMap) -> Option<&'a str> {
        let path = path.strip_prefix('/')?;
        let host = headers.get(HOST)?.to_str().ok()?;
        if let Some(origin) = headers.get(ORIGIN)
            && origin.to_str().ok()?.strip_prefix("http://") != Some(host)
        {
            return None;
        }
        let Some(token) = &self.token else {
            return self.is_here(host).then_some(path);
        };
        let (given, path) = path.split_once('/')?;
        is_same(given.as_bytes(), token.as_bytes()).then_some(path)
    }

    /// Whether it is this host, by a name that nobody else can claim.
    fn is_here(&self, host: &str) -> bool {
        let port = self.address.port();
        let is_own = |host: &str| match host.parse::<SocketAddr>() {
            Ok(it) => it.ip().is_loopback() && it.port() == port,
            Err(_) => host.eq_ignore_ascii_case(&format!("localhost:{port}")),
        };
        is_own(host) || port == HTTP_PORT && is_own(&format!("{host}:{HTTP_PORT}"))
    }
}

/// Compares in constant time.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

/// A random token.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let got = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if got < TOKEN_BYTES {
        return Err(io::Error::other("too few random bytes"));
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(
        admission: &Admission,
        path: &str,
        host: &str,
        origin: Option<&str>,
        expected: Option<&str>,
    ) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).expect("a host"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("an origin"));
        }
        assert_eq!(
            admission.admitted(path, &headers),
            expected,
            "{path} {host} {origin:?}"
        );
    }

    /// A name that temporarily resolves to this machine (DNS rebinding) is not a name of this host.
    #[test]
    fn only_names_of_this_host_are_answered_on_loopback() {
        for address in ["127.0.0.1:7000", "[::1]:7000"] {
            let admission =
                Admission::of(address.parse().expect("an address")).expect("a admission");
            for host in [
                "127.0.0.1:7000",
                "127.9.9.9:7000",
                "[::1]:7000",
                "LocalHost:7000",
            ] {
                check(&admission, "/a", host, None, Some("a"));
                check(
                    &admission,
                    "/a",
                    host,
                    Some(&format!("http://{host}")),
                    Some("a"),
                );
                check(&admission, "/a", host, Some("http://evil.example"), None);
                check(&admission, "/a", host, Some("null"), None);
                check(
                    &admission,
                    "/a",
                    host,
                    Some(&format!("https://{host}")),
                    None,
                );
            }
            for host in [
                "127.0.0.1",
                "localhost",
                "[::1]",
                "::1:7000",
                "127.0.0.1:80",
                "10.0.0.1:7000",
                "[::2]:7000",
                "[::ffff:10.0.0.1]:7000",
                "localhost.evil.example:7000",
                "7000",
                "",
                "127.0.0.1.evil.example:7000",
                "localhost:7000.evil.example",
                "2130706433:7000",
            ] {
                check(&admission, "/a", host, None, None);
            }
        }
        let admission =
            Admission::of("127.0.0.1:80".parse().expect("an address")).expect("a admission");
        for host in ["localhost", "127.0.0.1", "[::1]", "localhost:80"] {
            check(&admission, "/", host, None, Some(""));
        }
        check(&admission, "/", "evil.example", None, None);
    }

    #[test]
    fn other_addresses_are_answered_by_their_token() {
        let admission =
            Admission::of("192.0.2.1:7000".parse().expect("an address")).expect("a admission");
        let token = admission.token.clone().expect("a token");
        assert_eq!(admission.url(), format!("http://192.0.2.1:7000/{token}/"));
        check(
            &admission,
            &format!("/{token}/run/1"),
            "any",
            None,
            Some("run/1"),
        );
        check(
            &admission,
            &format!("/{token}/"),
            "any",
            Some("http://evil.example"),
            None,
        );
        for path in [
            "",
            "/",
            "/run/1",
            &token[1..],
            &format!("/{token}"),
            &format!("/{token}0/"),
        ] {
            check(&admission, path, "any", None, None);
        }
        let mut wrong = token.into_bytes();
        wrong[31] ^= 1;
        let wrong = String::from_utf8(wrong).expect("text");
        check(&admission, &format!("/{wrong}/"), "any", None, None);
    }
}
