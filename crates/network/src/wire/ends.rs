//! The two network namespaces joined by a link: created here, and removed at the end.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use crate::name_space::{NAMES, NameSpaceError, run_in};

/// Maximum length of a namespace's name, which is a file name.
const NAME_MAX: usize = 255;
/// The interface at each end.
const INTERFACE: &str = "link0";

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Name of a network namespace that does not exist yet.
    pub space: String,
    pub address: IpAddr,
    /// Prefix length of the address.
    pub prefix: u8,
}

/// Why a link is not possible.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Invalid address.
    #[error("`{0}` is not an interface address: write ADDRESS/PREFIX, such as 10.90.0.1/24")]
    Address(String),
    /// The ends could not reach each other.
    #[error("{0}")]
    Apart(String),
    /// A namespace with that name exists.
    #[error(
        "the network namespace {0} exists already. Choose another name, or remove it with `ip \
         netns del {0}`"
    )]
    Taken(String),
    /// A name that `ip` would not accept.
    #[error("`{0}` is not a name for a network namespace: use letters, digits, - and _")]
    Name(String),
    /// `ip` is missing, or failed.
    #[error("`ip {command}`: {cause}")]
    Command {
        /// Its arguments.
        command: String,
        /// Its output.
        cause: String,
    },
    /// A namespace cannot be entered.
    #[error(transparent)]
    NameSpace(#[from] NameSpaceError),
    /// The interface is missing.
    #[error("an Ethernet interface in {space}: {cause}. It needs root and /dev/net/tun")]
    Interface {
        /// Its namespace.
        space: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The packet loop failed.
    #[error("carrying packets: {0}")]
    Relay(#[source] io::Error),
}

impl LinkEnd {
    /// Parses a name and `ADDRESS/PREFIX`.
    ///
    /// # Errors
    /// If one of them is invalid.
    pub fn parse(space: &str, address: &str) -> Result<Self, WireError> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if space.is_empty()
            || space.len() > NAME_MAX
            || space.starts_with('-')
            || !space.chars().all(is_plain)
        {
            return Err(WireError::Name(space.into()));
        }
        let fault = || WireError::Address(address.into());
        let (ip, prefix) = address.split_once('/').ok_or_else(fault)?;
        let ip: IpAddr = ip.parse().map_err(|_| fault())?;
        let prefix: u8 = prefix.parse().map_err(|_| fault())?;
        let longest = if ip.is_ipv4() { 32 } else { 128 };
        if prefix > longest {
            return Err(fault());
        }
        Ok(Self {
            space: space.into(),
            address: ip,
            prefix,
        })
    }
}

impl LinkEnd {
    /// The first address of its network, as a number.
    fn network(&self) -> u128 {
        self.number() & !self.host_bits()
    }

    fn number(&self) -> u128 {
        match self.address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        }
    }

    fn width(&self) -> u32 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    /// The host part, all ones.
    fn host_bits(&self) -> u128 {
        let count = self.width().saturating_sub(u32::from(self.prefix));
        1_u128.checked_shl(count).map_or(u128::MAX, |it| it - 1)
    }

    /// Whether a host can have the address. In IPv4 the first address is the network's, and the
    /// last one is for broadcast, unless there are at most two (RFC 3021).
    fn is_of_a_host(&self) -> bool {
        let is_special = self.address.is_unspecified()
            || self.address.is_multicast()
            || self.address.is_loopback();
        let hosts = self.number() & self.host_bits();
        let has_names = self.address.is_ipv4() && self.host_bits() > 1;
        !is_special && !(has_names && (hosts == 0 || hosts == self.host_bits()))
    }
}

impl std::fmt::Display for LinkEnd {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}/{}", self.space, self.address, self.prefix)
    }
}

/// Checks that two ends can be joined.
///
/// # Errors
/// If they share a name or an address, a host cannot have an address, or one end would not reach
/// the other over the link, because it is in another network.
pub fn check_ends(ends: &[LinkEnd; 2]) -> Result<(), WireError> {
    let [near, far] = ends;
    let refused = |text: String| Err(WireError::Apart(text));
    if near.space == far.space || near.address == far.address {
        return refused("the two ends need names and addresses of their own".into());
    }
    for end in ends {
        if !end.is_of_a_host() {
            return refused(format!(
                "{end}: no host can have this address. Take another one of its network"
            ));
        }
        if end.network() == 0 {
            return refused(format!(
                "{end}: this is no network that packets are sent to. Write a longer prefix, such \
                 as 10.90.0.1/24"
            ));
        }
    }
    let is_one_kind = near.address.is_ipv4() == far.address.is_ipv4();
    if is_one_kind && near.prefix == far.prefix && near.network() == far.network() {
        return Ok(());
    }
    refused(format!(
        "{near} and {far} lie in different networks, and would not reach each other. Give both \
         ends addresses of one network, such as 10.90.0.1/24 and 10.90.0.2/24"
    ))
}

/// Two namespaces, each with one end of the link. On drop they are removed: a running process keeps
/// one until it ends, but it can no longer be found by name.
#[derive(Debug)]
pub struct Ends {
    made: Vec<String>,
    /// The interfaces, in the order of the ends.
    pub(super) taps: Vec<File>,
}

