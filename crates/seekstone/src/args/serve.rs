//! `seekstone serve`, and the addresses that it and `--live` take.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

/// `seekstone serve`.
///
/// Serves the archive as web pages: list and filter runs, open them, tick some and compare them.
/// Read-only. Ctrl-C stops it.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Where to listen: a port on localhost, or IP:PORT, whose URL then holds a token. Port 0 picks
    /// a free one.
    #[arg(long, value_name = "ADDR", default_value = "7979", value_parser = parse_address)]
    pub listen: SocketAddr,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
}

/// A port on localhost, or an address with its port.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = text
        .parse()
        .map(|port: u16| (IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    port.map(SocketAddr::from)
        .or_else(|_| text.parse())
        .map_err(|_| match text.parse::<IpAddr>() {
            Ok(ip) => format!("add a port, as in {}", SocketAddr::from((ip, 7979))),
            Err(_) => "give a port, such as 7979, or IP:PORT, such as 192.0.2.1:7979".to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_of_this_machine() {
        let check = |text: &str, expected: &str| {
            let found = parse_address(text).map(|it| it.to_string());
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
        };
        check("0", "127.0.0.1:0");
        check("7979", "127.0.0.1:7979");
        check("0.0.0.0:80", "0.0.0.0:80");
        check("[::1]:80", "[::1]:80");
        for text in ["", "70000", "localhost:80", ":80"] {
            let why = parse_address(text).expect_err(text);
            assert!(why.starts_with("give a port"), "{why}");
        }
        let why = parse_address("10.0.0.1").expect_err("no port");
        assert_eq!(why, "add a port, as in 10.0.0.1:7979");
    }
}
