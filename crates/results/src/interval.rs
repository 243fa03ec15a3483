//! Response times of a trial by interval.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use stats::Histogram;

/// Operations completed in one interval. Adjacent intervals merge without loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// End of the interval, from the start of the trial, nanoseconds.
    pub end_ns: u64,
    /// Length of the interval, nanoseconds.
    pub length_ns: u64,
    /// Failed operations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Share of the device's bytes from other processes, 0 to 1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// Response times as HdrHistogram V2 in base 64, with a resolution of 1.6 %. Empty if no
    /// operation completed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response_histogram: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub fn histogram_text(histogram: &Histogram) -> String {
    let bytes = histogram.to_bytes();
    bytes.map_or_else(|_| String::new(), |it| STANDARD.encode(it))
}

/// Reads a histogram written by [`histogram_text`]; `None` for any other text.
pub fn histogram_in(text: &str) -> Option<Histogram> {
    Histogram::from_bytes(&STANDARD.decode(text).ok()?).ok()
}

/// The response time that the share `p` of these operations does not exceed, nanoseconds. It
/// describes these operations only. `None` if no operation lies above it.
pub fn percentile_in(response: &Histogram, p: f64) -> Option<u64> {
    let above = response.len() as f64 * (1.0 - p);
    // Of 100 operations, one lies above the p99.
    (above > 1.0 - 1e-9).then(|| response.value_at(p))?
}

impl Interval {
    /// Response times of the completed operations.
    pub fn response(&self) -> Histogram {
        histogram_in(&self.response_histogram).unwrap_or_default()
    }

    /// Completions per second, given their response times.
    pub fn per_second(&self, response: &Histogram) -> f64 {
        response.len() as f64 * 1e9 / self.length_ns.max(1) as f64
    }

    /// Start of the interval, from the start of the trial, nanoseconds.
    pub const fn begin_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.length_ns)
    }

    /// Merges adjacent intervals: counts and histograms add up, shares are weighted by time.
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

    /// Windows of `length_ns` from the start of the trial; the last may be shorter. `None` if
    /// interval boundaries do not match.
    pub fn windows(intervals: &[Self], length_ns: u64) -> Option<Vec<Self>> {
        let each_ns = intervals.first()?.length_ns;
        let is_whole = intervals.len() == 1 && length_ns >= each_ns;
        let is_regular = intervals
            .iter()
            .all(|it| it.begin_ns().is_multiple_of(each_ns));
        (is_whole || is_regular && length_ns.is_multiple_of(each_ns)).then(|| {
            let window = |it: &Self| it.begin_ns() / length_ns;
            let windows = intervals.chunk_by(|one, next| window(one) == window(next));
            windows.map(Self::over).collect()
        })
    }

    /// At most `count` intervals, each merged from the same number of neighbours. A short
    /// remainder, whose rate alone is meaningless, joins the last one.
    pub fn condensed(intervals: &[Self], count: usize) -> Vec<Self> {
        let whole = match intervals {
            [first, .., rest] if rest.length_ns * 4 < first.length_ns => intervals.len() - 1,
            _ => intervals.len(),
        };
        let together = whole.div_ceil(count.max(1)).max(1);
        let last = whole.saturating_sub(1) / together * together;
        let (chunks, last) = intervals.split_at(last);
        let chunks = chunks.chunks(together).map(Self::over);
        let last = (!last.is_empty()).then(|| Self::over(last));
        chunks.chain(last).collect()
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

    /// All intervals merged equal the whole trial, to the last count.
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
            let joined = Interval::windows(&parts, seconds * 1_000_000_000).expect("whole seconds");
            assert_eq!(joined.len() as u64, 7_u64.div_ceil(seconds), "{seconds}");
            let all = Interval::over(&joined);
            assert_eq!(all.response(), whole, "{seconds}");
            assert_eq!((all.end_ns, all.errors), (7_000_000_000, 28));
            assert_eq!((all.begin_ns(), all.length_ns), (0, 7_000_000_000));
        }
        assert_eq!(Interval::windows(&parts, 1_500_000_000), None);
        assert_eq!(Interval::windows(&parts, 500_000_000), None);
        assert_eq!(Interval::condensed(&parts, 7), parts);
        let ends = |it: &Interval| it.end_ns / 1_000_000_000;
        let condensed = Interval::condensed(&parts, 3);
        assert_eq!(condensed.iter().map(ends).collect::<Vec<_>>(), [3, 6, 7]);
        let mut with_rest = parts.clone();
        with_rest[6].length_ns /= 10;
        let condensed = Interval::condensed(&with_rest, 3);
        assert_eq!(condensed.iter().map(ends).collect::<Vec<_>>(), [2, 4, 7]);
        let foreign = Interval::over(&parts)
            .foreign_share
            .expect("known of three");
        assert!((foreign - 0.4).abs() < 1e-12, "{foreign}");
        assert_eq!(Interval::over(&parts[..1]).foreign_share, None);
        assert!(Interval::condensed(&[], 5).is_empty());
    }

    #[test]
    fn what_is_no_histogram_is_none() {
        assert!(histogram_in("").is_none());
        assert!(histogram_in("!").is_none());
        assert!(Interval::default().response().is_empty());
    }
}