impl Ends {
    /// Creates both.
    ///
    /// # Errors
    /// If they cannot be joined, one of them exists already, or the system refuses. Then none is
    /// left.
    pub fn make(ends: &[LinkEnd; 2]) -> Result<Self, WireError> {
        check_ends(ends)?;
        let mut made = Self {
            made: Vec::new(),
            taps: Vec::new(),
        };
        for end in ends {
            if Path::new(NAMES).join(&end.space).exists() {
                return Err(WireError::Taken(end.space.clone()));
            }
            ip(&["netns", "add", &end.space])?;
            made.made.push(end.space.clone());
            let tap = run_in(Some(&end.space), || sys::open_tap(INTERFACE))?;
            let tap = tap.map_err(|cause| WireError::Interface {
                space: end.space.clone(),
                cause,
            })?;
            made.taps.push(tap);
            let address = format!("{}/{}", end.address, end.prefix);
            let inside = ["-n", &end.space];
            let run = |rest: &[&str]| ip(&[&inside, rest].concat());
            // Otherwise duplicate address detection would block an IPv6 address for a second.
            let no_trial: &[&str] = if end.address.is_ipv6() {
                &["nodad"]
            } else {
                &[]
            };
            run(&[&["addr", "add", &address, "dev", INTERFACE], no_trial].concat())?;
            run(&["link", "set", "lo", "up"])?;
            run(&["link", "set", INTERFACE, "up"])?;
        }
        Ok(made)
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.taps.clear();
        for space in &self.made {
            // A failure here cannot be handled.
            let _ = ip(&["netns", "del", space]);
        }
    }
}

fn ip(args: &[&str]) -> Result<(), WireError> {
    let failed = |cause: String| WireError::Command {
        command: args.join(" "),
        cause,
    };
    let output = Command::new("ip").args(args).output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            failed("not installed. It comes with the package iproute2".into())
        } else {
            failed(error.to_string())
        }
    })?;
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stderr);
    Err(failed(output.lines().next().unwrap_or("failed").into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read() {
        let end = LinkEnd::parse("fddi-a", "10.90.0.1/24").unwrap();
        assert_eq!((end.space.as_str(), end.prefix), ("fddi-a", 24));
        assert_eq!(LinkEnd::parse("b", "fd00::1/64").unwrap().prefix, 64);
    }

    #[track_caller]
    fn check(near: &str, far: &str, expected: &str) {
        let end = |space: &str, address: &str| LinkEnd::parse(space, address).unwrap();
        let checked = check_ends(&[end("near", near), end("far", far)]);
        match checked {
            Ok(()) => assert_eq!(expected, "", "{near} {far}"),
            Err(error) => {
                let text = error.to_string();
                assert!(!expected.is_empty() && text.contains(expected), "{text}");
            }
        }
    }

    #[test]
    fn ends_of_one_network_are_joined() {
        check("10.90.0.1/24", "10.90.0.2/24", "");
        check("10.90.0.0/31", "10.90.0.1/31", "");
        check("fd00::1/64", "fd00::ff:2/64", "");
        check("fd00::/127", "fd00::1/127", "");
    }

    #[test]
    fn ends_that_would_not_find_each_other_are_refused() {
        check("10.90.0.1/24", "10.91.0.2/24", "lie in different networks");
        check("10.90.0.1/24", "10.90.0.2/16", "lie in different networks");
        check("10.90.0.1/32", "10.90.0.2/32", "lie in different networks");
        check("10.90.0.1/24", "fd00::2/24", "lie in different networks");
        check("fd00::1/64", "fd01::1/64", "lie in different networks");
        check("10.90.0.1/24", "10.90.0.1/24", "of their own");
        check("10.90.0.1/0", "192.168.0.2/0", "Write a longer prefix");
        check("10.90.0.1/4", "10.90.0.2/4", "Write a longer prefix");
        check("fd00::1/0", "fd00::2/0", "Write a longer prefix");
        check("10.90.0.0/24", "10.90.0.1/24", "no host can have");
        check("10.90.0.1/24", "10.90.0.255/24", "no host can have");
        check("127.0.0.1/8", "127.0.0.2/8", "no host can have");
        check("ff02::1/64", "ff02::2/64", "no host can have");
        check("::/64", "::2/64", "no host can have");
    }

    #[test]
    fn mistakes_are_named() {
        for address in [
            "",
            "10.90.0.1",
            "10.90.0/24",
            "10.90.0.1/33",
            "fd00::1/129",
            "a/24",
        ] {
            let fault = LinkEnd::parse("a", address).unwrap_err();
            assert!(matches!(fault, WireError::Address(_)), "{address}: {fault}");
        }
        let long = "x".repeat(256);
        for name in ["", &long, "-n", "a/b", "a b", "."] {
            let fault = LinkEnd::parse(name, "10.90.0.1/24").unwrap_err();
            assert!(matches!(fault, WireError::Name(_)), "{name}: {fault}");
        }
    }
}
