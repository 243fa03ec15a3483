//! Sockets with a given window size.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};

/// Maximum number of connections waiting to be accepted.
const BACKLOG: i32 = 16;

/// Socket options set before connecting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Maximum unacknowledged bytes; the system's default if absent.
    pub window: Option<u32>,
    /// Congestion control, such as `reno`; the system's default if absent.
    pub congestion: Option<String>,
}

/// The system only reports a missing file.
fn unknown_congestion(name: &str, errno: rustix::io::Errno) -> io::Error {
    let why = match errno {
        rustix::io::Errno::NOENT => "the system has no algorithm of that name".to_owned(),
        other => io::Error::from(other).to_string(),
    };
    io::Error::other(format!(
        "congestion = {name:?}: {why}. /proc/sys/net/ipv4/tcp_available_congestion_control lists \
         what is available"
    ))
}

impl SocketOptions {
    /// Checks that the system accepts them.
    ///
    /// # Errors
    /// If it does not, in words.
    pub fn check(&self) -> io::Result<()> {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        self.apply(&make(&address, SocketFlags::CLOEXEC)?)
    }

    /// Sets the window again after the first bytes: from these the kernel learns the packet size,
    /// and derives its own limit from the buffer size.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn hold_window(&self, stream: &TcpStream) -> io::Result<()> {
        self.window
            .map_or(Ok(()), |window| sys::limit_window(stream.as_fd(), window))
    }

    /// Set before connecting or listening, since window scaling is negotiated at the start of a
    /// connection. The receiver's offer never exceeds the window (`TCP_WINDOW_CLAMP`). The buffer
    /// is twice that, because the kernel also charges packet overhead to it. A sender keeps
    /// unacknowledged data in its buffer, which the kernel also doubles.
    fn apply(&self, socket: &OwnedFd) -> io::Result<()> {
        if let Some(window) = self.window {
            let bytes = window as usize;
            sockopt::set_socket_recv_buffer_size(socket, bytes.saturating_mul(2))?;
            sockopt::set_socket_send_buffer_size(socket, bytes)?;
            sys::limit_window(socket.as_fd(), window)?;
        }
        if let Some(name) = &self.congestion {
            sockopt::set_tcp_congestion(socket, name)
                .map_err(|errno| unknown_congestion(name, errno))?;
        }
        Ok(())
    }
}

/// A non-blocking socket for `address`.
pub(crate) fn open(address: &SocketAddr, options: &SocketOptions) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = make(address, flags)?;
    options.apply(&socket)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

/// Connects, and waits for it in slices of `patience`.
pub(crate) fn connect(
    address: &SocketAddr,
    options: &SocketOptions,
    patience: &crate::patience::Patience<'_>,
) -> Result<TcpStream, crate::patience::WaitError> {
    use crate::patience::WaitError;
    let socket = open(address, options).map_err(WaitError::Failed)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) => {}
        Err(rustix::io::Errno::INPROGRESS) => {
            patience.attempt(|| wait_until_writable(&socket))?;
            let outcome = sockopt::socket_error(&socket).map_err(io::Error::from);
            let outcome = outcome.and_then(|it| it.map_err(io::Error::from));
            outcome.map_err(WaitError::Failed)?;
        }
        Err(errno) => return Err(WaitError::Failed(errno.into())),
    }
    let stream = TcpStream::from(socket);
    let settled = stream
        .set_nonblocking(false)
        .and_then(|()| patience.prepare(&stream));
    settled.map_err(WaitError::Failed)?;
    Ok(stream)
}

/// Listens on a port chosen by the system.
pub(crate) fn listen(address: &SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = make(address, SocketFlags::CLOEXEC)?;
    options.apply(&socket)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

fn make(address: &SocketAddr, flags: SocketFlags) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let made = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    Ok(made)
}

/// Waits for one slice; silence is [`io::ErrorKind::WouldBlock`].
fn wait_until_writable(socket: &OwnedFd) -> io::Result<()> {
    wait(socket.as_fd(), rustix::event::PollFlags::OUT)
}

/// Waits for one slice until data can be read; silence is [`io::ErrorKind::WouldBlock`].
pub(crate) fn wait_until_readable(socket: impl AsFd) -> io::Result<()> {
    wait(socket.as_fd(), rustix::event::PollFlags::IN)
}

fn wait(socket: std::os::fd::BorrowedFd<'_>, what: rustix::event::PollFlags) -> io::Result<()> {
    let mut polled = [rustix::event::PollFd::from_borrowed_fd(socket, what)];
    let slice = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(crate::patience::SLICE.subsec_nanos()),
    };
    match rustix::event::poll(&mut polled, Some(&slice))? {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        _ => Ok(()),
    }
}
