//! Lines of screen and log, which are the same, and their formats.

use crate::form::{fields, filled};
use crate::moment::{TimeOfDay, clock_text, finite, time_of};

/// Program name.
pub(super) const PROGRAM: &str = "Disk test RAND in Rust Linux Version 1";
/// Response times shorter than this many seconds need more than three decimals.
const SHORT_RESPONSE_S: f64 = 0.01;
/// Passes shorter than this many seconds need more than two decimals.
const SHORT_PASS_S: f64 = 0.1;
/// Service times shorter than this many milliseconds need more than two decimals.
const SHORT_SERVICE_MS: f64 = 1.0;

/// Start of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeading {
    /// Start, in the format of C's `ctime`.
    pub timestamp: String,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenFile {
    /// Its size, in megabytes of 1048576 bytes.
    pub megabytes: u64,
    pub records: u64,
    /// Seconds taken.
    pub seconds: f64,
    /// Time of day at its end.
    pub time: TimeOfDay,
}

/// A pass of random reading.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomPass {
    /// Seconds taken.
    pub seconds: f64,
    /// Records read.
    pub records: u64,
    pub milliseconds: f64,
    /// Time of day at its end.
    pub time: TimeOfDay,
}

/// Memory that a user allocated before its transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct Allocated {
    pub user: u32,
    /// Time of day at its end.
    pub time: TimeOfDay,
    /// Seconds taken.
    pub seconds: f64,
    /// Kilobytes of 1024 bytes.
    pub kilobytes: u64,
}

/// The profile of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadProfile {
    pub user: u32,
    /// Number of transactions to perform.
    pub transactions: u64,
    /// Mean I/Os per transaction.
    pub ios: u32,
    /// Average think time, seconds.
    pub think_s: u32,
    /// The data file.
    pub file: String,
    /// Its size, in megabytes of 1048576 bytes.
    pub megabytes: f64,
    pub records: u64,
    /// Mean units of CPU work per transaction.
    pub cpu_units: f64,
    /// Seed of all random draws.
    pub seed: u64,
}

/// A finished transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// Its user.
    pub user: u32,
    /// Time of day at its end.
    pub time: TimeOfDay,
    /// Seconds thought before it.
    pub think_s: u32,
    /// Seconds from the end of the think time to its end.
    pub response_s: f64,
    /// The load factor; zero if loads do not vary.
    pub load: f64,
}

/// A user that was stopped. This line is ours: the document's program had no such end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub user: u32,
    /// Transactions performed.
    pub done: u64,
    /// The reason.
    pub reason: String,
}

/// A number in `width` columns, with `fine` decimals below `short`, where the `usual` ones would be
/// too few.
fn digits(value: f64, width: usize, short: f64, [usual, fine]: [usize; 2]) -> String {
    let decimals = if value < short { fine } else { usual };
    format!("{value:width$.decimals$}")
}

/// A finite, non-negative number, at most thirty years of seconds.
fn span(text: &str) -> Option<f64> {
    finite(text).filter(|value| (0.0..=1e9).contains(value))
}

impl RunHeading {
    /// The log's line.
    pub fn line(&self) -> String {
        format!("{PROGRAM}  {}", self.timestamp)
    }
}

impl WrittenFile {
    const TITLE: &str = "File written {} Mbytes, {} records {}";
    const LINE: &str = "{} seconds for writing file at {} MB/s   {}";

    /// Text before the time taken.
    pub fn title(&self) -> String {
        filled(
            Self::TITLE,
            &[&self.megabytes, &self.records, &"of 4096 bytes"],
        )
    }

    /// Megabytes and records in a title.
    pub(super) fn size(title: &str) -> Option<(u64, u64)> {
        let [megabytes, records, _] = fields(Self::TITLE, title)?;
        Some((megabytes.parse().ok()?, records.parse().ok()?))
    }

    /// The log's line with the time taken.
    pub fn line(&self) -> String {
        let seconds = digits(self.seconds, 8, SHORT_PASS_S, [2, 4]);
        let rate = format!("{:8.2}", self.megabytes as f64 / self.seconds.max(1e-9));
        filled(Self::LINE, &[&seconds, &rate, &clock_text(self.time)])
    }

    pub(super) fn read((megabytes, records): (u64, u64), line: &str) -> Option<Self> {
        let [seconds, _, time] = fields(Self::LINE, line)?;
        Some(Self {
            megabytes,
            records,
            seconds: span(seconds)?,
            time: time_of(time.split_whitespace().next()?)?,
        })
    }
}

