//! Parses logs of this program, and those of 1997.

use super::layout::PassKind;
use super::merge::{LogColumn, PassMoment, PassRow};
use crate::form::fields;
use crate::moment::{
    TimeOfDay, clock_text, date_of, days_from_civil, finite, rfc_3339_seconds, seconds_of_day,
    time_of,
};

/// Maximum number of passes read from one file.
const PASSES_READ_MAX: usize = 100_000;

/// One job in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedJob {
    /// Its name, such as `J143308N`.
    pub name: String,
    /// The client's name, if given.
    pub client: Option<String>,
    /// When it began: year, month, day.
    pub date: (i64, u32, u32),
    /// The same as written, with the time of day.
    pub began: String,
    /// The file that was written or read.
    pub file: Option<String>,
    /// Bytes of the file that was written.
    pub bytes: Option<u64>,
    /// Its passes, in order.
    pub passes: Vec<LoggedPass>,
}

/// One pass in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPass {
    /// What it did.
    pub kind: PassKind,
    /// Seconds taken, as printed.
    pub seconds: f64,
    /// Size of an existing file, megabytes with one decimal.
    pub size_mb: Option<f64>,
    /// Megabytes per second, as printed.
    pub rate: f64,
    /// Time of day at its end: hours, minutes, seconds.
    pub time: TimeOfDay,
    /// Host, monotonic seconds, and RFC 3339 time, if present.
    pub stamp: Option<(String, f64, String)>,
}

/// Why a file is not a log of the transfer rate test.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTransferLog {
    /// It contains no job.
    #[error("it is no log of diskmbps: no line begins with Job and is followed by passes")]
    NoJob,
    /// A line that starts like a pass is invalid.
    #[error("line {0} begins as a pass and cannot be read")]
    Line(usize),
    /// There are too many passes.
    #[error("it has more than {PASSES_READ_MAX} passes")]
    TooLong,
}

/// Parses all jobs of a log.
///
/// # Errors
/// If there is none, or a pass is invalid.
// fuzzed: diskmbps_log
pub fn read_logs(text: &str) -> Result<Vec<LoggedJob>, NoTransferLog> {
    let mut jobs: Vec<LoggedJob> = Vec::new();
    let (mut client, mut reading) = (None, None);
    let mut count = 0;
    for (index, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Server", _, "Client", name, ..] => client = Some((*name).to_owned()),
            ["Reading", "file", name @ ..] => reading = Some(name.join(" ")),
            ["Job", name, began @ ..] => {
                let date = match began {
                    [_, month, day, _, year, ..] => date_of(month, day, year),
                    _ => continue,
                };
                jobs.push(LoggedJob {
                    name: (*name).to_owned(),
                    client: client.take(),
                    date: date.ok_or(NoTransferLog::Line(index + 1))?,
                    began: began.join(" "),
                    file: reading.take(),
                    bytes: None,
                    passes: Vec::new(),
                });
            }
            ["Data", "File", name @ .., _, "Mbytes"] => {
                if let Some(job) = jobs.last_mut() {
                    job.file = Some(name.join(" "));
                }
            }
            ["Files", "written", bytes, "bytes", ..] => {
                if let Some(job) = jobs.last_mut() {
                    job.bytes = bytes.parse().ok();
                }
            }
            [_, "seconds", ..] => {
                let job = jobs.last_mut().ok_or(NoTransferLog::NoJob)?;
                count += 1;
                if count > PASSES_READ_MAX {
                    return Err(NoTransferLog::TooLong);
                }
                let pass = pass_of(line).ok_or(NoTransferLog::Line(index + 1))?;
                job.passes.push(pass);
            }
            _ => {}
        }
    }
    if jobs.iter().all(|job| job.passes.is_empty()) {
        return Err(NoTransferLog::NoJob);
    }
    Ok(jobs)
}

