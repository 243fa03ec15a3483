//! A test on the full screen, with the keys of the manual.

use std::time::{Duration, Instant};

use results::live::LiveCommand;
use vintage::rpt::log::LogEntry;
use vintage::rpt::{RptSession, live};
use vintage::run::Operator;

use crate::commands::vintage::status::FillingTenths;
use crate::output;
use crate::screen::Screen;

/// How often the screen is given something new.
const EVERY: Duration = Duration::from_millis(100);

/// The screen, opened when the data file is ready.
pub struct RptWindow {
    filling: FillingTenths,
    screen: Option<Screen>,
    shown: Option<Instant>,
    warnings: Vec<String>,
    /// Whether the terminal refused; the test then goes on without a screen.
    is_refused: bool,
}

impl RptWindow {
    /// A screen that is not open yet.
    pub const fn new(quiet: bool) -> Self {
        Self {
            filling: FillingTenths::new(quiet),
            screen: None,
            shown: None,
            warnings: Vec::new(),
            is_refused: false,
        }
    }
}

impl Operator for RptWindow {
    fn filling(&mut self, done: u64, all: u64) {
        self.filling.show(done, all);
    }

    fn note(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }

    fn entry(&mut self, entry: &LogEntry, _verbose: u8) {
        if let LogEntry::Warning { .. } = entry {
            self.warnings.push(entry.render());
        }
    }

    fn look(&mut self, session: &RptSession, elapsed_s: f64) -> Option<LiveCommand> {
        if self.screen.is_none() && !self.is_refused {
            match Screen::open("rpt") {
                Ok(screen) => self.screen = Some(screen),
                Err(error) => {
                    output::complain(&format!(
                        "the screen cannot be opened ({error}): the test begins without it"
                    ));
                    self.is_refused = true;
                    return Some(LiveCommand::StartStop);
                }
            }
        }
        let screen = self.screen.as_ref()?;
        let command = screen.command();
        if command.is_some() || self.shown.is_none_or(|shown| shown.elapsed() >= EVERY) {
            self.shown = Some(Instant::now());
            screen.show(live(session, elapsed_s, &self.warnings));
        }
        command
    }

    fn stays(&self) -> bool {
        !self.is_refused
    }
}

impl Drop for RptWindow {
    fn drop(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.close();
        }
    }
}