impl RandomPass {
    /// Text before the first one.
    pub const TITLE: &str = "Random reading records of 4096 bytes";
    const LINE: &str = "{} seconds for {} records at {} ms     {}";

    /// For `records` reads in `seconds` seconds.
    pub fn new(records: u64, seconds: f64, time: TimeOfDay) -> Self {
        Self {
            seconds,
            records,
            milliseconds: 1e3 * seconds / records.max(1) as f64,
            time,
        }
    }

    /// The log's line.
    pub fn line(&self) -> String {
        let seconds = digits(self.seconds, 8, SHORT_PASS_S, [2, 4]);
        let records = format!("{:8}", self.records);
        let milliseconds = digits(self.milliseconds, 8, SHORT_SERVICE_MS, [2, 5]);
        let time = clock_text(self.time);
        filled(Self::LINE, &[&seconds, &records, &milliseconds, &time])
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let [seconds, records, milliseconds, time] = fields(Self::LINE, line)?;
        Some(Self {
            seconds: span(seconds)?,
            records: records.parse().ok()?,
            milliseconds: span(milliseconds)?,
            time: time_of(time)?,
        })
    }
}

impl Allocated {
    const LINE: &str = "{} {} start/allocate memory {} secs. {} Kbytes";

    /// The log's line.
    pub fn line(&self) -> String {
        let (user, time) = (format!("{:5}", self.user), clock_text(self.time));
        let seconds = digits(self.seconds, 0, SHORT_RESPONSE_S, [3, 6]);
        filled(Self::LINE, &[&user, &time, &seconds, &self.kilobytes])
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let [user, time, seconds, kilobytes] = fields(Self::LINE, line)?;
        Some(Self {
            user: user.parse().ok()?,
            time: time_of(time)?,
            seconds: span(seconds)?,
            kilobytes: kilobytes.parse().ok()?,
        })
    }
}

impl ReadProfile {
    const USER: &str = "User {}, {} transactions, {} I/O/transaction, {} think secs";
    const SEED: &str = "Random number seed {}";

    /// The log's lines.
    pub fn lines(&self) -> String {
        let decimals = if self.megabytes.fract() == 0.0 { 0 } else { 3 };
        format!(
            "{}\nRead {}, {:.decimals$} MB, {} records, {} CP load\n{}",
            filled(
                Self::USER,
                &[&self.user, &self.transactions, &self.ios, &self.think_s]
            ),
            units::printable(&self.file),
            self.megabytes,
            self.records,
            self.cpu_units,
            filled(Self::SEED, &[&self.seed])
        )
    }

    /// Its first line; the others follow.
    pub(super) fn begin(line: &str) -> Option<Self> {
        let [user, transactions, ios, think] = fields(Self::USER, line)?;
        Some(Self {
            user: user.parse().ok()?,
            transactions: transactions.parse().ok()?,
            ios: ios.parse().ok()?,
            think_s: think.parse().ok()?,
            file: String::new(),
            megabytes: 0.0,
            records: 0,
            cpu_units: 0.0,
            seed: 0,
        })
    }

    /// Parses the second line. File names may contain commas, so fields are counted from the last
    /// one.
    pub(super) fn read_file(&mut self, line: &str) -> Option<()> {
        let mut parts = line.trim().strip_prefix("Read ")?.rsplitn(4, ", ");
        let cpu_units = span(parts.next()?.strip_suffix(" CP load")?)?;
        let records = parts.next()?.strip_suffix(" records")?.parse().ok()?;
        let megabytes = span(parts.next()?.strip_suffix(" MB")?)?;
        parts.next()?.clone_into(&mut self.file);
        (self.megabytes, self.records, self.cpu_units) = (megabytes, records, cpu_units);
        Some(())
    }

    /// Parses the third line.
    pub(super) fn read_seed(&mut self, line: &str) -> Option<()> {
        let [seed] = fields(Self::SEED, line)?;
        self.seed = seed.parse().ok()?;
        Some(())
    }
}

impl Transaction {
    const LINE: &str = "{} {} think {} response {} secs. load {}";

