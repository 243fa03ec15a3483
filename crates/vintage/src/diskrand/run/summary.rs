//! Summary of one user's response times.

use std::fmt;

use crate::diskrand::percentile_95;
use stats::{Estimate, mean_interval};
use units::{Duration, format_duration_ns, format_interval_ns};

/// Maximum number of response times kept for percentile and interval; beyond that, the first ones
/// represent all.
const TIMES_MAX: usize = 1 << 20;
/// Minimum number of transactions for an interval.
const INTERVAL_MIN: usize = 10;

/// Response times of one user.
#[derive(Clone, Debug, Default)]
pub struct ReadSummary {
    user: u32,
    wanted: u64,
    done: u64,
    ios: u64,
    elapsed: Duration,
    times_s: Vec<f64>,
    sum_s: f64,
    longest_s: f64,
    /// Where the bytes came from, in words.
    pub(super) origin: Option<String>,
}

impl ReadSummary {
    pub(super) fn new(user: u32, wanted: u64) -> Self {
        Self {
            user,
            wanted,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, response_s: f64, ios: u64, elapsed: Duration) {
        self.done += 1;
        self.ios += ios;
        self.elapsed = elapsed;
        self.sum_s += response_s;
        self.longest_s = self.longest_s.max(response_s);
        if self.times_s.len() < TIMES_MAX {
            self.times_s.push(response_s);
        }
    }

    /// Response times, seconds; of very many only the first ones.
    pub fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    /// Number of finished transactions.
    pub const fn done(&self) -> u64 {
        self.done
    }

    fn mean(&self) -> String {
        let mean_ns = 1e9 * self.sum_s / self.done.max(1) as f64;
        if self.times_s.len() < INTERVAL_MIN || (self.times_s.len() as u64) < self.done {
            return format_duration_ns(mean_ns);
        }
        let Estimate { low, high, .. } = mean_interval(&self.times_s);
        let (value, interval) = format_interval_ns(mean_ns, 1e9 * low, 1e9 * high);
        format!("{value} ({interval})")
    }
}

impl fmt::Display for ReadSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.done == 0 {
            return write!(f, "User {}: no transaction was done", self.user);
        }
        let of = if self.done < self.wanted {
            format!(" of {}", self.wanted)
        } else {
            String::new()
        };
        let high = percentile_95(&self.times_s).unwrap_or(0.0);
        write!(
            f,
            "User {}: {}{of} transactions, {} I/Os in {}\n\
             response mean {}, 95 % of these within {}, longest {}",
            self.user,
            self.done,
            self.ios,
            format_duration_ns(self.elapsed.as_nanos() as f64),
            self.mean(),
            format_duration_ns(1e9 * high),
            format_duration_ns(1e9 * self.longest_s),
        )?;
        match &self.origin {
            Some(origin) => write!(f, "\n{origin}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_was_done() {
        let mut summary = ReadSummary::new(23, 40);
        assert_eq!(summary.to_string(), "User 23: no transaction was done");
        for number in 1..=20_u32 {
            summary.add(
                f64::from(number) / 100.0,
                5,
                Duration::from_secs(number.into()),
            );
        }
        let text = summary.to_string();
        assert!(
            text.starts_with("User 23: 20 of 40 transactions, 100 I/Os in 20"),
            "{text}"
        );
        assert!(text.contains("response mean 105"), "{text}");
        assert!(text.contains("95 % of these within 190"), "{text}");
        assert!(text.contains("longest 200"), "{text}");
        assert!(text.contains(" .. "), "an interval: {text}");
    }
}
