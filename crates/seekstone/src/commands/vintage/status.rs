//! What the programs say while they run: lines, and on a terminal below them how far they are.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// A line of a terminal that changes; none elsewhere, or where it shall be quiet.
pub struct StatusLine {
    bar: Option<ProgressBar>,
}

impl StatusLine {
    pub fn new(quiet: bool) -> Self {
        let is_shown = std::io::stderr().is_terminal() && !quiet;
        let bar = is_shown.then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(4);
            // Without a length there is no bar to draw, only what is said.
            let style = ProgressStyle::with_template("{wide_msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        Self { bar }
    }

    /// Show how far it is; whether there is such a line.
    pub fn show(&self, text: &str) -> bool {
        if let Some(bar) = &self.bar {
            bar.set_message(units::printable(text));
        }
        self.bar.is_some()
    }

    /// A line of standard output. A reader that has gone away does not end the program: its files
    /// are what counts.
    pub fn print(&self, text: &str) {
        self.above(|| drop(output::print(text)));
    }

    /// A line of standard error.
    pub fn complain(&self, text: &str) {
        self.above(|| output::complain(text));
    }

    fn above(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Tells each tenth of a data file that is being made.
pub struct FillingTenths {
    quiet: bool,
    reported: u64,
}

impl FillingTenths {
    pub const fn new(quiet: bool) -> Self {
        Self { quiet, reported: 0 }
    }

    /// Told of bytes written, and of all bytes.
    pub fn show(&mut self, done: u64, all: u64) {
        let tenths = done * 10 / all.max(1);
        if tenths > self.reported && !self.quiet {
            output::complain(&format!("making the data file: {} %", tenths * 10));
        }
        self.reported = tenths;
    }
}
