//! Parses logs of this program and of 1997, and joins the two logs of `2logs`.

use super::layout::{Allocated, RandomPass, ReadProfile, Stopped, Transaction, WrittenFile};
use crate::form::fields;
use crate::moment::time_of;

/// First words of a log of any version.
const TITLE: &str = "Disk test RAND {}";

/// Maximum number of lines read from one file.
const LINES_MAX: usize = 5_000_000;
/// Maximum number of unknown lines kept by number.
const STRANGE_MAX: usize = 1000;

/// A parsed log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskRandLog {
    /// Files that were written.
    pub writes: Vec<WriteRun>,
    /// Users with transactions.
    pub sessions: Vec<UserSession>,
    /// Numbers of unknown lines.
    pub strange: Vec<usize>,
}

/// One `Write`.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteRun {
    /// Start, in the format of C's `ctime`.
    pub started: Option<String>,
    /// Megabytes and records.
    pub size: (u64, u64),
    /// The writing, once finished.
    pub written: Option<WrittenFile>,
    pub passes: Vec<RandomPass>,
}

/// One user's transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct UserSession {
    pub user: u32,
    /// Start, in the format of C's `ctime`.
    pub started: Option<String>,
    /// Its profile; absent if only transactions are logged.
    pub profile: Option<ReadProfile>,
    /// Memory it allocated.
    pub allocated: Option<Allocated>,
    pub transactions: Vec<Transaction>,
    /// First and last line about it, which show which users were active together.
    pub lines: (usize, usize),
    pub stopped: Option<Stopped>,
}

/// Why a file is not a log of DISKRAND.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDiskRandLog {
    /// It contains nothing of such a log.
    #[error("it is no log of diskrand: no file was written, and no user made transactions")]
    Nothing,
    /// There are too many lines.
    #[error("it has more than {LINES_MAX} lines")]
    TooLong,
}

impl UserSession {
    fn of(user: u32, profile: Option<ReadProfile>) -> Self {
        Self {
            user,
            started: None,
            profile,
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

    /// Number of transactions of a complete log, if known.
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

/// Whether a text starts like a log, so that it may be appended to.
pub fn begins_log(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // Later lines of a log could start many other texts.
    lines.next().is_some_and(|line| {
        fields::<1>(TITLE, line).is_some()
            || WrittenFile::size(line).is_some()
            || ReadProfile::begin(line).is_some()
            || Allocated::read(line).is_some()
            || Transaction::read(line).is_some()
    })
}

impl DiskRandLog {
    /// Parses a log.
    ///
    /// # Errors
    /// If it is invalid.
    // fuzzed: diskrand_log
    pub fn read(text: &str) -> Result<Self, NoDiskRandLog> {
        let mut log = Self::default();
        let mut reader = DiskRandLogReader::default();
        for (index, line) in text.lines().enumerate() {
            if index == LINES_MAX {
                return Err(NoDiskRandLog::TooLong);
            }
            reader.number = index + 1;
            if reader.take(&mut log, line).is_none() && log.strange.len() < STRANGE_MAX {
                log.strange.push(index + 1);
            }
        }
        if log.writes.is_empty() && log.sessions.is_empty() {
            return Err(NoDiskRandLog::Nothing);
        }
        Ok(log)
    }

    /// Transactions of all users.
    pub fn transactions(&self) -> usize {
        let sessions = self.sessions.iter();
        sessions.map(|session| session.transactions.len()).sum()
    }

    /// Adds the transactions of the second log to the profiles of this one. Each user's
    /// transactions go to its profiles in order, as many as each plans.
    #[must_use]
    pub fn with_transactions(mut self, second: Self) -> Self {
        let offset = self.sessions.iter().map(|it| it.lines.1).max().unwrap_or(0);
        for other in second.sessions {
            let (first, last) = (other.lines.0 + offset, other.lines.1 + offset);
            for transaction in other.transactions {
                let of_user = |session: &&mut UserSession| {
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

/// State that belongs to a later line.
#[derive(Default)]
struct DiskRandLogReader {
    /// Number of the current line.
    number: usize,
    started: Option<String>,
    allocated: Option<Allocated>,
}

impl DiskRandLogReader {
    /// Processes a line; `None` if it is not valid here.
    fn take(&mut self, log: &mut DiskRandLog, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let profile = log.sessions.last_mut().and_then(|it| it.profile.as_mut());
        match words.as_slice() {
            [] | ["Random", "reading", ..] => {}
            ["Disk", "test", "RAND", ..] => self.started = moment_of(&words),
            ["File", "written", ..] => log.writes.push(WriteRun {
                size: WrittenFile::size(line)?,
                started: self.started.take(),
                written: None,
                passes: Vec::new(),
            }),
            [_, "seconds", "for", "writing", ..] => {
                let run = log.writes.last_mut()?;
                run.written = Some(WrittenFile::read(run.size, line)?);
            }
            [_, "seconds", "for", ..] => {
                log.writes.last_mut()?.passes.push(RandomPass::read(line)?);
            }
            ["Random", "number", "seed", ..] => profile?.read_seed(line)?,
            ["User", _, "stopped", ..] => {
                let stopped = Stopped::read(line)?;
                let mut sessions = log.sessions.iter_mut().rev();
                let session = sessions.find(|it| it.user == stopped.user)?;
                session.stopped = Some(stopped);
            }
            ["User", ..] => {
                let profile = ReadProfile::begin(line)?;
                let allocated = self.allocated.take();
                log.sessions.push(UserSession {
                    started: self.started.take(),
                    allocated: allocated.filter(|it| it.user == profile.user),
                    lines: (self.number, self.number),
                    ..UserSession::of(profile.user, Some(profile))
                });
            }
            ["Read", ..] => profile?.read_file(line)?,
            [_, _, "start/allocate", ..] => self.allocated = Some(Allocated::read(line)?),
            [_, _, "think", ..] => put(&mut log.sessions, Transaction::read(line)?, self.number),
            _ => self.started = Some(moment_of(&words)?),
        }
        Some(())
    }
}

/// A transaction belongs to the latest run of its user.
fn put(sessions: &mut Vec<UserSession>, transaction: Transaction, line: usize) {
    let mut known = sessions.iter_mut().rev();
    match known.find(|session| session.user == transaction.user) {
        Some(session) => session.add(transaction, line),
        None => put_without_profile(sessions, transaction, line),
    }
}

fn put_without_profile(sessions: &mut Vec<UserSession>, transaction: Transaction, line: usize) {
    let mut bare = sessions.iter_mut();
    let of_user =
        |session: &&mut UserSession| session.user == transaction.user && session.profile.is_none();
    match bare.find(of_user) {
        Some(session) => session.add(transaction, line),
        None => {
            let mut session = UserSession::of(transaction.user, None);
            session.add(transaction, line);
            sessions.push(session);
        }
    }
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

#[cfg(test)]
#[path = "log_file_tests.rs"]
mod tests;
