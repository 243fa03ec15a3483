//! System calls that no crate wraps: the limit of a window, the round trip that a connection sees,
//! and an Ethernet interface whose packets a program carries (TAP; in the kernel's
//! `Documentation/networking/tuntap.rst`).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Never offer a peer a window above this (`TCP_WINDOW_CLAMP`, tcp(7)).
///
/// # Errors
/// When the system refuses.
pub fn limit_window(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    let value = libc::c_int::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: the kernel reads one integer, which lives through the call.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The round trip as the sender of a connection sees it, smoothed (`TCP_INFO`, RFC 6298).
///
/// # Errors
/// When it is no connection.
pub fn round_trip(socket: BorrowedFd<'_>) -> io::Result<Duration> {
    // SAFETY: all zeroes is a valid value: the kernel may fill less than all of it.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into a struct of its own layout.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if outcome == 0 {
        Ok(Duration::from_micros(u64::from(info.tcpi_rtt)))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Make an Ethernet interface in the calling thread's network namespace. What the kernel sends out
/// there is read from the file, packet by packet, and what is written to the file arrives there.
/// Reads do not block. The interface is gone when the file is closed.
///
/// # Errors
/// When the name does not fit, the device `/dev/net/tun` is missing, or the system refuses.
pub fn open_tap(name: &str) -> io::Result<File> {
    if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains(['/', '\0']) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")?;
    // SAFETY: all zeroes is a valid request: an empty name, no flags.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request has the kernel's layout and lives through the call.
    let outcome = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if outcome == 0 {
        Ok(file)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_window_has_a_limit() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        limit_window(socket.as_fd(), 9216).unwrap();
        let file = tempfile::tempfile().unwrap();
        assert!(limit_window(file.as_fd(), 9216).is_err(), "no socket");
    }

    #[test]
    fn a_connection_has_a_round_trip() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let found = round_trip(stream.as_fd()).unwrap();
        assert!(
            found > Duration::ZERO && found < Duration::from_secs(60),
            "{found:?}"
        );
        let file = tempfile::tempfile().unwrap();
        assert!(round_trip(file.as_fd()).is_err(), "no socket");
    }

    #[test]
    fn an_interface_needs_a_name_that_fits() {
        for name in ["", "a/b", "sixteen-letters-"] {
            let kind = open_tap(name).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput, "{name}");
        }
    }
}
