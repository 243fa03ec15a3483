//! When the transactions of a log ended, and which users were active together.
//!
//! A log has times of day in whole seconds, and dates at most for the start of a program. Between
//! two ends of one user are think and response time, which are known more exactly: so a user's own
//! times place its transactions, and the log's clock only shifts them.

use super::log_file::{DiskRandLog, UserSession};
use crate::moment::{date_of, days_from_civil, seconds_of_day, time_of};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// One user's transactions in time.
#[derive(Clone, Debug, PartialEq)]
pub struct UserTimeline<'a> {
    /// Its session.
    pub session: &'a UserSession,
    /// End of each transaction, in seconds since the first midnight of the log, to keep all digits.
    pub ends_s: Vec<f64>,
}

impl UserTimeline<'_> {
    /// When the user first started to think.
    pub fn began_s(&self) -> f64 {
        let first = self.session.transactions.first();
        let before = first.map_or(0.0, |it| f64::from(it.think_s) + it.response_s);
        self.ends_s.first().copied().unwrap_or(0.0) - before
    }

    /// When its last transaction ended.
    pub fn ended_s(&self) -> f64 {
        self.ends_s.last().copied().unwrap_or(0.0)
    }
}

/// Users of a log with transactions, grouped by those active together.
pub fn groups(log: &DiskRandLog) -> Vec<Vec<UserTimeline<'_>>> {
    let mut day = 0.0;
    let first = log.sessions.iter().find_map(day_of).unwrap_or(0.0);
    let sessions = log.sessions.iter();
    let mut timed: Vec<UserTimeline<'_>> = sessions
        .filter(|session| !session.transactions.is_empty())
        .map(|session| {
            day = day_of(session).map_or(day, |day| day - first);
            UserTimeline {
                ends_s: ends(session, day),
                session,
            }
        })
        .collect();
    timed.sort_by_key(|one| one.session.lines.0);
    let mut groups: Vec<Vec<UserTimeline<'_>>> = Vec::new();
    let mut last_line = 0;
    for one in timed {
        let (first, last) = one.session.lines;
        match groups.last_mut() {
            Some(group) if first < last_line => group.push(one),
            _ => groups.push(vec![one]),
        }
        last_line = last_line.max(last);
    }
    groups
}

/// Midnight before the session began.
fn day_of(session: &UserSession) -> Option<f64> {
    let started = session.started.as_deref()?;
    let words: Vec<&str> = started.split_whitespace().collect();
    let [_, month, day, time, year] = words.as_slice() else {
        return None;
    };
    let midnight = days_from_civil(date_of(month, day, year)?) as f64 * DAY_S;
    // If it started in the evening, its first transaction may have ended on the next day.
    let first = session.transactions.first()?;
    let is_next_day = seconds_of_day(first.time) < seconds_of_day(time_of(time)?);
    Some(if is_next_day {
        midnight + DAY_S
    } else {
        midnight
    })
}

fn ends(session: &UserSession, midnight: f64) -> Vec<f64> {
    let mut ends: Vec<f64> = Vec::with_capacity(session.transactions.len());
    let mut midnight = midnight;
    for transaction in &session.transactions {
        let clock = midnight + f64::from(seconds_of_day(transaction.time));
        let end = match ends.last() {
            // Somewhere within that second.
            None => clock + 0.5,
            Some(before) => {
                let by_itself = before + f64::from(transaction.think_s) + transaction.response_s;
                let days = ((by_itself - clock) / DAY_S).round().max(0.0);
                midnight += days * DAY_S;
                by_itself.max(clock + days * DAY_S)
            }
        };
        ends.push(end);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: &str = include_str!("../fixtures/diskrand.log");

    fn log(text: &str) -> DiskRandLog {
        DiskRandLog::read(text).expect("a log")
    }

    #[test]
    fn the_documents_samples_are_four_runs_of_one_user() {
        let log = log(SAMPLES);
        let found: Vec<(u32, f64)> = groups(&log)
            .iter()
            .map(|group| {
                assert_eq!(group.len(), 1);
                let one = &group[0];
                (one.session.user, (one.ended_s() - one.began_s()).round())
            })
            .collect();
        // From 12:54:26, 14:01:42.2, 16:26:41 and 16:28:36 to the last line of each.
        assert_eq!(found, [(23, 29.0), (23, 34.0), (99, 113.0), (91, 135.0)]);
    }

    #[test]
    fn times_of_the_clock_and_of_the_user_agree_within_seconds() {
        let log = log(SAMPLES);
        for one in groups(&log).concat() {
            for (end, transaction) in one.ends_s.iter().zip(&one.session.transactions) {
                let clock = f64::from(seconds_of_day(transaction.time));
                let difference = end.rem_euclid(DAY_S) - clock;
                assert!(
                    (0.0..2.6).contains(&difference),
                    "{difference}: {transaction:?}"
                );
            }
        }
    }

    #[test]
    fn who_worked_together_is_seen_in_the_order_of_lines() {
        let profile =
            |user| format!("User {user}, 2 transactions, 1 I/O/transaction, 0 think secs\n");
        let line = |user| format!("{user} 12:00:00 think 0 response 0.000100 secs. load 0.000\n");
        let parts = [
            profile(1),
            line(1),
            profile(2),
            line(2),
            line(1),
            line(2),
            profile(3),
            line(3),
            line(3),
        ];
        let log = log(&parts.concat());
        let found: Vec<Vec<u32>> = groups(&log)
            .iter()
            .map(|group| group.iter().map(|one| one.session.user).collect())
            .collect();
        assert_eq!(found, [vec![1, 2], vec![3]]);
    }

    #[test]
    fn midnights_and_long_thinks_are_passed() {
        let text = "\
Disk test RAND in Rust Linux Version 1  Sun Nov 22 23:59:50 2026
User 1, 3 transactions, 1 I/O/transaction, 100000 think secs
1 00:00:05 think 10 response 0.500 secs. load 0.000
1 00:00:20 think 10 response 0.500 secs. load 0.000
1 06:00:00 think 194400 response 0.500 secs. load 0.000
";
        let log = log(text);
        let groups = groups(&log);
        let ends = &groups[0][0].ends_s;
        // The first midnight is the one that ended on the next day.
        assert_eq!(ends[0], 5.5);
        assert_eq!(ends[1], ends[0] + 14.5, "the clock of the log moved it on");
        assert_eq!(ends[2], ends[1] + 194_400.5);
    }
}
