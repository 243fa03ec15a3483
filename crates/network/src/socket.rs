//! Sockets with a window of a chosen size.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 16;

/// What a socket is given before it connects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// The most bytes that may be under way unacknowledged; the system's own way without it.
    pub window: Option<u32>,
    /// How the sender adapts to the link, such as `reno`; the system's default without it.
    pub congestion: Option<String>,
}

/// The system only says that there is no such file.
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
    /// Whether the system takes them.
    ///
    /// # Errors
    /// When it does not, in words.
    pub fn check(&self) -> io::Result<()> {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        self.apply(&make(&address, SocketFlags::CLOEXEC)?)
    }

    /// The same again, now that bytes have come: with the first ones the kernel sees how large
    /// packets are, and reckons a limit of its own from the size of the buffer.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn hold_window(&self, stream: &TcpStream) -> io::Result<()> {
        self.window
            .map_or(Ok(()), |window| sys::limit_window(stream.as_fd(), window))
    }

    /// Before it connects or listens: the scale of windows is agreed on when a connection begins.
    ///
    /// What a receiver offers never exceeds the window (`TCP_WINDOW_CLAMP`). The buffer is twice
    /// that, because the kernel also charges it for the packets around the bytes. A sender keeps
    /// what is unacknowledged in its buffer, and the kernel doubles what is asked for likewise.
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

/// A socket for `address` that does not block.
pub(crate) fn open(address: &SocketAddr, options: &SocketOptions) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = make(address, flags)?;
    options.apply(&socket)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

/// Connect, and wait for it for at most `patience`'s slice after slice.
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

/// Listen on a port of the system's choice.
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

/// Wait for one slice; silence is [`io::ErrorKind::WouldBlock`].
fn wait_until_writable(socket: &OwnedFd) -> io::Result<()> {
    wait(socket.as_fd(), rustix::event::PollFlags::OUT)
}

/// Wait for one slice until something is there to be read; silence is
/// [`io::ErrorKind::WouldBlock`].
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
