//! The lines of screen and log.
//!
//! After the document's columns, a pass in the log has our own comment: a semicolon, host name, the
//! host's monotonic seconds, and date and time in UTC to the millisecond.

use std::fmt::Display;

use crate::form::filled;

/// First line of a log.
pub(super) const RULE: &str = "##############################################";
/// Program name in the log.
const PROGRAM_IN_LOG: &str = "Disk test diskut in Rust Linux Version 1";
/// Program name on the screen.
const PROGRAM_ON_SCREEN: &str = "DISKUT Rust Disk Performance Test Linux Version 1";
/// Passes shorter than this many seconds need more than two decimals.
const SHORT_SECONDS: f64 = 0.1;
/// Passes shorter than this need more than four.
const SHORTEST_SECONDS: f64 = 0.01;

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassKind {
    /// Wrote the file.
    Write,
    /// Read the file that was written.
    Read(u32),
    /// Read an existing file.
    ReadExisting(u32),
}

impl PassKind {
    pub(super) const WRITE: &str = "{} seconds for writing file at {} MB/s {}";
    pub(super) const READ: &str = "{} seconds for read pass {} at {} MB/s {}";
    pub(super) const READ_EXISTING: &str = "{} seconds {}MB pass {} at {} MB/s {}";
}

/// Where and when a pass ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    /// The host's local time, such as `14:33:10`.
    pub time: String,
    /// The host's name.
    pub host: String,
    /// Seconds on the host's monotonic clock.
    pub monotonic: f64,
    /// Date and time, RFC 3339, UTC.
    pub wall: String,
}

/// A finished pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// What it did.
    pub kind: PassKind,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds taken.
    pub seconds: f64,
}

/// Lines above the passes.
#[derive(Clone, Debug, PartialEq)]
pub struct LogHeading {
    /// Names of server and client, if asked for.
    pub names: Option<(String, String)>,
    /// The job, such as `J143308N`.
    pub job: String,
    /// Start, in the format of C's `ctime`.
    pub timestamp: String,
    /// The existing file that is read, if any.
    pub reading: Option<String>,
}

/// The job's name: `J`, hours, minutes and seconds in six digits, and the letter.
pub fn job_name(hhmmss: &str, letter: char) -> String {
    format!("J{hhmmss}{letter}")
}

/// Megabytes of 1048576 bytes with one decimal.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

/// Rate in megabytes of 1048576 bytes per second.
pub fn rate_mb_s(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / f64::from(1 << 20) / seconds.max(1e-9)
}

/// Rates of writing and of reading, over all passes of each; none without passes.
pub fn rates_mb_s(passes: &[Finished]) -> [Option<f64>; 2] {
    [true, false].map(|is_write| {
        let those = |it: &&Finished| (it.kind == PassKind::Write) == is_write;
        let (bytes, seconds) = passes.iter().filter(those).fold((0, 0.0), |sum, pass| {
            (sum.0 + pass.bytes, sum.1 + pass.seconds)
        });
        (seconds > 0.0).then(|| bytes as f64 / f64::from(1 << 20) / seconds)
    })
}

/// Decimals of a pass's seconds: two in the document, more for short passes.
pub fn decimals(seconds: f64) -> usize {
    match seconds {
        _ if seconds < SHORTEST_SECONDS => 6,
        _ if seconds < SHORT_SECONDS => 4,
        _ => 2,
    }
}

impl LogHeading {
    /// First lines of the log.
    pub fn in_log(&self) -> String {
        let mut text = format!("{RULE}\n\n{PROGRAM_IN_LOG}\n");
        if let Some((server, client)) = &self.names {
            text.push_str(&format!("Server {server} Client {client}\n"));
        }
        if let Some(file) = &self.reading {
            text.push_str(&format!("Reading file {file}\n"));
        }
        text.push_str(&format!("Job {} {}\n", self.job, self.timestamp));
        text
    }

    /// First line on the screen.
    pub fn on_screen(timestamp: &str) -> String {
        format!("{PROGRAM_ON_SCREEN} {timestamp}\n")
    }

    /// The line with the name of the data file.
    pub fn data_file(name: &str, megabytes: u64) -> String {
        format!("Data File {name} {megabytes}.0 Mbytes")
    }

    /// The log's line about the file written.
    pub fn written_in_log(megabytes: u64) -> String {
        format!("Files written {} bytes (data*{megabytes})", megabytes << 20)
    }

    /// The same on the screen.
    pub fn written_on_screen(megabytes: u64) -> String {
        format!(
            "Data file closed {} bytes (data*{megabytes})",
            megabytes << 20
        )
    }
}

impl Finished {
    /// The pass as shown on the screen.
    pub fn on_screen(&self) -> String {
        self.line("").replace("MB/s ", "Mbytes/second")
    }

    /// The pass as written to the log.
    pub fn in_log(&self, stamp: &Stamp) -> String {
        let Stamp { time, host, .. } = stamp;
        let (monotonic, wall) = (stamp.monotonic, &stamp.wall);
        self.line(&format!(" {time}  ; {host} {monotonic:.6} {wall}"))
    }

