//! Reads logs back: those of this program, and those of 1997; and joins the two logs of `2logs`.

use super::layout::{Allocated, Pass, ReadProfile, Stopped, Transaction, Written};
use crate::diskmbps::{finite, time_of};

/// The most lines that are read from one file.
const LINES_MAX: usize = 5_000_000;
/// Strange lines that are kept by number.
const STRANGE_MAX: usize = 1000;

/// A log as it is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskRandLog {
    /// Files that were written.
    pub writes: Vec<WriteRun>,
    /// Users who made transactions.
    pub sessions: Vec<Session>,
    /// Numbers of lines that mean nothing.
    pub strange: Vec<usize>,
}

/// One `Write`.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteRun {
    /// When it began, as C's `ctime` writes it.
    pub started: Option<String>,
    /// Megabytes and records.
    pub size: (u64, u64),
    /// The writing, once it is done.
    pub written: Option<Written>,
    pub passes: Vec<Pass>,
}

/// One user's transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub user: u32,
    /// When it began, as C's `ctime` writes it.
    pub started: Option<String>,
    /// What it does; absent where only transactions are logged.
    pub profile: Option<ReadProfile>,
    /// Memory it took.
    pub allocated: Option<Allocated>,
    pub transactions: Vec<Transaction>,
    /// The first and the last line that is about it: what two users were at work together.
    pub lines: (usize, usize),
    pub stopped: Option<Stopped>,
}

/// Why a file is no log of DISKRAND.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDiskRandLog {
    /// Nothing of such a log was found.
    #[error("it is no log of diskrand: no file was written, and no user made transactions")]
    Nothing,
    /// There are too many lines.
    #[error("it has more than {LINES_MAX} lines")]
    TooLong,
}

/// What a line says.
enum DiskRandLogLine {
    Title(Option<String>),
    Moment(String),
    Size(u64, u64),
    Writing(f64, (u32, u32, u32)),
    PassTitle,
    Pass(Pass),
    Allocated(Allocated),
    User(ReadProfile),
    File(String, f64, u64, f64),
    Seed(u64),
    Transaction(Transaction),
    Stopped(Stopped),
    Blank,
    Strange,
}

impl Session {
    fn of(user: u32) -> Self {
        Self {
            user,
            started: None,
            profile: None,
            allocated: None,
            transactions: Vec::new(),
            lines: (usize::MAX, 0),
            stopped: None,
        }
    }

    fn add(&mut self, transaction: Transaction, line: usize) {
        self.transactions.push(transaction);
        self.lines = (self.lines.0.min(line), self.lines.1.max(line));
    }

    /// Transactions that it should hold when it is whole, as far as the log tells.
    #[must_use]
    pub fn wanted(&self) -> Option<u64> {
        match &self.stopped {
            Some(stopped) => Some(stopped.done),
            None => self.profile.as_ref().map(|profile| profile.transactions),
        }
    }

    fn has_room(&self) -> bool {
        self.wanted()
            .is_none_or(|wanted| (self.transactions.len() as u64) < wanted)
    }
}

/// Whether a text begins as a log does: what may be appended to.
#[must_use]
pub fn begins_log(text: &str) -> bool {
    text.lines()
        .map(read_line)
        .find(|line| !matches!(line, DiskRandLogLine::Blank))
        .is_some_and(|line| {
            // What comes later in a log could begin many another text.
            matches!(
                line,
                DiskRandLogLine::Title(_)
                    | DiskRandLogLine::Size(..)
                    | DiskRandLogLine::User(_)
                    | DiskRandLogLine::Allocated(_)
                    | DiskRandLogLine::Transaction(_)
            )
        })
}

impl DiskRandLog {
    /// Read the text of a log.
    ///
    /// # Errors
    /// When it is none.
    // fuzzed: diskrand_log
    pub fn read(text: &str) -> Result<Self, NoDiskRandLog> {
        let mut log = Self::default();
        let mut reader = DiskRandLogReader::default();
        for (index, line) in text.lines().enumerate() {
            if index == LINES_MAX {
                return Err(NoDiskRandLog::TooLong);
            }
            reader.number = index + 1;
            if !reader.take(&mut log, read_line(line)) && log.strange.len() < STRANGE_MAX {
                log.strange.push(index + 1);
            }
        }
        if log.writes.is_empty() && log.sessions.is_empty() {
            return Err(NoDiskRandLog::Nothing);
        }
        Ok(log)
    }

    /// Transactions of all users.
    #[must_use]
    pub fn transactions(&self) -> usize {
        let sessions = self.sessions.iter();
        sessions.map(|session| session.transactions.len()).sum()
    }

