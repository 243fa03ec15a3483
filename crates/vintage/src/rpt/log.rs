//! Lines of the log and report file.
//!
//! Source: the RPT manual of 1995, "Output files". Results stand in the first column, messages of
//! control threads in the second, actions, sums, calculations and interpolations in the third. The
//! manual wraps long lines for print; here each is one line.

use std::fmt::Write as _;

use results::Mode;

use crate::form::filled;
use crate::number::{general, rounded};
use crate::rpt::sums::{COLUMNS, Calculation, OF_SUMS_ALONE, SumColumn, Sums, ThreadMessage};

/// Start of the third column.
const THIRD: &str = "\t         ";

/// Prefix of the operator's actions.
pub(super) const EVENT: &str = "operator:";
/// Prefixes of warnings about the input files, and of the error that ended a test.
pub(super) const SEVERITIES: [&str; 2] = ["warning: ", "error: "];

pub(super) const WARNING: &str = "Run {} Workload {} Threads {} Warning:  {}";
pub(super) const AVERAGE: &str = "Average of {} Rabmarks {} {}";
// The lines of a block of results.
pub(super) const RUN: &str = "Run {}  Mode   {} {}";
pub(super) const WORKLOAD: &str = "Workload {}  {}";
pub(super) const HEADING: &str = "n  Rs[r]   IOPS";
pub(super) const ROW: &str = "{} {}ms {}";
pub(super) const RABMARKS: &str = "Rabmarks {} {}";

/// A level in a block of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRow {
    /// Place of the level, from zero.
    pub level: usize,
    /// Response time, milliseconds.
    pub response_ms: f64,
    /// Load, I/Os per second.
    pub load: f64,
}

/// Results of a workload so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Number of the run through all workloads, from one.
    pub run: u32,
    /// Mode at the time.
    pub mode: Mode,
    /// Seconds from the start.
    pub at: f64,
    /// Number of the workload, from zero.
    pub workload: usize,
    pub name: String,
    /// Levels found.
    pub rows: Vec<LevelRow>,
    /// `RABmark[r]`: sum over the levels of load over response time.
    pub rabmark_r: f64,
    /// `RABmark[s]`: throughput at the last level, MiB/s.
    pub rabmark_s: f64,
}

/// One entry of the log; times in seconds from the start.
#[derive(Clone, Debug, PartialEq)]
pub enum LogEntry {
    /// A control thread reported.
    Message(ThreadMessage),
    /// When a control thread was started, its number, and the workload's.
    Active(f64, u32, usize),
    /// The same of one that was stopped.
    Inactive(f64, u32, usize),
    /// Messages were summed.
    Sum {
        at: f64,
        /// Index of the level being searched.
        number: usize,
        sums: Sums,
        /// The factor within which their mean is known.
        factor: f64,
    },
    /// Response time, load and RABmarks of sums: when, and one more than the number of the sum.
    Calculation(f64, usize, Calculation),
    /// Sums at a level.
    Interpolation {
        at: f64,
        /// One more than the number of the sum.
        number: usize,
        sums: Sums,
        /// Position between the previous load (0) and the current one (1).
        part: f64,
    },
    /// An action of the operator.
    Event { at: f64, text: String },
    /// A warning for the reader.
    Warning {
        /// Number of the run.
        run: u32,
        /// Number of the workload.
        workload: usize,
        /// Threads at the time.
        threads: u32,
        text: String,
    },
    /// Results of a workload so far.
    Results(Block),
    /// Mean RABmarks of a group of workloads run one after the other.
    Average {
        /// Number of workloads.
        count: usize,
        /// Mean of `RABmark[r]`.
        rabmark_r: f64,
        /// Mean of `RABmark[s]`.
        rabmark_s: f64,
        /// Why it is not a single number: several modes, warnings; empty if it is.
        remark: String,
    },
}

impl LogEntry {
    /// The log's text for the entry, without the last line end.
    pub fn render(&self) -> String {
        match self {
            Self::Message(message) => {
                let numbers = numbers(message.sums, &COLUMNS[OF_SUMS_ALONE..]);
                format!("\t#{:02}:{numbers}", message.thread)
            }
            Self::Active(at, thread, workload) => {
                third(*at, &format!("#{thread:02}:  active, workload {workload}"))
            }
            Self::Inactive(at, thread, workload) => third(
                *at,
                &format!("#{thread:02}:  inactive, workload {workload}"),
            ),
            Self::Sum {
                at,
                number,
                sums,
                factor,
            } => sums_line(*at, &format!("s{number}"), sums, *factor),
            Self::Interpolation {
                at,
                number,
                sums,
                part,
            } => sums_line(*at, &format!("i{number}"), sums, *part),
            Self::Calculation(at, number, calculation) => {
                third(*at, &format!("c{number}:  {calculation}"))
            }
            Self::Warning {
                run,
                workload,
                threads,
                text,
            } => filled(WARNING, &[run, workload, threads, text]),
            Self::Event { at, text } => third(*at, &format!("{EVENT}  {text}")),
            Self::Results(block) => block.render(),
            Self::Average {
                count,
                rabmark_r,
                rabmark_s,
                remark,
            } => {
                let average = filled(AVERAGE, &[count, &mark(*rabmark_r), &mark(*rabmark_s)]);
                if remark.is_empty() {
                    return average + "\n";
                }
                format!("{average}\n({remark})\n")
            }
        }
    }
}

