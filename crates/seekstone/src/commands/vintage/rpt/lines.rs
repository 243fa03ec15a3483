//! A test told in lines: the log's third column on standard output, progress on standard error.

use results::live::LiveCommand;
use vintage::rpt::log::{LogEntry, clock};
use vintage::rpt::{RptSession, ThreadMessage};
use vintage::run::Operator;

use crate::commands::vintage::status::StatusLine;
use crate::output;

/// Prints what happens.
pub struct RptLines {
    quiet: bool,
    status: StatusLine,
    /// Run and workload announced last.
    announced: Option<(u32, usize)>,
    /// Tenths of a data file announced last.
    tenths: u64,
}

impl RptLines {
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

impl Operator for RptLines {
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

    fn entry(&mut self, entry: &LogEntry, verbose: u8) {
        let least = match entry {
            LogEntry::Results(_) | LogEntry::Average { .. } | LogEntry::Warning { .. } => 0,
            LogEntry::Active { .. }
            | LogEntry::Inactive { .. }
            | LogEntry::Event { .. }
            | LogEntry::Calculation { .. } => 1,
            LogEntry::Message(_) | LogEntry::Sum { .. } | LogEntry::Interpolation { .. } => 2,
        };
        if verbose >= least {
            self.status.print(&entry.render());
        }
    }

    /// Response time, load and RABmarks of one message; the raw ones are entries of the log.
    fn message(&mut self, message: &ThreadMessage, verbose: u8) {
        if verbose == 1 {
            let found = message.sums.calculation();
            let line = format!("\t#{:02}:  {found}", message.thread);
            self.status.print(&line);
        }
    }

    fn look(&mut self, session: &RptSession, elapsed_s: f64) -> Option<LiveCommand> {
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