    /// Give the profiles of this log, the first of two, the transactions of the second one. Each
    /// user's transactions go to its profiles in their order, as many as each shall make.
    #[must_use]
    pub fn with_transactions(mut self, second: Self) -> Self {
        let offset = self.sessions.iter().map(|it| it.lines.1).max().unwrap_or(0);
        for other in second.sessions {
            let (first, last) = (other.lines.0 + offset, other.lines.1 + offset);
            for transaction in other.transactions {
                let of_user = |session: &&mut Session| {
                    session.user == other.user && session.profile.is_some() && session.has_room()
                };
                let Some(session) = self.sessions.iter_mut().find(of_user) else {
                    put_without_profile(&mut self.sessions, transaction, last);
                    continue;
                };
                if session.transactions.is_empty() {
                    session.lines = (first, last);
                }
                session.add(transaction, last);
            }
        }
        self
    }
}

/// What has been read and belongs to a line that comes yet.
#[derive(Default)]
struct DiskRandLogReader {
    /// The number of the line that is read.
    number: usize,
    started: Option<String>,
    allocated: Option<Allocated>,
}

impl DiskRandLogReader {
    /// Take a line; whether it means something here.
    fn take(&mut self, log: &mut DiskRandLog, line: DiskRandLogLine) -> bool {
        match line {
            DiskRandLogLine::Title(moment) => self.started = moment,
            DiskRandLogLine::Moment(moment) => self.started = Some(moment),
            DiskRandLogLine::Size(megabytes, records) => log.writes.push(WriteRun {
                started: self.started.take(),
                size: (megabytes, records),
                written: None,
                passes: Vec::new(),
            }),
            DiskRandLogLine::Writing(..) | DiskRandLogLine::Pass(_) => {
                return self.take_write(log, line);
            }
            DiskRandLogLine::Allocated(allocated) => self.allocated = Some(allocated),
            DiskRandLogLine::User(profile) => {
                let allocated = self.allocated.take();
                log.sessions.push(Session {
                    started: self.started.take(),
                    allocated: allocated.filter(|allocated| allocated.user == profile.user),
                    lines: (self.number, self.number),
                    ..Session::of(profile.user)
                });
                if let Some(session) = log.sessions.last_mut() {
                    session.profile = Some(profile);
                }
            }
            DiskRandLogLine::File(..) | DiskRandLogLine::Seed(_) => return take_profile(log, line),
            DiskRandLogLine::Transaction(transaction) => {
                put(&mut log.sessions, transaction, self.number);
            }
            DiskRandLogLine::Stopped(stopped) => {
                let mut sessions = log.sessions.iter_mut().rev();
                match sessions.find(|session| session.user == stopped.user) {
                    Some(session) => session.stopped = Some(stopped),
                    None => return false,
                }
            }
            DiskRandLogLine::PassTitle | DiskRandLogLine::Blank => {}
            DiskRandLogLine::Strange => return false,
        }
        true
    }

    fn take_write(&mut self, log: &mut DiskRandLog, line: DiskRandLogLine) -> bool {
        let Some(run) = log.writes.last_mut() else {
            return false;
        };
        match line {
            DiskRandLogLine::Writing(seconds, time) => {
                run.written = Some(Written {
                    megabytes: run.size.0,
                    records: run.size.1,
                    seconds,
                    time,
                });
            }
            DiskRandLogLine::Pass(pass) => run.passes.push(pass),
            _ => return false,
        }
        true
    }
}

/// A profile goes on over three lines.
fn take_profile(log: &mut DiskRandLog, line: DiskRandLogLine) -> bool {
    let mut profiles = log.sessions.iter_mut();
    let last = profiles.next_back().and_then(|it| it.profile.as_mut());
    let Some(profile) = last else {
        return false;
    };
    match line {
        DiskRandLogLine::File(file, megabytes, records, cpu_units) => {
            profile.file = file;
            profile.megabytes = megabytes;
            profile.records = records;
            profile.cpu_units = cpu_units;
        }
        DiskRandLogLine::Seed(seed) => profile.seed = seed,
        _ => return false,
    }
    true
}

/// A transaction belongs to the latest run of its user.
fn put(sessions: &mut Vec<Session>, transaction: Transaction, line: usize) {
    let mut known = sessions.iter_mut().rev();
    match known.find(|session| session.user == transaction.user) {
        Some(session) => session.add(transaction, line),
        None => put_without_profile(sessions, transaction, line),
    }
}

fn put_without_profile(sessions: &mut Vec<Session>, transaction: Transaction, line: usize) {
    let mut bare = sessions.iter_mut();
    let of_user =
        |session: &&mut Session| session.user == transaction.user && session.profile.is_none();
    match bare.find(of_user) {
        Some(session) => session.add(transaction, line),
        None => {
            let mut session = Session::of(transaction.user);
            session.add(transaction, line);
            sessions.push(session);
        }
    }
}