    /// The log's line.
    pub fn line(&self) -> String {
        let (user, think) = (format!("{:5}", self.user), format!("{:5}", self.think_s));
        let response = digits(self.response_s, 11, SHORT_RESPONSE_S, [3, 6]);
        let (time, load) = (clock_text(self.time), format!("{:.3}", self.load));
        filled(Self::LINE, &[&user, &time, &think, &response, &load])
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let [user, time, think, response, load] = fields(Self::LINE, line)?;
        Some(Self {
            user: user.parse().ok()?,
            time: time_of(time)?,
            think_s: think.parse().ok()?,
            response_s: span(response)?,
            load: span(load)?,
        })
    }
}

impl Stopped {
    const LINE: &str = "User {} stopped after {} transactions: {}";

    /// The log's line.
    pub fn line(&self) -> String {
        let reason = units::printable(&self.reason);
        filled(Self::LINE, &[&self.user, &self.done, &reason])
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let [user, done, reason] = fields(Self::LINE, line)?;
        Some(Self {
            user: user.parse().ok()?,
            done: done.parse().ok()?,
            reason: reason.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    /// The document's line was transmitted without blanks.
    #[track_caller]
    fn check(found: &str, document: &str) {
        assert_eq!(words(found), words(document));
    }

    #[test]
    fn the_documents_write_display_comes_out() {
        let heading = RunHeading {
            timestamp: "Mon Jul  7 12:53:44 1997".into(),
        };
        // The program is different, the rest is the document's.
        check(
            &heading.line(),
            "Disk test RAND in Rust Linux Version 1 Mon Jul 7 12:53:44 1997",
        );
        let written = WrittenFile {
            megabytes: 40,
            records: 10_240,
            seconds: 17.45,
            time: (12, 54, 1),
        };
        check(
            &written.title(),
            "File written 40 Mbytes, 10240 records of 4096 bytes",
        );
        check(
            &written.line(),
            "17.45 seconds for writing file at 2.29 MB/s 12:54:01",
        );
        // The clock of the document's first pass had more digits than the two printed.
        for (seconds, exact, ms, time) in [
            (6.18, 6.179, "7.72", (12, 54, 11)),
            (6.19, 6.19, "7.74", (12, 54, 17)),
            (6.20, 6.20, "7.75", (12, 54, 23)),
        ] {
            let line = RandomPass::new(800, exact, time).line();
            let time = clock_text(time);
            check(
                &line,
                &format!("{seconds:.2} seconds for 800 records at {ms} ms {time}"),
            );
        }
    }

    #[test]
    fn the_documents_profiles_come_out() {
        let profile = ReadProfile {
            user: 23,
            transactions: 20,
            ios: 50,
            think_s: 1,
            file: "RandData.txt".into(),
            megabytes: 40.0,
            records: 10_214,
            cpu_units: 0.0,
            seed: 23,
        };
        check(
            &profile.lines(),
            "User 23, 20 transactions, 50 I/O/transaction, 1 think secs Read RandData.txt, 40 MB, \
             10214 records, 0 CP load Random number seed 23",
        );
        let allocated = Allocated {
            user: 23,
            time: (14, 1, 42),
            seconds: 12.55,
            kilobytes: 2000,
        };
        check(
            &allocated.line(),
            "23 14:01:42 start/allocate memory 12.550 secs. 2000 Kbytes",
        );
        let odd = ReadProfile {
            file: "a\nb, c.txt".into(),
            megabytes: 2.390_625,
            cpu_units: 0.5,
            ..profile
        };
        assert!(
            odd.lines()
                .contains("Read a?b, c.txt, 2.391 MB, 10214 records, 0.5 CP load")
        );
        assert_eq!(odd.lines().lines().count(), 3);
    }

    #[test]
    fn short_times_keep_their_digits() {
        let mut transaction = Transaction {
            user: 23,
            time: (12, 54, 29),
            think_s: 2,
            response_s: 0.39,
            load: 0.0,
        };
        check(
            &transaction.line(),
            "23 12:54:29 think 2 response 0.390 secs. load 0.000",
        );
        let width = transaction.line().len();
        transaction.response_s = 0.000_312;
        check(
            &transaction.line(),
            "23 12:54:29 think 2 response 0.000312 secs. load 0.000",
        );
        assert_eq!(transaction.line().len(), width, "columns stay in line");
        check(
            &RandomPass::new(800, 0.001_7, (1, 2, 3)).line(),
            "0.0017 seconds for 800 records at 0.00213 ms 01:02:03",
        );
    }
}
