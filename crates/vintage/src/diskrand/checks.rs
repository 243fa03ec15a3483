//! Inconsistencies in a log.

use super::log_file::{DiskRandLog, UserSession};
use super::record::RECORDS_PER_MEGABYTE;
use crate::moment::{clock_text, seconds_of_day};
use results::{Warning, WarningCode};

/// Tolerance between two times of day, each truncated to whole seconds.
const CLOCK_SLACK_S: f64 = 2.0;
const DAY_S: i64 = 86_400;

/// All warnings about a log.
pub fn doubts(log: &DiskRandLog) -> Vec<Warning> {
    let sessions = log.sessions.iter();
    let mut doubts: Vec<Warning> = sessions.flat_map(of_session).collect();
    for run in &log.writes {
        let (megabytes, records) = run.size;
        doubts.extend(wrong_records(megabytes as f64, records));
    }
    doubts.dedup();
    doubts
}

/// The 95th percentile of `times`.
pub fn percentile_95(times: &[f64]) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len() * 95).div_ceil(100).checked_sub(1)?;
    sorted.get(place).copied()
}

/// Response time statistics as in the document's tables, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleTimes {
    /// The shortest.
    pub min: f64,
    pub mean: f64,
    /// 95th percentile.
    pub high: f64,
    /// The longest.
    pub max: f64,
}

impl SampleTimes {
    /// For these response times.
    pub fn of(times: &[f64]) -> Self {
        Self {
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            mean: times.iter().sum::<f64>() / times.len().max(1) as f64,
            high: percentile_95(times).unwrap_or(0.0),
            max: times.iter().copied().fold(0.0, f64::max),
        }
    }
}

fn of_session(session: &UserSession) -> Vec<Warning> {
    let user = session.user;
    let mut doubts = Vec::new();
    if let Some(profile) = &session.profile {
        doubts.extend(wrong_records(profile.megabytes, profile.records));
    }
    let done = session.transactions.len() as u64;
    match session.wanted() {
        Some(wanted) if done != wanted => doubts.push(Warning::warn(
            WarningCode::ClassicCount,
            format!(
                "User {user} has {done} transactions in this log, and {wanted} by its profile."
            ),
        )),
        _ => {}
    }
    if session.stopped.is_none() && session.profile.is_none() {
        doubts.push(Warning::warn(
            WarningCode::ClassicNoProfile,
            format!(
                "Nothing says what the transactions of user {user} do: their profile is in \
                 Multi1.txt, which is read together with Multi2.txt where both lie side by side."
            ),
        ));
    }
    doubts.extend(wrong_percentile(session));
    doubts.extend(wrong_clock(session));
    doubts
}

/// The document's own samples state 10214 records for 40 MB, where there are 10240.
fn wrong_records(megabytes: f64, records: u64) -> Option<Warning> {
    let expected = (megabytes * RECORDS_PER_MEGABYTE as f64).round();
    // Sizes are printed to a thousandth of a megabyte: a quarter of a record.
    let is_wrong = records > 0 && (expected - records as f64).abs() > 1.0;
    is_wrong.then(|| {
        Warning::warn(
            WarningCode::ClassicRecords,
            format!(
                "{megabytes} MB are {expected} records of 4096 bytes, and the log says {records}."
            ),
        )
    })
}

/// As in table 9.4 of the document, whose 95 % (3.35) is below its mean (5.02).
fn wrong_percentile(session: &UserSession) -> Option<Warning> {
    let times: Vec<f64> = session
        .transactions
        .iter()
        .map(|it| it.response_s)
        .collect();
    let SampleTimes { mean, high, .. } = SampleTimes::of(&times);
    (high < mean).then(|| {
        Warning::warn(
            WarningCode::ClassicPercentile,
            format!(
                "User {}: 95 % of the response times are within {high:.3} s, and their mean is \
             {mean:.3} s: a few long ones make the mean, which says little here.",
                session.user
            ),
        )
    })
}

