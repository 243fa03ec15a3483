//! The full screen, in a build without one.

use std::io::{self, ErrorKind, IsTerminal as _};

use results::live::{Live, LiveCommand};

use crate::left_out::SCREEN;

/// A screen, of which this build has none.
pub enum Screen {}

impl Screen {
    /// Refuse: as unsupported where there is a terminal that could show one.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str) -> io::Result<Self> {
        let kind = match io::stdout().is_terminal() {
            true => ErrorKind::Unsupported,
            false => ErrorKind::NotFound,
        };
        Err(io::Error::new(kind, SCREEN))
    }

    pub fn show(&self, _: Live) {
        match *self {}
    }

    pub fn command(&self) -> Option<LiveCommand> {
        match *self {}
    }

    pub fn close(self) {
        match self {}
    }
}
