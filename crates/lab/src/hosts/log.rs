//! Notes of a run about its hosts: details of a single trial, or a summary of many.

use results::{Warning, WarningCode};
use units::format_counted;

use super::ranks::Ranks;
use super::times::{ClockTrust, HostEnd, first_and_last};

/// How well the hosts of a run were synchronised.
#[derive(Clone)]
pub(super) struct HostsLog {
    /// Differences between hosts, found before any trial.
    differences: Vec<String>,
    trials: u32,
    /// Number of trials in which each rank finished last.
    last: Vec<u32>,
    /// Longest time from the first rank's end to the last, nanoseconds.
    skew_ns: f64,
    /// Clock reliability in the worst trial.
    trust: ClockTrust,
    /// Notes on the last trial.
    latest: Vec<Warning>,
    has_each: bool,
}

impl HostsLog {
    pub fn new(ranks: u32, differences: Vec<String>) -> Self {
        Self {
            differences,
            trials: 0,
            last: vec![0; ranks as usize],
            skew_ns: 0.0,
            trust: ClockTrust::default(),
            latest: Vec::new(),
            has_each: false,
        }
    }

    /// Starts the notes of a trial, with those about machines.
    pub fn begin(&mut self, machines: Vec<Warning>) {
        self.latest = machines;
    }

    /// Adds the end of each rank, clock reliability, and both in words.
    pub fn add(&mut self, ends: &[HostEnd], trust: ClockTrust, words: String) {
        let (first, last) = first_and_last(ends);
        self.trials += 1;
        self.last[last.rank as usize] += 1;
        self.skew_ns = self.skew_ns.max(last.after_ns - first.after_ns);
        self.trust = self.trust.or_worse(trust);
        self.latest.push(Warning::info(WarningCode::Hosts, words));
    }

    /// Notes that loads are per host.
    pub const fn note_each(&mut self) {
        self.has_each = true;
    }

    /// All notes.
    pub fn warnings(&self, ranks: &Ranks) -> Vec<Warning> {
        let differences = self.differences.iter().cloned();
        let note = |text| Warning::info(WarningCode::Hosts, text);
        let mut warnings: Vec<Warning> = differences.map(note).collect();
        if self.has_each {
            let text = "Each rank ran the whole test on its own file. Queue depth is per \
                        rank, IOPS and throughput are sums over ranks. A load curve deals its \
                        clients over all ranks.";
            warnings.push(note(text.into()));
        }
        if self.trials <= 1 {
            warnings.extend(self.latest.iter().cloned());
        } else {
            warnings.push(note(self.summary(ranks)));
        }
        warnings
    }

    fn summary(&self, ranks: &Ranks) -> String {
        let slowest = (0..).zip(&self.last).max_by_key(|it| it.1);
        let (slowest, times) = slowest.unwrap_or((0, &0));
        format!(
            "{}, {} ranks, {}: {} finished last in {times} of them. The last rank was \
             at most {} behind the first. At worst: {}. The rates' intervals include that.",
            format_counted(ranks.machines().len() as u64, "host"),
            ranks.share().ranks,
            format_counted(u64::from(self.trials), "trial"),
            ranks.name(slowest),
            units::format_duration_ns(self.skew_ns.max(0.0)),
            self.trust.words(),
        )
    }
}