/// Between the ends of two transactions are the think and response time of the second.
fn wrong_clock(session: &UserSession) -> Option<Warning> {
    let seconds = |time| i64::from(seconds_of_day(time));
    let mut pairs = session.transactions.windows(2);
    let wrong = pairs.find(|pair| {
        let passed = (seconds(pair[1].time) - seconds(pair[0].time)).rem_euclid(DAY_S) as f64;
        let needed = f64::from(pair[1].think_s) + pair[1].response_s;
        // Beyond a day, the time of day is meaningless.
        needed < DAY_S as f64 / 2.0 && passed + CLOCK_SLACK_S < needed
    })?;
    Some(Warning::warn(
        WarningCode::ClassicClock,
        format!(
            "User {}: the transaction that ended at {} thought and answered for longer than has \
             passed since the one before it ended: the clock was set, or lines are missing.",
            session.user,
            clock_text(wrong[1].time)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::layout::Transaction;
    use super::*;

    fn log(lines: &[&str]) -> DiskRandLog {
        DiskRandLog::read(&lines.join("\n")).expect("a log")
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &[&str]) {
        let found = doubts(&log(lines));
        let codes: Vec<&str> = found.iter().map(|doubt| doubt.code.as_str()).collect();
        assert_eq!(codes, expected, "{found:?}");
    }

    const USER: &str = "User 7, 2 transactions, 1 I/O/transaction, 1 think secs";

    #[test]
    fn what_does_not_fit_together_is_named() {
        let file = "Read D, 40 MB, 10240 records, 0 CP load";
        let first = "7 12:00:01 think 1 response 0.500 secs. load 0.000";
        let second = "7 12:00:03 think 2 response 0.500 secs. load 0.000";
        check(&[USER, file, first, second], &[]);
        check(&[USER, file, first], &["classic-count"]);
        let stopped = "User 7 stopped after 1 transactions: SIGINT";
        check(&[USER, file, first, stopped], &[]);
        let few = "Read D, 40 MB, 10214 records, 0 CP load";
        check(&[USER, few, first, second], &["classic-records"]);
        let soon = "7 12:00:03 think 2 response 9.500 secs. load 0.000";
        check(&[USER, file, first, soon], &["classic-clock"]);
        check(&[first], &["classic-no-profile"]);
        check(
            &["File written 40 Mbytes, 10214 records of 4096 bytes"],
            &["classic-records"],
        );
        // With midnight in between.
        let late = "7 23:59:59 think 1 response 0.500 secs. load 0.000";
        let early = "7 00:00:02 think 2 response 0.500 secs. load 0.000";
        check(&[USER, file, late, early], &[]);
    }

    #[test]
    fn a_percentile_below_the_mean_is_named() {
        let one = |response_s| Transaction {
            user: 1,
            time: (0, 0, 0),
            think_s: 0,
            response_s,
            load: 0.0,
        };
        let mut session = log(&["1 00:00:00 think 0 response 1.000 secs. load 0.000"])
            .sessions
            .remove(0);
        session.transactions = (0..99).map(|_| one(0.1)).chain([one(100.0)]).collect();
        let found = wrong_percentile(&session).expect("a doubt");
        assert!(
            found
                .text()
                .contains("within 0.100 s, and their mean is 1.099 s"),
            "{}",
            found.text()
        );
        session.transactions.pop();
        assert_eq!(wrong_percentile(&session), None);
    }

    #[test]
    fn percentiles_are_those_of_the_sample() {
        let check = |count: u32, expected: Option<f64>| {
            let times: Vec<f64> = (1..=count).rev().map(f64::from).collect();
            assert_eq!(percentile_95(&times), expected, "{count}");
        };
        check(0, None);
        check(1, Some(1.0));
        check(20, Some(19.0));
        check(21, Some(20.0));
        check(100, Some(95.0));
    }
}
