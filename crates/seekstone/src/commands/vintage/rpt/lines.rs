//! A test told in lines: the log's third column on standard output, progress on standard error.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::live::Command;
use vintage::rpt::log::{Entry, clock};
use vintage::rpt::{Message, Session};
use vintage::run::Operator;

use crate::output;

/// Prints what happens.
pub struct Lines {
    quiet: bool,
    bar: Option<ProgressBar>,
    /// Run and workload announced last.
    announced: Option<(u32, usize)>,
    /// Tenths of a data file announced last.
    tenths: u64,
}

impl Lines {
    /// Progress is a line that changes on a terminal, and a line for each workload elsewhere.
    pub fn new(quiet: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = (is_terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            // Without a length the default would be an empty bar, and no words.
            match ProgressStyle::with_template("{wide_msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Self {
            quiet,
            bar,
            announced: None,
            tenths: 0,
        }
    }

    /// A reader that has gone away does not end the test: its files are what counts.
    fn print(&self, text: &str) {
        let print = || drop(output::print(text));
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::complain(text)),
            None => output::complain(text),
        }
    }
}

impl Operator for Lines {
    fn filling(&mut self, done: u64, all: u64) {
        let text = format!("making the data file: {} %", done * 100 / all.max(1));
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if !self.quiet && done * 10 / all.max(1) > self.tenths => {
                self.tenths = done * 10 / all.max(1);
                output::complain(&text);
            }
            None => {}
        }
    }

    fn note(&mut self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    fn entry(&mut self, entry: &Entry, verbose: u8) {
        let least = match entry {
            Entry::Results(_) | Entry::Average { .. } | Entry::Warning { .. } => 0,
            Entry::Active { .. }
            | Entry::Inactive { .. }
            | Entry::Event { .. }
            | Entry::Calculation { .. } => 1,
            Entry::Message(_) | Entry::Sum { .. } | Entry::Interpolation { .. } => 2,
        };
        if verbose < least {
            return;
        }
        self.print(&entry.render());
    }

    /// Response time, load and RABmarks of one message; the raw ones are entries of the log.
    fn message(&mut self, message: &Message, verbose: u8) {
        if verbose != 1 {
            return;
        }
        let found = message.sums().calculation();
        self.print(&format!("\t#{:02}:  {found}", message.thread));
    }

    fn look(&mut self, session: &Session, elapsed_s: f64) -> Option<Command> {
        if self.quiet {
            return None;
        }
        let (run, workload) = session.position();
        let name = &session.plan().workloads[workload].name;
        let title = format!(
            "[{}] run {run} workload {workload} {name}",
            clock(elapsed_s)
        );
        match &self.bar {
            Some(bar) => bar.set_message(units::printable(&format!(
                "{title}, {} threads",
                session.threads()
            ))),
            None if self.announced != Some((run, workload)) => output::complain(&title),
            None => {}
        }
        self.announced = Some((run, workload));
        None
    }

    fn stays(&self) -> bool {
        false
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
