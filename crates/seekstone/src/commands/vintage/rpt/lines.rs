//! A test told in lines: the log's third column on standard output, progress on standard error.

use results::live::Command;
use vintage::rpt::log::{Entry, clock};
use vintage::rpt::{Message, Session};
use vintage::run::Operator;

use crate::commands::vintage::status::StatusLine;
use crate::output;

/// Prints what happens.
pub struct Lines {
    quiet: bool,
    status: StatusLine,
    /// Run and workload announced last.
    announced: Option<(u32, usize)>,
    /// Tenths of a data file announced last.
    tenths: u64,
}

impl Lines {
    /// Progress is a line that changes on a terminal, and a line for each workload elsewhere.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            status: StatusLine::new(quiet),
            announced: None,
            tenths: 0,
        }
    }
}

impl Operator for Lines {
    fn filling(&mut self, done: u64, all: u64) {
        let text = format!("making the data file: {} %", done * 100 / all.max(1));
        let tenths = done * 10 / all.max(1);
        if !self.status.show(&text) && !self.quiet && tenths > self.tenths {
            self.tenths = tenths;
            output::complain(&text);
        }
    }

    fn note(&mut self, text: &str) {
        if !self.quiet {
            self.status.complain(text);
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
        if verbose >= least {
            self.status.print(&entry.render());
        }
    }

    /// Response time, load and RABmarks of one message; the raw ones are entries of the log.
    fn message(&mut self, message: &Message, verbose: u8) {
        if verbose == 1 {
            let found = message.sums().calculation();
            let line = format!("\t#{:02}:  {found}", message.thread);
            self.status.print(&line);
        }
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
        let shown = format!("{title}, {} threads", session.threads());
        if !self.status.show(&shown) && self.announced != Some((run, workload)) {
            output::complain(&title);
        }
        self.announced = Some((run, workload));
        None
    }
}
