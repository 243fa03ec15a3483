//! A level for probes, judged over an hour.

use std::str::FromStr;

use units::Duration;

use crate::prober::ProbeKind;
use crate::window::WatchWindow;

/// Minimum expected number of probes above a percentile to judge it.
const ABOVE_MIN: f64 = 10.0;

/// A level as typed, such as `p99 <= 20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchLevel {
    text: String,
    /// The percentile, 0 to 1.
    share: f64,
    limit: Duration,
}

/// A percentile compared with its level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelFinding {
    pub kind: ProbeKind,
    /// The percentile found, ns.
    pub found_ns: u64,
    pub is_kept: bool,
}

impl FromStr for WatchLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a level: write it as in 'p99 <= 20ms'");
        let (percentile, limit) = text.split_once('<').ok_or_else(wrong)?;
        let percent = percentile.trim().strip_prefix('p').ok_or_else(wrong)?;
        let percent: f64 = percent.parse().map_err(|_| wrong())?;
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let limit: Duration = limit.parse().map_err(|_| wrong())?;
        if !(percent > 0.0 && percent < 100.0) || limit == Duration::ZERO {
            return Err(wrong());
        }
        Ok(Self {
            text: format!("{} <= {limit}", percentile.trim()),
            share: percent / 100.0,
            limit,
        })
    }
}

impl std::fmt::Display for WatchLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl WatchLevel {
    /// Judges the probes of an hour, for each kind with enough of them.
    pub fn judge(&self, hour: &WatchWindow) -> Vec<LevelFinding> {
        let of = |kind: ProbeKind| {
            let times = hour.times(kind);
            let is_enough = times.count() as f64 * (1.0 - self.share) >= ABOVE_MIN - 1e-6;
            let found_ns = times.quantile(self.share).filter(|_| is_enough)?;
            Some(LevelFinding {
                kind,
                found_ns,
                is_kept: found_ns <= self.limit.as_nanos(),
            })
        };
        ProbeKind::ALL.into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_judged_as_soon_as_ten_probes_may_lie_above() {
        let level: WatchLevel = "p99 <= 20ms".parse().expect("a level");
        assert_eq!(level.to_string(), "p99 <= 20.0 ms");
        let mut hour = WatchWindow::new(0, 3_600);
        let times = hour.times_mut(ProbeKind::Read);
        (0..999).for_each(|_| times.record(1_000_000));
        assert_eq!(level.judge(&hour), []);
        let times = hour.times_mut(ProbeKind::Read);
        (0..11).for_each(|_| times.record(30_000_000));
        let found = level.judge(&hour);
        assert_eq!(found.len(), 1);
        assert!(
            !found[0].is_kept && found[0].kind == ProbeKind::Read,
            "{found:?}"
        );
        let lax: WatchLevel = "p99.9<40ms".parse().expect("a level");
        assert_eq!(lax.judge(&hour), [], "one probe above");
    }

    #[test]
    fn what_is_no_level_is_refused_with_an_example() {
        for text in [
            "",
            "p99",
            "99 <= 1ms",
            "p100 <= 1ms",
            "p99 <= 0",
            "p99 <= fast",
            "p0 < 1s",
        ] {
            let why = text.parse::<WatchLevel>().expect_err(text);
            assert!(why.contains("as in 'p99 <= 20ms'"), "{why}");
        }
    }
}
