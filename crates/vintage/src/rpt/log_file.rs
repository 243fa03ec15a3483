//! Parses a log file, whether written by this program or shown in a document with wrapped lines.
//! Source: the RPT manual of 1995, "The log file".

use results::Mode;

use crate::form::fields;
use crate::rpt::log::{
    AVERAGE, Block, EVENT, HEADING, LevelRow, LogEntry, RABMARKS, ROW, RUN, SEVERITIES, WARNING,
    WORKLOAD,
};
use crate::rpt::sums::{COLUMNS, Calculation, OF_SUMS_ALONE, SumColumn, Sums, ThreadMessage};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RptLog {
    /// Start of the test, as logged.
    pub timestamp: Option<String>,
    /// Program and arguments.
    pub command: Option<String>,
    /// Name of the control threads.
    pub thread_name: Option<String>,
    /// Clock ticks per second: times of messages and sums are in ticks.
    pub ticks: f64,
    /// Entries in order.
    pub entries: Vec<LogEntry>,
    /// Unknown lines, counted from one.
    pub strange: Vec<usize>,
}

/// Why a text is not a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLog {
    /// It has no log entries.
    #[error("is no log of rpt: it holds no sums and no results; name a file that ends in .rpl")]
    Nothing,
    /// Most of it is something else.
    #[error(
        "is no log of rpt: {strange} of its {lines} lines mean nothing, the first is line {first}"
    )]
    Strange {
        /// Unknown lines.
        strange: usize,
        lines: usize,
        first: usize,
    },
}

impl RptLog {
    /// Parses a log.
    ///
    /// # Errors
    /// If the text is not a log.
    // fuzzed: rpt_log
    pub fn read(text: &str) -> Result<Self, NoLog> {
        let mut reader = RptLogReader {
            log: Self {
                ticks: 1.0,
                ..Self::default()
            },
            block: None,
        };
        let lines = unwrapped(text);
        for (number, line) in &lines {
            reader.read(*number, line);
        }
        reader.end_block();
        let log = reader.log;
        let is_measured =
            |entry: &LogEntry| matches!(entry, LogEntry::Sum { .. } | LogEntry::Results(_));
        if !log.entries.iter().any(is_measured) {
            return Err(NoLog::Nothing);
        }
        if log.strange.len() * 2 > lines.len() {
            return Err(NoLog::Strange {
                strange: log.strange.len(),
                lines: lines.len(),
                first: log.strange[0],
            });
        }
        Ok(log)
    }
}

/// Lines with their numbers, with wrapped lines joined.
fn unwrapped(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let is_wanting = lines.last().is_some_and(|(_, before)| wants_more(before));
        match lines.last_mut() {
            Some((_, before)) if is_wanting && goes_on(line) => {
                before.push(' ');
                before.push_str(line);
            }
            _ => lines.push((index + 1, line.to_owned())),
        }
    }
    lines
}

/// Whether a line is a sum or a warning that continues on the next line.
fn wants_more(line: &str) -> bool {
    if line.contains("Convergence failure") {
        return !line.contains("messages");
    }
    match entry_of(line) {
        Some((_, 's' | 'i', _, rest)) => rest.split_whitespace().count() <= COLUMNS.len(),
        Some((_, 'c', _, rest)) => rest.split_whitespace().count() < 4,
        _ => false,
    }
}

fn goes_on(line: &str) -> bool {
    line.starts_with("messages")
        || line
            .split_whitespace()
            .all(|word| word.parse::<f64>().is_ok())
}

/// A line of the third column: its time, the letter and number of its name, and the rest.
fn entry_of(line: &str) -> Option<(f64, char, usize, &str)> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    let at = seconds_of(time)?;
    let (name, rest) = rest.trim_start().split_once(':')?;
    let letter = name.chars().next()?;
    let number = name.get(1..)?.parse().ok()?;
    matches!(letter, 's' | 'c' | 'i' | '#').then_some((at, letter, number, rest))
}

fn seconds_of(text: &str) -> Option<f64> {
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let is_time = parts.next().is_none() && minutes < 60 && seconds < 60;
    is_time.then(|| f64::from(hours) * 3600.0 + f64::from(minutes * 60 + seconds))
}

struct RptLogReader {
    log: RptLog,
    /// A block of results whose last line is still missing.
    block: Option<Block>,
}

impl RptLogReader {
    fn read(&mut self, number: usize, line: &str) {
        let is_known = self.read_header(line)
            || self.read_entry(line).is_some()
            || self.read_block(line).is_some()
            || self.read_remark(line)
            || SEVERITIES.iter().any(|what| line.starts_with(what));
        if !is_known && !is_decoration(line) {
            self.log.strange.push(number);
        }
    }

    /// Parses a line that is an entry by itself.
    fn read_entry(&mut self, line: &str) -> Option<()> {
        let entry = (self.third(line))
            .or_else(|| self.message(line))
            .or_else(|| warning(line))
            .or_else(|| average(line))
            .or_else(|| event(line));
        self.log.entries.push(entry?);
        Some(())
    }

    fn read_header(&mut self, line: &str) -> bool {
        if !self.log.entries.is_empty() {
            return false;
        }
        if let Some(rest) = line.strip_prefix("initialized at ") {
            let ticks = rest
                .split_whitespace()
                .next()
                .and_then(|word| word.parse::<f64>().ok());
            self.log.ticks = ticks.filter(|ticks| *ticks > 0.0).unwrap_or(1.0);
            return true;
        }
        if line == "rpt" || line.starts_with("rpt ") {
            self.log.command = Some(line.to_owned());
            return true;
        }
        if line.starts_with('"') && line.ends_with('"') && line.len() >= 2 {
            self.log.thread_name = Some(line[1..line.len() - 1].to_owned());
            return true;
        }
        if is_timestamp(line) {
            self.log.timestamp = Some(line.to_owned());
            return true;
        }
        false
    }