fn read_line(line: &str) -> DiskRandLogLine {
    let words: Vec<&str> = line.split_whitespace().collect();
    let known = match words.as_slice() {
        [] => Some(DiskRandLogLine::Blank),
        ["Disk", "test", "RAND", ..] => Some(DiskRandLogLine::Title(moment_of(&words))),
        ["File", "written", ..] => size(&words),
        [
            seconds,
            "seconds",
            "for",
            "writing",
            "file",
            "at",
            _,
            "MB/s",
            time,
            ..,
        ] => writing(seconds, time),
        ["Random", "reading", ..] => Some(DiskRandLogLine::PassTitle),
        ["Random", "number", "seed", seed] => seed.parse().ok().map(DiskRandLogLine::Seed),
        [_, "seconds", "for", _, "records", "at", ..] => pass(&words),
        ["User", user, "stopped", "after", done, "transactions:", ..] => stopped(user, done, line),
        ["User", ..] => user(&words),
        ["Read", ..] => file(line),
        [_, _, "start/allocate", "memory", ..] => allocated(&words),
        [_, _, "think", ..] => transaction(&words),
        _ => moment_of(&words).map(DiskRandLogLine::Moment),
    };
    known.unwrap_or(DiskRandLogLine::Strange)
}

/// Weekday, month, day, time and year at the end of a line.
fn moment_of(words: &[&str]) -> Option<String> {
    let [.., weekday, month, day, time, year] = words else {
        return None;
    };
    let is_name = |word: &str| word.len() == 3 && word.bytes().all(|it| it.is_ascii_alphabetic());
    let is_moment = is_name(weekday)
        && is_name(month)
        && day.parse::<u8>().is_ok()
        && time_of(time).is_some()
        && year.len() == 4
        && year.parse::<u16>().is_ok();
    is_moment.then(|| format!("{weekday} {month} {day:>2} {time} {year}"))
}

fn size(words: &[&str]) -> Option<DiskRandLogLine> {
    let [
        "File",
        "written",
        megabytes,
        "Mbytes,",
        records,
        "records",
        ..,
    ] = words
    else {
        return None;
    };
    Some(DiskRandLogLine::Size(
        megabytes.parse().ok()?,
        records.parse().ok()?,
    ))
}

fn writing(seconds: &str, time: &str) -> Option<DiskRandLogLine> {
    Some(DiskRandLogLine::Writing(span(seconds)?, time_of(time)?))
}

fn pass(words: &[&str]) -> Option<DiskRandLogLine> {
    let [seconds, _, _, records, _, _, milliseconds, "ms", time] = words else {
        return None;
    };
    Some(DiskRandLogLine::Pass(Pass {
        seconds: span(seconds)?,
        records: records.parse().ok()?,
        milliseconds: span(milliseconds)?,
        time: time_of(time)?,
    }))
}

fn stopped(user: &str, done: &str, line: &str) -> Option<DiskRandLogLine> {
    let (_, reason) = line.split_once("transactions:")?;
    Some(DiskRandLogLine::Stopped(Stopped {
        user: user.parse().ok()?,
        done: done.parse().ok()?,
        reason: reason.trim().to_owned(),
    }))
}

fn user(words: &[&str]) -> Option<DiskRandLogLine> {
    let [
        _,
        user,
        transactions,
        "transactions,",
        ios,
        "I/O/transaction,",
        think,
        "think",
        "secs",
    ] = words
    else {
        return None;
    };
    Some(DiskRandLogLine::User(ReadProfile {
        user: user.strip_suffix(',')?.parse().ok()?,
        transactions: transactions.parse().ok()?,
        ios: ios.parse().ok()?,
        think_s: think.parse().ok()?,
        file: String::new(),
        megabytes: 0.0,
        records: 0,
        cpu_units: 0.0,
        seed: 0,
    }))
}

/// A file's name may hold commas, so fields count from the last one.
fn file(line: &str) -> Option<DiskRandLogLine> {
    let rest = line.trim().strip_prefix("Read ")?;
    let mut parts = rest.rsplitn(4, ", ");
    let cpu = parts.next()?.strip_suffix(" CP load")?;
    let records = parts.next()?.strip_suffix(" records")?;
    let megabytes = parts.next()?.strip_suffix(" MB")?;
    let name = parts.next()?;
    Some(DiskRandLogLine::File(
        name.to_owned(),
        span(megabytes)?,
        records.parse().ok()?,
        span(cpu)?,
    ))
}

fn allocated(words: &[&str]) -> Option<DiskRandLogLine> {
    let [user, time, _, _, seconds, "secs.", kilobytes, "Kbytes"] = words else {
        return None;
    };
    Some(DiskRandLogLine::Allocated(Allocated {
        user: user.parse().ok()?,
        time: time_of(time)?,
        seconds: span(seconds)?,
        kilobytes: kilobytes.parse().ok()?,
    }))
}

fn transaction(words: &[&str]) -> Option<DiskRandLogLine> {
    let [
        user,
        time,
        _,
        think,
        "response",
        response,
        "secs.",
        "load",
        load,
    ] = words
    else {
        return None;
    };
    Some(DiskRandLogLine::Transaction(Transaction {
        user: user.parse().ok()?,
        time: time_of(time)?,
        think_s: think.parse().ok()?,
        response_s: span(response)?,
        load: span(load)?,
    }))
}

/// A finite number that is not negative, and no more than thirty years of seconds.
fn span(text: &str) -> Option<f64> {
    finite(text).filter(|value| (0.0..=1e9).contains(value))
}

#[cfg(test)]
#[path = "log_file_tests.rs"]
mod tests;