    fn line(&self, behind: &str) -> String {
        let decimals = decimals(self.seconds);
        let seconds = format!("{:8.decimals$}", self.seconds);
        let rate = format!("{:8.2}", rate_mb_s(self.bytes, self.seconds));
        let pass = |number| format!("{number:2}");
        match self.kind {
            PassKind::Write => filled(PassKind::WRITE, &[&seconds, &rate, &behind]),
            PassKind::Read(number) => {
                filled(PassKind::READ, &[&seconds, &pass(number), &rate, &behind])
            }
            PassKind::ReadExisting(number) => {
                let (size, pass) = (megabytes(self.bytes), pass(number));
                let fields: [&dyn Display; 5] = [&seconds, &size, &pass, &rate, &behind];
                filled(PassKind::READ_EXISTING, &fields)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Megabytes, seconds and rate of every pass in the document's appendices.
    const PASSES: &str = include_str!("../fixtures/diskmbps-passes.txt");

    fn stamp() -> Stamp {
        Stamp {
            time: "14:33:10".into(),
            host: "ppro".into(),
            monotonic: 12.5,
            wall: "1997-05-21T14:33:10.120Z".into(),
        }
    }

    fn finished(kind: PassKind, megabytes: u64, seconds: f64) -> Finished {
        Finished {
            kind,
            bytes: megabytes << 20,
            seconds,
        }
    }

    #[test]
    fn every_rate_of_the_document_follows_from_bytes_and_seconds() {
        let mut count = 0;
        for line in PASSES.lines() {
            let mut words = line.split(' ');
            let mut next = || words.next().expect("three numbers");
            let (size, seconds, rate) = (next(), next(), next());
            let bytes = size.parse::<f64>().expect("a number") * f64::from(1 << 20);
            let seconds = seconds.parse().expect("a number");
            let found = rate_mb_s(bytes as u64, seconds);
            assert_eq!(format!("{found:.2}"), rate, "{line}");
            count += 1;
        }
        assert_eq!(count, 217);
    }

    #[test]
    fn the_sample_of_a_screen_comes_out() {
        let check = |pass: Finished, expected: &str| assert_eq!(pass.on_screen(), expected);
        check(
            finished(PassKind::Write, 33, 8.62),
            "    8.62 seconds for writing file at     3.83 Mbytes/second",
        );
        check(
            finished(PassKind::Read(1), 33, 11.98),
            "   11.98 seconds for read pass  1 at     2.75 Mbytes/second",
        );
        assert_eq!(
            LogHeading::written_on_screen(33),
            "Data file closed 34603008 bytes (data*33)"
        );
    }

    #[test]
    fn the_sample_of_a_log_comes_out() {
        let heading = LogHeading {
            names: Some(("p100".into(), "p100".into())),
            job: job_name("143308", 'N'),
            timestamp: "Wed May 21 14:33:08 1997".into(),
            reading: None,
        };
        let lines = [
            heading.in_log(),
            LogHeading::data_file("J143308N.TMP", 10),
            LogHeading::written_in_log(10),
            finished(PassKind::Write, 10, 1.62).in_log(&stamp()),
            finished(PassKind::Read(20), 10, 0.13).in_log(&stamp()),
        ];
        assert_eq!(
            lines.join("\n"),
            "##############################################\n\n\
             Disk test diskut in Rust Linux Version 1\n\
             Server p100 Client p100\n\
             Job J143308N Wed May 21 14:33:08 1997\n\n\
             Data File J143308N.TMP 10.0 Mbytes\n\
             Files written 10485760 bytes (data*10)\n    \
             1.62 seconds for writing file at     6.17 MB/s  14:33:10  \
             ; ppro 12.500000 1997-05-21T14:33:10.120Z\n    \
             0.13 seconds for read pass 20 at    76.92 MB/s  14:33:10  \
             ; ppro 12.500000 1997-05-21T14:33:10.120Z"
        );
    }

    #[test]
    fn an_existing_file_has_a_layout_of_its_own() {
        let pass = Finished {
            kind: PassKind::ReadExisting(1),
            bytes: (30.1 * f64::from(1 << 20)) as u64,
            seconds: 26.07,
        };
        let line = pass.in_log(&stamp());
        assert!(
            line.starts_with("   26.07 seconds 30.1MB pass  1 at     1.15 MB/s  14:33:10"),
            "{line}"
        );
    }

    #[test]
    fn a_pass_of_milliseconds_keeps_its_digits() {
        let line = finished(PassKind::Read(1), 8, 0.0042).on_screen();
        assert!(
            line.starts_with("0.004200 seconds for read pass  1 at  1904.76"),
            "{line}"
        );
        let line = finished(PassKind::Read(1), 8, 0.042).on_screen();
        assert!(line.starts_with("  0.0420 seconds"), "{line}");
    }
}
