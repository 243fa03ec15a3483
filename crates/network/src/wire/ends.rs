//! The two network namespaces that a link joins: made here, and removed at the end.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

use crate::name_space::{NAMES, NameSpaceError, run_in};

/// The interface at each end.
const INTERFACE: &str = "link0";

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Name of a network namespace that is not there yet.
    pub space: String,
    /// Its address.
    pub address: IpAddr,
    /// Bits of the network's part of the address.
    pub prefix: u8,
}

/// Why there can be no link.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// An address is none.
    #[error("`{0}` is no address of a link's end: write ADDRESS/PREFIX, such as 10.90.0.1/24")]
    Address(String),
    /// Somebody has a namespace of that name.
    #[error(
        "a network namespace {0} is there already: choose another name, or remove it with \
             `ip netns del {0}` when nobody needs it"
    )]
    Taken(String),
    /// A name that `ip` would not take.
    #[error("`{0}` is no name for a network namespace: take letters, digits, - and _")]
    Name(String),
    /// `ip` is missing, or failed.
    #[error("`ip {command}`: {cause}")]
    Command {
        /// Its arguments.
        command: String,
        /// What it said.
        cause: String,
    },
    /// A namespace cannot be entered.
    #[error(transparent)]
    NameSpace(#[from] NameSpaceError),
    /// No interface.
    #[error("an Ethernet interface in {space}: {cause}; it needs root and /dev/net/tun")]
    Interface {
        /// In which namespace.
        space: String,
        /// The system's words.
        cause: io::Error,
    },
    /// The loop that carries packets.
    #[error("carrying packets: {0}")]
    Relay(#[source] io::Error),
}

impl End {
    /// Read a name and `ADDRESS/PREFIX`.
    ///
    /// # Errors
    /// When one of them is none.
    pub fn parse(space: &str, address: &str) -> Result<Self, WireError> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
        if space.is_empty() || space.starts_with('-') || !space.chars().all(is_plain) {
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

/// Two namespaces, each with one end of the link. Dropped, they are removed: what still runs in
/// one keeps it until it ends, but nobody can find it by its name any more.
#[derive(Debug)]
pub struct Ends {
    made: Vec<String>,
    /// The interfaces, in the order of the ends.
    pub(super) taps: Vec<File>,
}

impl Ends {
    /// Make both.
    ///
    /// # Errors
    /// When one of them is there already, or the system refuses; then none is left.
    pub fn make(ends: &[End; 2]) -> Result<Self, WireError> {
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
            let tap = run_in(Some(&end.space), || drivers::open_tap(INTERFACE))?;
            let tap = tap.map_err(|cause| WireError::Interface {
                space: end.space.clone(),
                cause,
            })?;
            made.taps.push(tap);
            let address = format!("{}/{}", end.address, end.prefix);
            let inside = ["-n", &end.space];
            let run = |rest: &[&str]| ip(&[&inside, rest].concat());
            // An IPv6 address would be tried for doubles for a second before it can be used.
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
            // Nothing better can be done about a failure here.
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
            failed("not installed; it comes with the package iproute2".into())
        } else {
            failed(error.to_string())
        }
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(said.lines().next().unwrap_or("failed").into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read() {
        let end = End::parse("fddi-a", "10.90.0.1/24").unwrap();
        assert_eq!((end.space.as_str(), end.prefix), ("fddi-a", 24));
        assert_eq!(End::parse("b", "fd00::1/64").unwrap().prefix, 64);
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
            let fault = End::parse("a", address).unwrap_err();
            assert!(matches!(fault, WireError::Address(_)), "{address}: {fault}");
        }
        for name in ["", "-n", "a/b", "a b", "."] {
            let fault = End::parse(name, "10.90.0.1/24").unwrap_err();
            assert!(matches!(fault, WireError::Name(_)), "{name}: {fault}");
        }
    }
}
