//! How heavy the tail of a distribution is: Hill's estimate (1975) of the exponent with which the
//! share of times longer than `t` falls. Up to an exponent of 2 there is no variance, so that no
//! interval of the mean is right.

use crate::bins::LogBins;

/// The tail is this share of the times, the longest ...
const TAIL: f64 = 0.01;
/// ... and so many of them at least: fewer have no shape.
const TAIL_MIN: f64 = 50.0;
/// Standard errors by which the exponent must lie below 2.
const ERRORS: f64 = 2.58;
/// The exponent up to which there is no variance.
const NO_VARIANCE: f64 = 2.0;

/// The exponent of the tail, where it surely has no variance.
pub(crate) fn heavy_tail(bins: &LogBins) -> Option<f64> {
    let wanted = TAIL * bins.total() as f64;
    if wanted < TAIL_MIN {
        return None;
    }
    let (mut count, mut logs) = (0.0, 0.0);
    let middle = |bin: u16| {
        let ends = (
            LogBins::lower_edge(bin) as f64,
            LogBins::upper_edge(bin) as f64,
        );
        f64::midpoint(ends.0, ends.1).max(1.0).ln()
    };
    for (bin, more) in bins.iter().rev() {
        if count >= wanted {
            break;
        }
        count += more as f64;
        logs += more as f64 * middle(bin);
        if count >= wanted {
            logs -= count * middle(bin);
        }
    }
    let exponent = count / logs;
    (logs > 0.0 && exponent * (1.0 + ERRORS / count.sqrt()) < NO_VARIANCE).then_some(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times at equally spaced shares of a distribution, given how long what `share` exceeds is.
    fn found(count: u32, time_ns: impl Fn(f64) -> f64) -> Option<f64> {
        let mut bins = LogBins::new();
        for i in 0..count {
            let share = (f64::from(i) + 0.5) / f64::from(count);
            bins.add(LogBins::bin_of(time_ns(share) as u64), 1);
        }
        heavy_tail(&bins)
    }

    #[test]
    fn a_tail_without_variance_is_found_and_no_other() {
        for exponent in [1.2, 1.5] {
            let pareto = found(30_000, |share| 1e5 * share.powf(-1.0 / exponent));
            let off = pareto.map_or(1.0, |it: f64| (it / exponent - 1.0).abs());
            assert!(off < 0.1, "{exponent}: {pareto:?}");
        }
        assert_eq!(found(30_000, |share| 1e5 * share.powf(-1.0 / 2.5)), None);
        assert_eq!(found(30_000, |share| -1e6 * share.ln()), None);
        assert_eq!(found(30_000, |_| 1e6), None);
        assert_eq!(found(4_000, |share| 1e5 / share), None);
    }
}