/// A RABmark of results.
fn mark(mark: f64) -> String {
    format!("{mark:.6}")
}

impl Block {
    /// Text of the block in log and report, followed by an empty line.
    pub fn render(&self) -> String {
        let mode = format!("{:<10}", mode_name(self.mode));
        let at = format!("{:>13}", clock(self.at));
        let mut lines = vec![
            filled(RUN, &[&self.run, &mode, &at]),
            filled(WORKLOAD, &[&self.workload, &self.name]),
            HEADING.to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| {
            let response = format!("{:>4}", rounded(row.response_ms));
            let load = format!("{:>6}", rounded(row.load));
            filled(ROW, &[&row.level, &response, &load])
        }));
        let marks = [mark(self.rabmark_r), mark(self.rabmark_s)];
        lines.push(filled(RABMARKS, &[&marks[0], &marks[1]]) + "\n");
        lines.join("\n")
    }
}

/// The log's message about sums that did not converge.
pub fn not_converged(messages: f64, necessary: f64) -> String {
    format!(
        "Convergence failure - {} of {} messages necessary - continuing anyway",
        general(messages),
        general(necessary)
    )
}

/// Header of a log: the time, the program with its arguments, the name of the control threads, and
/// the meaning of the columns.
pub fn log_header(timestamp: &str, arguments: &[String]) -> String {
    let mut text = format!("\t{timestamp}\n\n\trpt ");
    for argument in arguments {
        let _ = write!(text, "{argument} ");
    }
    let columns = "nthr count kbytes nios seek xfer total seeksq xfersq totalsq";
    let _ = write!(
        text,
        "\n\t\t\" \"\n\tinitialized at 1 clock ticks/s\n\
         \t#thr: kbytes nios seek xfer total seeksq xfersq totalsq\n\
         \t\ttime snum: {columns}\n\t\ttime inum: {columns}\n\n"
    );
    text
}

/// Header of a report.
pub fn report_header(timestamp: &str) -> String {
    format!("\t{timestamp}\n\n")
}

/// A time as `h:mm:ss`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

/// The mode with a capital letter.
pub fn mode_name(mode: Mode) -> String {
    let name = mode.name();
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A line of the third column.
fn third(at: f64, text: &str) -> String {
    format!("{THIRD}{} {text}", clock(at))
}

fn numbers(mut sums: Sums, columns: &[SumColumn]) -> String {
    let columns = columns.iter();
    columns
        .map(|it| format!("{}{}", it.gap, general(*(it.of)(&mut sums))))
        .collect()
}

fn sums_line(at: f64, name: &str, sums: &Sums, last: f64) -> String {
    let (numbers, last) = (numbers(*sums, &COLUMNS), general(last));
    third(at, &format!("{name}:{numbers}  {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_the_columns_of_the_manual() {
        let row = |level, response_ms, load| LevelRow {
            level,
            response_ms,
            load,
        };
        let block = Block {
            run: 1,
            at: 170.4,
            name: "TransactionWorkload".into(),
            rows: vec![
                row(0, 18.5398, 19.5958),
                row(1, 29.03, 31.7),
                row(2, 0.2, 8123.4),
            ],
            rabmark_r: 1.056_959,
            rabmark_s: 0.076_546,
            ..Block::default()
        };
        let expected = "Run 1  Mode   Normal           0:02:50\nWorkload 0  TransactionWorkload\n\
                        n  Rs[r]   IOPS\n0   19ms     20\n1   29ms     32\n2  0.2ms   8123\n\
                        Rabmarks 1.056959 0.076546\n";
        assert_eq!(block.render(), expected);
    }

    #[test]
    fn a_line_of_sums_has_the_groups_of_the_manual() {
        let sums = Sums {
            threads: 1.0,
            messages: 32.0,
            kbytes: 12_800.0,
            nios: 3200.0,
            seek: 0.421_868,
            xfer: 59.3275,
            total: 163.3,
            seek_sq: 0.001_706_09,
            xfer_sq: 3.404_86,
            total_sq: 879.616,
            message_total: 0.0,
        };
        let entry = LogEntry::Sum {
            at: 170.0,
            number: 0,
            sums,
            factor: 0.076_782_6,
        };
        let expected = "\t         0:02:50 s0:  1 32  12800 3200  0.421868 59.3275 163.3  \
                        0.00170609 3.40486 879.616  0.0767826";
        assert_eq!(entry.render(), expected);
        let calculation = LogEntry::Calculation(170.0, 1, sums.calculation());
        let expected = "\t         0:02:50 c1:  18.5398 19.5958  1.05696 0.0765462";
        assert_eq!(calculation.render(), expected);
    }

    #[test]
    fn actions_and_warnings_are_told() {
        let active = LogEntry::Active(1.0, 0, 0);
        assert_eq!(
            active.render(),
            "\t         0:00:01 #00:  active, workload 0"
        );
        let warning = LogEntry::Warning {
            run: 1,
            workload: 0,
            threads: 1,
            text: not_converged(32.0, 209.62),
        };
        let expected = "Run 1 Workload 0 Threads 1 Warning:  Convergence failure - 32 of 209.62 \
                        messages necessary - continuing anyway";
        assert_eq!(warning.render(), expected);
        assert_eq!(clock(36_061.9), "10:01:01");
    }
}