    fn third(&self, line: &str) -> Option<LogEntry> {
        let (at, letter, number, rest) = entry_of(line)?;
        if letter == '#' {
            return action(at, number, rest);
        }
        let numbers = numbers(rest)?;
        if letter == 'c' {
            let [response_ms, load, rabmark_r, rabmark_n] = numbers.try_into().ok()?;
            let calculation = Calculation {
                response_ms,
                load,
                rabmark_r,
                rabmark_n,
            };
            return Some(LogEntry::Calculation(at, number, calculation));
        }
        let (&last, numbers) = numbers.split_last()?;
        let sums = self.sums(&COLUMNS, numbers)?;
        Some(match letter {
            's' => LogEntry::Sum {
                at,
                number,
                sums,
                factor: last,
            },
            _ => LogEntry::Interpolation {
                at,
                number,
                sums,
                part: last,
            },
        })
    }

    /// Numbers in those columns, a number in each.
    fn sums(&self, columns: &[SumColumn], numbers: &[f64]) -> Option<Sums> {
        let mut sums = Sums::default();
        for (column, number) in columns.iter().zip(numbers) {
            *(column.of)(&mut sums) = number * self.log.ticks.powi(-column.ticks);
        }
        (columns.len() == numbers.len()).then_some(sums)
    }

    fn message(&self, line: &str) -> Option<LogEntry> {
        let (thread, rest) = line.strip_prefix('#')?.split_once(':')?;
        let sums = self.sums(&COLUMNS[OF_SUMS_ALONE..], &numbers(rest)?)?;
        Some(LogEntry::Message(ThreadMessage::of(
            thread.parse().ok()?,
            &sums,
        )))
    }

    /// A line of a block of results.
    fn read_block(&mut self, line: &str) -> Option<()> {
        if let Some([run, mode, at]) = fields(RUN, line) {
            self.end_block();
            self.block = Some(Block {
                run: run.parse().ok()?,
                mode: mode.parse::<Mode>().unwrap_or_default(),
                at: seconds_of(at)?,
                ..Block::default()
            });
            return Some(());
        }
        let block = self.block.as_mut()?;
        if let Some([number, name]) = fields(WORKLOAD, line) {
            block.workload = number.parse().unwrap_or(0);
            block.name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        } else if let Some(marks) = fields::<2>(RABMARKS, line) {
            let marks = marks.map(|mark| mark.parse().unwrap_or(f64::NAN));
            [block.rabmark_r, block.rabmark_s] = marks;
            self.end_block();
        } else if fields::<0>(HEADING, line).is_none() {
            let [level, response, load] = fields(ROW, line)?;
            block.rows.push(LevelRow {
                level: level.parse().ok()?,
                response_ms: response.parse().ok()?,
                load: load.parse().ok()?,
            });
        }
        Some(())
    }

    /// Parses the text in brackets below an average.
    fn read_remark(&mut self, line: &str) -> bool {
        let inside = line.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        match (inside, self.log.entries.last_mut()) {
            (Some(text), Some(LogEntry::Average { remark, .. })) => {
                text.clone_into(remark);
                true
            }
            _ => false,
        }
    }

    fn end_block(&mut self) {
        self.log
            .entries
            .extend(self.block.take().map(LogEntry::Results));
    }
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    let words = text.split_whitespace();
    words.map(|word| word.parse().ok()).collect()
}

fn warning(line: &str) -> Option<LogEntry> {
    let [run, workload, threads, text] = fields(WARNING, line)?;
    Some(LogEntry::Warning {
        run: run.parse().ok()?,
        workload: workload.parse().ok()?,
        threads: threads.parse().ok()?,
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
    })
}

fn average(line: &str) -> Option<LogEntry> {
    let [count, rabmark_r, rabmark_s] = fields(AVERAGE, line)?;
    Some(LogEntry::Average {
        count: count.parse().ok()?,
        rabmark_r: rabmark_r.parse().ok()?,
        rabmark_s: rabmark_s.parse().ok()?,
        remark: String::new(),
    })
}

fn event(line: &str) -> Option<LogEntry> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    let text = rest.trim_start().strip_prefix(EVENT)?.trim().to_owned();
    let at = seconds_of(time)?;
    Some(LogEntry::Event { at, text })
}

fn action(at: f64, thread: usize, rest: &str) -> Option<LogEntry> {
    let (what, workload) = rest.split_once("workload")?;
    let workload = workload.trim().parse().ok()?;
    let thread = thread as u32;
    match what.trim().trim_end_matches(',') {
        "active" => Some(LogEntry::Active(at, thread, workload)),
        "inactive" => Some(LogEntry::Inactive(at, thread, workload)),
        _ => None,
    }
}

/// Decoration: the legend of the columns, and dots for omitted lines.
fn is_decoration(line: &str) -> bool {
    line.starts_with("#thr:")
        || line.starts_with("time snum:")
        || line.starts_with("time inum:")
        || line.starts_with("File:")
        || line.chars().all(|character| matches!(character, '.' | '|'))
}

/// `Fri Jun 23 12:36:08 1995`.
fn is_timestamp(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words.as_slice(), [_, _, day, time, year]
        if day.parse::<u32>().is_ok() && seconds_of(time).is_some() && year.parse::<u32>().is_ok())
}

#[cfg(test)]
#[path = "log_file_tests.rs"]
mod tests;