impl LoggedPass {
    /// Bytes moved as far as known: the size of the file, or rate times time.
    pub fn bytes(&self, job: &LoggedJob) -> u64 {
        let whole = job.bytes.filter(|_| self.size_mb.is_none());
        let megabytes = self.size_mb.unwrap_or(self.rate * self.seconds);
        whole.unwrap_or((megabytes * f64::from(1 << 20)).max(0.0) as u64)
    }
}

impl LoggedJob {
    /// The host, if the log has it.
    pub fn host(&self) -> Option<&str> {
        let stamped = self.passes.iter().find_map(|pass| pass.stamp.as_ref());
        stamped
            .map(|(host, ..)| host.as_str())
            .or(self.client.as_deref())
    }

    /// Its passes as a column of the merged table.
    pub fn column(&self) -> LogColumn {
        let mut day = days_from_civil(self.date);
        let mut before = 0;
        let rows = self.passes.iter().map(|pass| {
            let second = seconds_of_day(pass.time);
            // Passes have no dates: an earlier time of day is on the next day.
            if second < before {
                day += 1;
            }
            before = second;
            PassRow {
                what: what_of(pass.kind),
                is_write: pass.kind == PassKind::Write,
                rate: pass.rate,
                seconds: pass.seconds,
                moment: PassMoment {
                    time: clock_text(pass.time),
                    local: day as f64 * 86_400.0 + f64::from(second),
                    monotonic: pass.stamp.as_ref().map(|(_, at, _)| *at),
                    wall: pass
                        .stamp
                        .as_ref()
                        .and_then(|(.., at)| rfc_3339_seconds(at)),
                },
            }
        });
        let rows = rows.collect();
        LogColumn {
            title: format!("{}, {}", self.host().unwrap_or("a host"), self.name),
            host: self.host().map(str::to_owned),
            rows,
        }
    }
}

fn what_of(kind: PassKind) -> String {
    match kind {
        PassKind::Write => "write".into(),
        PassKind::Read(number) | PassKind::ReadExisting(number) => format!("read {number}"),
    }
}

fn pass_of(line: &str) -> Option<LoggedPass> {
    let (kind, size_mb, [seconds, rate, behind]) =
        if let Some(found) = fields(PassKind::WRITE, line) {
            (PassKind::Write, None, found)
        } else if let Some([seconds, number, rate, behind]) = fields(PassKind::READ, line) {
            let kind = PassKind::Read(number.parse().ok()?);
            (kind, None, [seconds, rate, behind])
        } else {
            let [seconds, size, number, rate, behind] = fields(PassKind::READ_EXISTING, line)?;
            let kind = PassKind::ReadExisting(number.parse().ok()?);
            (kind, finite(size), [seconds, rate, behind])
        };
    let words: Vec<&str> = behind.split_whitespace().collect();
    let stamp = match words.as_slice() {
        [_, ";", host, monotonic, wall, ..] => {
            Some(((*host).to_owned(), finite(monotonic)?, (*wall).to_owned()))
        }
        _ => None,
    };
    Some(LoggedPass {
        kind,
        seconds: finite(seconds)?,
        size_mb,
        rate: finite(rate)?,
        time: time_of(words.first()?)?,
        stamp,
    })
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Finished, LogHeading, Stamp};
    use super::*;

    const LOG_OF_1997: &str = "\
##############################################

Disk test diskut in C++ Win95/NT Version 1
Server p100 Client p100
Job J235952N Wed May 21 23:59:52 1997

Data File J235952N.tmp 10.0 Mbytes
Files written 10485760 bytes (data*10)
  1.62 seconds for writing file at  6.17 MB/s 23:59:54
  0.40 seconds for read pass  1 at 25.00 MB/s 23:59:59
  0.13 seconds for read pass  2 at 76.92 MB/s 00:00:01

##############################################
Disk test diskut in C++ Win95/NT Version 1
Reading file D:\\funstuff\\videos\\weezer.avi
Job J125954C Thu May 22 12:59:54 1997
 53.28 seconds 30.1MB pass  1 at  0.56 MB/s 13:00:47
