//! The real terminal: takes it over, writes whole frames, and restores it.

use std::io::{self, IsTerminal as _, Write};
use std::panic;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::ResetColor;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// State of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// Frames may be written.
    Ours,
    /// Still to be restored, but no more frames are written.
    Frozen,
    GivenBack,
}

/// The terminal while it is ours. It is restored once, by the owner or a panic, and no frame is
/// written after that.
#[derive(Clone, Debug)]
pub(crate) struct TerminalGuard {
    hold: Arc<Mutex<Hold>>,
}

impl TerminalGuard {
    /// Takes over the terminal, and makes sure that a panic's message is printed after restoring
    /// it.
    pub(crate) fn open() -> io::Result<Self> {
        check_terminal()?;
        enable_raw_mode().map_err(|error| context("switching the terminal to raw mode", &error))?;
        let gate = Self {
            hold: Arc::new(Mutex::new(Hold::Ours)),
        };
        if let Err(error) = execute!(io::stdout(), EnterAlternateScreen, Hide) {
            gate.give_back();
            return Err(context("opening the full-screen display", &error));
        }
        gate.give_back_before_panics();
        Ok(gate)
    }

    /// Restores the terminal, once.
    pub(crate) fn give_back(&self) {
        let mut hold = self.lock();
        if *hold == Hold::GivenBack {
            return;
        }
        *hold = Hold::GivenBack;
        // A vanished terminal needs no restoring, and nobody could read an error.
        let _ = execute!(io::stdout(), ResetColor, Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }

    /// Whether the terminal was not restored yet.
    pub(crate) fn is_ours(&self) -> bool {
        *self.lock() == Hold::Ours
    }

    /// Blocks further frames. The library writes once more on drop, and would report a vanished
    /// terminal in the middle of other output.
    pub(crate) fn freeze(&self) {
        let mut hold = self.lock();
        if *hold == Hold::Ours {
            *hold = Hold::Frozen;
        }
    }

    fn give_back_before_panics(&self) {
        let gate = self.clone();
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            gate.give_back();
            previous(panic);
        }));
    }

    fn lock(&self) -> MutexGuard<'_, Hold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A frame in progress: nothing is written before it is complete.
#[derive(Debug)]
pub(crate) struct PictureWriter {
    gate: TerminalGuard,
    picture: Vec<u8>,
}

impl PictureWriter {
    pub(crate) fn new(gate: TerminalGuard) -> Self {
        Self {
            gate,
            picture: Vec::new(),
        }
    }
}

impl Write for PictureWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.picture.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let hold = self.gate.lock();
        let mut written = Ok(());
        if *hold == Hold::Ours {
            let mut out = io::stdout().lock();
            written = out.write_all(&self.picture).and_then(|()| out.flush());
        }
        drop(hold);
        self.picture.clear();
        written
    }
}

fn check_terminal() -> io::Result<()> {
    let (input, output) = (io::stdin().is_terminal(), io::stdout().is_terminal());
    let name = std::env::var("TERM").unwrap_or_default();
    match hindrance(input, output, &name) {
        Some(hindrance) => Err(io::Error::other(format!(
            "the full-screen display: {hindrance}"
        ))),
        None => Ok(()),
    }
}

/// Why a full-screen display is not possible.
fn hindrance(is_input: bool, is_output: bool, name: &str) -> Option<&'static str> {
    match (is_input, is_output) {
        (true, true) => (name == "dumb").then_some("this terminal (TERM=dumb) cannot place text"),
        (true, false) => Some("standard output is no terminal"),
        (false, true) => Some("standard input is no terminal"),
        (false, false) => Some("standard input and output are no terminal"),
    }
}

fn context(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_terminal_is_named() {
        assert_eq!(hindrance(true, true, "xterm"), None);
        for (input, output, name, expected) in [
            (true, true, "dumb", "TERM=dumb"),
            (true, false, "xterm", "output is no terminal"),
            (false, true, "xterm", "input is no terminal"),
            (false, false, "xterm", "input and output are no terminal"),
        ] {
            let text = hindrance(input, output, name).unwrap_or_default();
            assert!(text.contains(expected), "{text}");
        }
    }
}
