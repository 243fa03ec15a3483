//! Passes of several logs in one table, ordered by time.
//!
//! Source: appendix A4.5 of the document, which merges the times of two clients by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Columns between two logs.
const GAP: usize = 3;

/// When a pass ended, on each known clock.
#[derive(Clone, Debug, PartialEq)]
pub struct PassMoment {
    /// Time of day, as shown.
    pub time: String,
    /// Local date and time, seconds.
    pub local: f64,
    /// The host's monotonic clock, seconds.
    pub monotonic: Option<f64>,
    /// Seconds since 1970, UTC.
    pub wall: Option<f64>,
}

/// One pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassRow {
    /// What it did, such as `read 2`.
    pub what: String,
    /// Whether it is a write.
    pub is_write: bool,
    /// Megabytes of 1048576 bytes per second.
    pub rate: f64,
    /// Its length, seconds.
    pub seconds: f64,
    /// When it ended.
    pub moment: PassMoment,
}

/// Passes of one log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogColumn {
    /// Host and job.
    pub title: String,
    /// The host, if known.
    pub host: Option<String>,
    /// Its passes.
    pub rows: Vec<PassRow>,
}

/// The clock by which passes of all logs are sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Basis {
    /// One host's monotonic clock, which is not affected by date changes.
    Monotonic(String),
    /// Date and time in UTC.
    Wall,
    /// Local date and time, to the second.
    Local,
}

