//! How long operations took in each interval of a trial.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use stats::Histogram;

/// What was completed in one interval. Neighbours are joined without loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// End of the interval, from the start of the trial, nanoseconds.
    pub end_ns: u64,
    /// Length of the interval, nanoseconds.
    pub length_ns: u64,
    /// Failed operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Bytes of other processes among those that the device moved, 0 to 1; absent where that is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// The response times: HdrHistogram V2, base 64; values are 1.6 % apart at most. Empty where
    /// nothing was completed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response_histogram: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[must_use]
pub fn histogram_text(histogram: &Histogram) -> String {
    let bytes = histogram.to_bytes();
    bytes.map_or_else(|_| String::new(), |it| STANDARD.encode(it))
}

/// The histogram that [`histogram_text`] wrote; `None` of another text.
#[must_use]
pub fn histogram_in(text: &str) -> Option<Histogram> {
    Histogram::from_bytes(&STANDARD.decode(text).ok()?).ok()
}

impl Interval {
    /// Response times of what was completed.
    #[must_use]
    pub fn response(&self) -> Histogram {
        histogram_in(&self.response_histogram).unwrap_or_default()
    }

    /// Start of the interval, from the start of the trial, nanoseconds.
    #[must_use]
    pub const fn begin_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.length_ns)
    }

    /// Neighbours as one: counts and histograms are added, shares of others are means over time.
    #[must_use]
    pub fn over(neighbours: &[Self]) -> Self {
        let length_ns = neighbours.iter().map(|it| it.length_ns).sum();
        let mut response = Histogram::new();
        let (mut foreign, mut known_ns) = (0.0, 0.0);
        for it in neighbours {
            response.merge(&it.response());
            if let Some(share) = it.foreign_share {
                foreign += share * it.length_ns as f64;
                known_ns += it.length_ns as f64;
            }
        }
        Self {
            end_ns: neighbours.last().map_or(0, |it| it.end_ns),
            length_ns,
            errors: neighbours.iter().map(|it| it.errors).sum(),
            foreign_share: (known_ns > 0.0).then(|| foreign / known_ns),
            response_histogram: match response.is_empty() {
                true => String::new(),
                false => histogram_text(&response),
            },
        }
    }

    /// Neighbours joined until each is `length_ns` long at least; the last may be shorter.
    #[must_use]
    pub fn joined(intervals: &[Self], length_ns: u64) -> Vec<Self> {
        let mut found = Vec::new();
        let mut rest = intervals;
        while !rest.is_empty() {
            let mut length = 0;
            let long = rest.iter().position(|it| {
                length += it.length_ns;
                length >= length_ns
            });
            let (these, later) = rest.split_at(long.map_or(rest.len(), |at| at + 1));
            found.push(match these {
                [one] => one.clone(),
                several => Self::over(several),
            });
            rest = later;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(end_s: u64, times: &[u64], foreign_share: Option<f64>) -> Interval {
        let mut response = Histogram::new();
        times.iter().for_each(|&time| response.record(time));
        Interval {
            end_ns: end_s * 1_000_000_000,
            length_ns: 1_000_000_000,
            errors: end_s,
            foreign_share,
            response_histogram: match times {
                [] => String::new(),
                _ => histogram_text(&response),
            },
        }
    }

    /// Whoever joins all intervals must have the trial, to the last count.
    #[test]
    fn joined_intervals_hold_what_their_parts_held() {
        let times: Vec<Vec<u64>> = (0..7_u64)
            .map(|second| (0..second * 40).map(|at| 900 + 37 * at * second).collect())
            .collect();
        let parts: Vec<Interval> = times
            .iter()
            .zip(1..)
            .map(|(times, end)| interval(end, times, (end % 2 == 0).then_some(0.1 * end as f64)))
            .collect();
        let mut whole = Histogram::new();
        times.iter().flatten().for_each(|&time| whole.record(time));
        for seconds in 1..=8 {
            let joined = Interval::joined(&parts, seconds * 1_000_000_000);
            assert_eq!(joined.len() as u64, 7_u64.div_ceil(seconds), "{seconds}");
            let all = Interval::over(&joined);
            assert_eq!(all.response(), whole, "{seconds}");
            assert_eq!((all.end_ns, all.errors), (7_000_000_000, 28));
            assert_eq!((all.begin_ns(), all.length_ns), (0, 7_000_000_000));
        }
        assert_eq!(Interval::joined(&parts, 1), parts);
        let foreign = Interval::over(&parts)
            .foreign_share
            .expect("known of three");
        assert!((foreign - 0.4).abs() < 1e-12, "{foreign}");
        assert_eq!(Interval::over(&parts[..1]).foreign_share, None);
        assert!(Interval::joined(&[], 5).is_empty());
    }

    #[test]
    fn what_is_no_histogram_is_none() {
        assert!(histogram_in("").is_none());
        assert!(histogram_in("!").is_none());
        assert!(Interval::default().response().is_empty());
    }
}