";

    #[test]
    fn a_log_of_1997_is_read() {
        let jobs = read_logs(LOG_OF_1997).expect("a log");
        assert_eq!(jobs.len(), 2);
        assert_eq!(jobs[0].host(), Some("p100"));
        assert_eq!(jobs[1].host(), None);
        assert_eq!(jobs[1].passes[0].kind, PassKind::ReadExisting(1));
        assert_eq!(jobs[0].file.as_deref(), Some("J235952N.tmp"));
        let weezer = jobs[1].file.as_deref();
        assert_eq!(weezer, Some("D:\\funstuff\\videos\\weezer.avi"));
        assert_eq!(jobs[0].passes[1].bytes(&jobs[0]), 10 << 20);
        assert_eq!(jobs[1].passes[0].bytes(&jobs[1]) >> 10, 30_822);
        let column = jobs[0].column();
        let at: Vec<f64> = column.rows.iter().map(|row| row.moment.local).collect();
        assert_eq!((at[1] - at[0], at[2] - at[1]), (5.0, 2.0), "over midnight");
    }

    #[test]
    fn what_is_written_is_read_back() {
        let heading = LogHeading {
            names: None,
            job: "J120000B".into(),
            timestamp: "Sun Nov 22 12:00:00 2026".into(),
            reading: None,
        };
        let pass = Finished {
            kind: PassKind::Read(3),
            bytes: 40 << 20,
            seconds: 10.32,
        };
        let stamp = Stamp {
            time: "12:00:11".into(),
            host: "gold".into(),
            monotonic: 1_234.567_891,
            wall: "2026-11-22T12:00:11.250Z".into(),
        };
        let text = format!("{}\n{}\n", heading.in_log(), pass.in_log(&stamp));
        let jobs = read_logs(&text).expect("own log");
        let found = &jobs[0].passes[0];
        assert_eq!(
            (found.kind, found.seconds, found.rate),
            (pass.kind, 10.32, 3.88)
        );
        let row = &jobs[0].column().rows[0];
        assert_eq!(row.moment.monotonic, Some(1_234.567_891));
        assert_eq!(
            row.moment.wall,
            Some(row.moment.local + 0.25),
            "local time was UTC"
        );
    }

    #[test]
    fn dates_count_days_since_1970() {
        assert_eq!(days_from_civil((1970, 1, 1)), 0);
        assert_eq!(days_from_civil((2000, 3, 1)), 11_017);
        assert_eq!(days_from_civil((1997, 5, 21)), 10_002);
        assert_eq!(rfc_3339_seconds("1970-01-02T00:00:00.5Z"), Some(86_400.5));
        for wrong in [
            "",
            "1970",
            "1970-01-02",
            "1970-13-02T00:00:00Z",
            "1970-01-02T25:00:00Z",
        ] {
            assert_eq!(rfc_3339_seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let check = |text: &str, expected: NoTransferLog| {
            assert_eq!(read_logs(text), Err(expected), "{text}");
        };
        check("", NoTransferLog::NoJob);
        check("Job J1 Wed May 21 23:59:52 1997", NoTransferLog::NoJob);
        check("1 seconds for ever", NoTransferLog::NoJob);
        let job = "Job J1 Wed May 21 23:59:52 1997\n";
        for line in [
            "1 seconds for ever",
            "x seconds for writing file at 1 MB/s 23:59:54",
            "1 seconds for writing file at inf MB/s 23:59:54",
            "1 seconds for writing file at 1 MB/s 24:59:54",
            "1 seconds for read pass -1 at 1 MB/s 23:59:54",
        ] {
            check(&format!("{job}{line}"), NoTransferLog::Line(2));
        }
        check("Job J1 Wed Mai 21 23:59:52 1997", NoTransferLog::Line(1));
    }
}