/// All passes sorted by their ends, each in its log's column.
pub fn merged(columns: &[LogColumn]) -> String {
    let basis = basis_of(columns);
    let mut passes: Vec<(f64, usize, &PassRow)> = columns
        .iter()
        .enumerate()
        .flat_map(|(place, column)| column.rows.iter().map(move |row| (place, row)))
        .map(|(place, row)| (instant(&row.moment, &basis), place, row))
        .collect();
    // A stable sort: passes in the same second stay in the order of the logs.
    passes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let titles: Vec<String> = columns
        .iter()
        .map(|column| format!("Recorded on {}", column.title))
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .zip(&titles)
        .map(|(column, title)| {
            let cells = column.rows.iter().map(|row| cell(row).chars().count());
            cells.fold(title.chars().count(), usize::max) + GAP
        })
        .collect();
    let mut text = String::new();
    for (title, width) in titles.iter().zip(&widths) {
        let _ = write!(text, "{title:<width$}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    let last_written = passes.iter().rposition(|(.., row)| row.is_write);
    for (number, (at, place, row)) in passes.iter().enumerate() {
        let indent: usize = widths[..*place].iter().sum();
        let _ = writeln!(text, "{:indent$}{}", "", cell(row));
        let is_last = Some(number) == last_written && columns.len() > 1;
        if is_last && columns.iter().all(|it| it.is_reading(*at, &basis)) {
            let all = if columns.len() == 2 { "Both" } else { "All" };
            let _ = writeln!(text, "{all} reading");
        }
    }
    let _ = writeln!(text, "{}", in_words(&basis));
    let _ = writeln!(
        text,
        "1 MB is 1048576 bytes here, as in the document of 1997."
    );
    text
}

impl LogColumn {
    /// Whether a pass over its file is running, or follows at once.
    fn is_reading(&self, at: f64, basis: &Basis) -> bool {
        let ends = self.rows.iter().map(|row| instant(&row.moment, basis));
        let mut before = None;
        for (row, end) in self.rows.iter().zip(ends) {
            if end > at {
                // A program runs pass after pass. The start of the first one follows from its
                // length.
                let begun = before.unwrap_or(end - row.seconds);
                return !row.is_write && begun <= at;
            }
            before = Some(end);
        }
        false
    }
}

fn cell(row: &PassRow) -> String {
    format!("{:<9}{:>9.2} MB/s  {}", row.what, row.rate, row.moment.time)
}

fn in_words(basis: &Basis) -> String {
    match basis {
        Basis::Monotonic(host) => format!("In the order of the monotonic clock of {host}."),
        Basis::Wall => {
            "In the order of date and time, to the millisecond; as right as the hosts' clocks \
             agree."
                .into()
        }
        Basis::Local => {
            "In the order of local date and time, to the second; as right as the hosts' clocks \
             agree."
                .into()
        }
    }
}

fn basis_of(columns: &[LogColumn]) -> Basis {
    let moments = || {
        columns
            .iter()
            .flat_map(|column| &column.rows)
            .map(|row| &row.moment)
    };
    let hosts: BTreeSet<Option<&str>> = columns.iter().map(|it| it.host.as_deref()).collect();
    let one_host = match hosts.first() {
        Some(Some(host)) if hosts.len() == 1 => Some((*host).to_owned()),
        _ => None,
    };
    match one_host {
        Some(host) if moments().all(|moment| moment.monotonic.is_some()) => Basis::Monotonic(host),
        _ if moments().all(|moment| moment.wall.is_some()) => Basis::Wall,
        _ => Basis::Local,
    }
}

fn instant(moment: &PassMoment, basis: &Basis) -> f64 {
    let found = match basis {
        Basis::Monotonic(_) => moment.monotonic,
        Basis::Wall => moment.wall,
        Basis::Local => None,
    };
    found.unwrap_or(moment.local)
}

#[cfg(test)]
mod tests {
    use super::super::log_file::read_logs;
    use super::*;

    fn log(client: &str, passes: &[(&str, &str)]) -> LogColumn {
        let mut text =
            format!("Server ppro Client {client}\nJob J124000X Thu May 22 12:40:00 1997\n");
        for (number, (rate, time)) in passes.iter().enumerate() {
            let what = match number {
                0 => "writing file".to_owned(),
                number => format!("read pass {number}"),
            };
            let _ = writeln!(text, "1.00 seconds for {what} at {rate} MB/s {time}");
        }
        read_logs(&text).expect("a log")[0].column()
    }

    /// The document's table prints 12:54:19 before 12:54:05, in one line of two columns.
    #[test]
    fn the_documents_table_comes_out_in_the_order_of_time() {
        let columns = [
            log(
                "486",
                &[
                    ("0.69", "12:43:16"),
                    ("0.42", "12:44:52"),
                    ("0.32", "12:46:56"),
                    ("0.28", "12:49:18"),
                    ("0.31", "12:51:29"),
                    ("0.24", "12:54:19"),
                    ("0.31", "12:56:26"),
                ],
            ),
            log(
                "p100",
                &[
                    ("0.46", "12:45:42"),
                    ("0.37", "12:47:32"),
                    ("0.32", "12:49:35"),
                    ("0.34", "12:51:31"),
                    ("0.26", "12:54:05"),
                    ("0.37", "12:55:53"),
                    ("0.41", "12:57:31"),
                ],
            ),
        ];
        let expected = "\
Recorded on 486, J124000X           Recorded on p100, J124000X
write         0.69 MB/s  12:43:16
read 1        0.42 MB/s  12:44:52
                                    write         0.46 MB/s  12:45:42
Both reading
read 2        0.32 MB/s  12:46:56
                                    read 1        0.37 MB/s  12:47:32
read 3        0.28 MB/s  12:49:18
                                    read 2        0.32 MB/s  12:49:35
read 4        0.31 MB/s  12:51:29
                                    read 3        0.34 MB/s  12:51:31
                                    read 4        0.26 MB/s  12:54:05
read 5        0.24 MB/s  12:54:19
                                    read 5        0.37 MB/s  12:55:53
read 6        0.31 MB/s  12:56:26
                                    read 6        0.41 MB/s  12:57:31
In the order of local date and time, to the second; as right as the hosts' clocks agree.
1 MB is 1048576 bytes here, as in the document of 1997.
";
        assert_eq!(merged(&columns), expected);
    }

    #[test]
    fn one_hosts_own_clock_counts_more_than_its_date() {
        let column = |monotonic, time: &str, local| LogColumn {
            title: "gold".into(),
            host: Some("gold".into()),
            rows: vec![PassRow {
                what: "read 1".into(),
                is_write: false,
                rate: 1.0,
                seconds: 1.0,
                moment: PassMoment {
                    time: time.into(),
                    local,
                    monotonic: Some(monotonic),
                    wall: Some(local),
                },
            }],
        };
        let text = merged(&[column(2.0, "11:00:00", 10.0), column(1.0, "12:00:00", 20.0)]);
        let (first, second) = (text.find("12:00:00"), text.find("11:00:00"));
        assert!(first < second, "{text}");
        assert!(text.contains("monotonic clock of gold.\n"), "{text}");
    }

    /// Bug: the second program began an hour after the first had ended, yet both were reported as
    /// reading.
    #[test]
    fn programs_that_never_read_together_are_not_said_to() {
        let first = log("486", &[("0.69", "12:43:16"), ("0.42", "12:44:52")]);
        let later = log("p100", &[("0.46", "13:45:42"), ("0.37", "13:47:32")]);
        let both = merged(&[first.clone(), later]);
        assert!(!both.contains("reading"), "{both}");
        // One that reads an existing file has no earlier pass of its own.
        let reader = |seconds| {
            let mut column = log("cd", &[("1.00", "12:00:00"), ("1.16", "12:44:00")]);
            column.rows.remove(0);
            column.rows[0].seconds = seconds;
            merged(&[first.clone(), column])
        };
        assert!(reader(60.0).contains("Both reading"));
        assert!(!reader(40.0).contains("Both reading"));
    }
}
