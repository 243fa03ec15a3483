//! The FTP control connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::reply::{Reply, read_reply};
use crate::faults::cause_of;
use crate::patience::{Patience, WaitError};
use crate::socket::{self, SocketOptions};

/// Maximum time for a server to clean up.
const CLOSE_REPLY_MAX: Duration = Duration::from_secs(10);

/// Why a transfer failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// In words.
    Fault(String),
    /// The run is stopped.
    Stopped,
}

/// A control connection.
pub struct Control<'a> {
    stream: TcpStream,
    peer: SocketAddr,
    held: Vec<u8>,
    patience: Patience<'a>,
}

impl<'a> Control<'a> {
    /// Connects and reads the greeting.
    pub fn open(address: SocketAddr, patience: Patience<'a>) -> Result<Self, Trouble> {
        let options = SocketOptions::default();
        let stream = socket::connect(&address, &options, &patience)
            .map_err(|wait_error| trouble("connect", &wait_error, &patience))?;
        let mut control = Self {
            stream,
            peer: address,
            held: Vec::new(),
            patience,
        };
        let greeting = control.reply("greeting")?;
        good("greeting", greeting)?;
        Ok(control)
    }

    /// Logs in.
    pub fn log_in(&mut self, user: &str, password: &str) -> Result<(), Trouble> {
        let reply = self.ask(&format!("USER {user}"))?;
        if reply.code == 331 {
            let reply = self.ask(&format!("PASS {password}"))?;
            good("PASS", reply)?;
        } else {
            good("USER", reply)?;
        }
        self.demand("TYPE I").map(drop)
    }

    /// Sends a command and returns its reply.
    pub fn ask(&mut self, command: &str) -> Result<Reply, Trouble> {
        let word = command.split(' ').next().unwrap_or_default();
        if command.contains(['\r', '\n']) {
            return Err(Trouble::Fault(format!(
                "{word}: a line end in its argument"
            )));
        }
        let line = format!("{command}\r\n");
        let sent = self.stream.write_all(line.as_bytes());
        sent.map_err(|error| trouble(word, &WaitError::Failed(error), &self.patience))?;
        self.reply(word)
    }

    /// Sends a command that must succeed.
    pub fn demand(&mut self, command: &str) -> Result<Reply, Trouble> {
        let word = command.split(' ').next().unwrap_or_default();
        good(word, self.ask(command)?)
    }

    /// The next reply.
    pub fn reply(&mut self, what: &str) -> Result<Reply, Trouble> {
        let mut buffer = [0; 4096];
        loop {
            match read_reply(&self.held) {
                Ok(Some((reply, length))) => {
                    self.held.drain(..length);
                    return Ok(reply);
                }
                Ok(None) => {}
                Err(fault) => return Err(Trouble::Fault(format!("{what}: {fault}"))),
            }
            let count = self
                .patience
                .attempt(|| self.stream.read(&mut buffer))
                .map_err(|wait_error| trouble(what, &wait_error, &self.patience))?;
            if count == 0 {
                return Err(Trouble::Fault(format!("{what}: connection closed")));
            }
            self.held.extend_from_slice(&buffer[..count]);
        }
    }

    /// The final reply of a command, after intermediate ones.
    pub fn last_reply(&mut self, what: &str) -> Result<Reply, Trouble> {
        loop {
            let reply = self.reply(what)?;
            if reply.code >= 200 {
                return Ok(reply);
            }
        }
    }

    /// From now on, waits for replies even if the run is stopped, but only briefly.
    pub fn insist(&mut self) {
        self.patience = Patience {
            timeout: self.patience.timeout.min(CLOSE_REPLY_MAX),
            is_stopped: &|| false,
        };
    }

    /// Opens a data connection: extended passive if the server supports it, else passive.
    pub fn open_data(&mut self, options: &SocketOptions) -> Result<TcpStream, Trouble> {
        let extended = self.ask("EPSV")?;
        let port = match extended.code {
            229 => extended.extended_port(),
            _ => self.demand("PASV")?.passive_port(),
        };
        let port = port.ok_or_else(|| Trouble::Fault("EPSV: no port in its reply".into()))?;
        let address = SocketAddr::new(self.peer.ip(), port);
        socket::connect(&address, options, &self.patience)
            .map_err(|wait_error| trouble("connect for data", &wait_error, &self.patience))
    }
}

/// A reply that says yes.
pub fn good(what: &str, reply: Reply) -> Result<Reply, Trouble> {
    if reply.is_good() {
        Ok(reply)
    } else {
        let Reply { code, text } = reply;
        Err(Trouble::Fault(format!("{what}: {code} {text}")))
    }
}

/// The error in words.
pub fn trouble(what: &str, wait_error: &WaitError, patience: &Patience<'_>) -> Trouble {
    match wait_error {
        WaitError::Stopped => Trouble::Stopped,
        WaitError::TimedOut => {
            Trouble::Fault(format!("{what}: nothing within {:?}", patience.timeout))
        }
        WaitError::Failed(error) => Trouble::Fault(format!("{what}: {}", cause_of(error))),
    }
}
