//! Limits on the change of a level relative to the one it is compared with, such as `latency-p99 >
//! +10%`: what fails a build.

use std::str::FromStr;

use results::{LimitVerdict, StudyLimit, StudyReplicate};
use stats::{Comparison, Estimate, PAIRS_MIN, bears_conclusion, compare_pairs};
use units::parse_percent;

use crate::figure_name::whole_name;
use crate::study::analysis::StudyShape;
use crate::study::definition::Against;

/// Probability that any of the limits that are kept is reported as exceeded.
pub(super) const ERROR: f64 = 0.05;
/// Standard normal quantile of .8: with the recommended number of rounds, a difference is detected
/// with 80 % power.
pub(super) const POWER_QUANTILE: f64 = 0.842;
/// Maximum number of rounds that is recommended.
const ROUNDS_ADVISED_MAX: f64 = 1000.0;
/// An unacceptable change.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As it was typed.
    pub text: String,
    /// Full name of the reading.
    pub reading: String,
    /// Whether an increase is unacceptable; otherwise a decrease.
    is_above: bool,
    /// The change as a share, such as 0.1 for +10 %.
    change: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a limit. Write a figure, > or <, and a change, as in \
                 'p99 > +10%' or 'iops < -5%'"
            )
        };
        let at = text.find(['>', '<']).ok_or_else(wrong)?;
        let is_above = text[at..].starts_with('>');
        let reading = text[..at].trim();
        let change = text[at + 1..].trim();
        let (sign, share) = match change.strip_prefix('-') {
            Some(share) => (-1.0, share),
            None => (1.0, change.strip_prefix('+').unwrap_or(change)),
        };
        let share = parse_percent(share.trim()).map_err(|_| wrong())?;
        let change = sign * share;
        if reading.is_empty() || !(change > -1.0 && change.is_finite()) {
            return Err(wrong());
        }
        if (change < 0.0 && is_above) || (change > 0.0 && !is_above) {
            return Err(format!(
                "{text:?} would fail where nothing changed. A metric may rise by less than \
                 +10% ('> +10%') or fall by less than -10% ('< -10%')"
            ));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            // Summaries use underscores, so that names need no quoting.
            reading: whole_name(&reading.replace('_', "-")),
            is_above,
            change,
        })
    }
}

impl Limit {
    /// The ratio from which it is exceeded.
    pub(super) fn bound(&self) -> f64 {
        1.0 + self.change
    }

    /// 1 for a figure that must not rise, -1 for one that must not fall.
    pub(super) fn sign(&self) -> f64 {
        if self.is_above { 1.0 } else { -1.0 }
    }

    fn verdict(&self, found: &Comparison) -> LimitVerdict {
        if bears_conclusion(found.pairs) {
            self.verdict_of(&found.ratio)
        } else {
            LimitVerdict::Undecided
        }
    }

    /// The verdict from a ratio with its interval, whatever it rests on.
    pub(super) fn verdict_of(&self, ratio: &Estimate) -> LimitVerdict {
        let (low, high, bound) = (ratio.low, ratio.high, self.bound());
        let (is_beyond, is_within) = match self.is_above {
            true => (low > bound, high <= bound),
            false => (high < bound, low >= bound),
        };
        match (is_beyond, is_within) {
            (true, _) => LimitVerdict::Exceeded,
            (_, true) => LimitVerdict::Kept,
            _ => LimitVerdict::Undecided,
        }
    }

    /// Rounds needed to tell a change of the observed size from the limit with 80 % power; `None`
    /// if impractically many.
    fn rounds_needed(&self, found: &Comparison) -> Option<u32> {
        let distance = (found.ratio.value / self.bound()).ln().abs();
        let half_width = (found.ratio.high / found.ratio.low).ln() / 2.0;
        let pairs = found.pairs as f64;
        let quantile = stats::student_t(0.5 + found.ratio.confidence / 2.0, pairs - 1.0);
        let deviation = half_width / quantile * pairs.sqrt();
        let wanted = ((quantile + POWER_QUANTILE) * deviation / distance).powi(2);
        let wanted = wanted.ceil().max(PAIRS_MIN as f64);
        (wanted <= ROUNDS_ADVISED_MAX).then_some(wanted as u32)
    }
}

/// Checks each limit for every level compared with the first, by the interval of the ratio over
/// pairs of one round, one-sided, at 95 % for all limits together (Bonferroni).
pub fn judge(
    limits: &[Limit],
    shape: &StudyShape,
    replicates: &[StudyReplicate],
) -> Vec<StudyLimit> {
    let (Some(levels), Some(Against::Level(base))) = (shape.levels.first(), shape.against.first())
    else {
        return Vec::new();
    };
    let others = || (0..levels.len()).filter(|level| level != base);
    let count = (limits.len() * others().count()).max(1);
    let confidence = 1.0 - 2.0 * ERROR / count as f64;
    let judged = limits.iter().flat_map(|limit| {
        others().map(move |level| {
            let (level, base) = (&levels[level], &levels[*base]);
            let pairs = pairs(&limit.reading, level, base, replicates);
            let found = compare_pairs(&pairs, confidence);
            StudyLimit {
                rule: limit.text.clone(),
                reading: limit.reading.clone(),
                level: level.clone(),
                against: base.clone(),
                ratio: found.map(|it| it.ratio),
                rounds: pairs.len() as u32,
                rounds_needed: found.and_then(|it| limit.rounds_needed(&it)),
                verdict: found.map_or(LimitVerdict::Undecided, |it| limit.verdict(&it)),
            }
        })
    });
    judged.collect()
}

/// Values of both levels in rounds that have both.
fn pairs(reading: &str, level: &str, base: &str, replicates: &[StudyReplicate]) -> Vec<(f64, f64)> {
    let value = |round: u32, level: &str| {
        let mut of_round = replicates.iter().filter(|it| it.round == round);
        let found = of_round.find(|it| it.levels.first().is_some_and(|it| it == level))?;
        let reading = found.readings.iter().find(|it| it.name == reading)?;
        Some(reading.value)
    };
    let rounds = replicates.iter().map(|it| it.round).max().unwrap_or(0);
    let both = (1..=rounds).filter_map(|round| Some((value(round, level)?, value(round, base)?)));
    both.collect()
}

#[cfg(test)]
mod tests {
    use results::{Better, Reading, Unit};

    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_limit_names_a_figure_a_direction_and_a_change() {
        let check = |text: &str, reading: &str, bound: f64| {
            let found = limit(text);
            assert_eq!(found.reading, reading, "{text}");
            assert!((found.bound() - bound).abs() < 1e-12, "{text}");
        };
        check("p99 > +10%", "latency-p99", 1.1);
        check("p99.9>10%", "latency-p99.9", 1.1);
        check("latency-p99 > 0%", "latency-p99", 1.0);
        check("iops < -5%", "iops", 0.95);
        check("random-read.p99 > +10 %", "random-read.latency-p99", 1.1);
        check("random-read.p99.9 > +1%", "random-read.latency-p99.9", 1.01);
        check("bandwidth < -2.5%", "throughput", 0.975);
        for wrong in [
            "",
            "p99",
            "p99 > ",
            "> 10%",
            "p99 = 10%",
            "p99 > x%",
            "p99 < -100%",
        ] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
        for certain in ["p99 > -10%", "iops < +10%"] {
            let error = certain.parse::<Limit>().expect_err("certain");
            assert!(error.contains("nothing changed"), "{error}");
        }
    }

    /// Two levels, whose values in each round have these ratios.
    fn judged(rule: &str, ratios: &[f64]) -> StudyLimit {
        let shape = StudyShape {
            factors: vec!["compared".into()],
            levels: vec![vec!["base".into(), "new".into()]],
            against: vec![Against::Level(0)],
            cells: vec![vec![0], vec![1]],
            margin: 0.02,
            readings: Vec::new(),
        };
        let replicates = (1..).zip(ratios).flat_map(|(round, ratio)| {
            [("base", 2.0), ("new", 2.0 * ratio)].map(|(level, value)| StudyReplicate {
                number: round,
                round,
                levels: vec![level.into()],
                started_at: String::new(),
                elapsed_ns: 1,
                readings: vec![Reading::new("iops", Unit::PerSecond, value, Better::Higher)],
                warnings: Vec::new(),
            })
        });
        let found = judge(&[limit(rule)], &shape, &replicates.collect::<Vec<_>>());
        found.into_iter().next().expect("a finding")
    }

    #[test]
    fn a_limit_is_judged_by_the_whole_interval() {
        let check = |rule: &str, ratios: &[f64], verdict: LimitVerdict| {
            let found = judged(rule, ratios);
            assert_eq!(found.verdict, verdict, "{found:?}");
        };
        let lower = [0.80, 0.81, 0.79, 0.80, 0.80];
        check("iops < -10%", &lower, LimitVerdict::Exceeded);
        check("iops < -30%", &lower, LimitVerdict::Kept);
        check("iops < -20%", &lower, LimitVerdict::Undecided);
        check("iops < -10%", &lower[..4], LimitVerdict::Undecided);
        check("iops > +10%", &lower, LimitVerdict::Kept);
        check("iops < -10%", &[], LimitVerdict::Undecided);
        // A figure missing in a round is in no pair.
        check("iops < -10%", &[f64::NAN], LimitVerdict::Undecided);
    }

    /// Logarithms .1 and -.1 around a mean of 0 have a deviation of .109545 over six rounds, and
    /// Student's t is 2.015 at .95 and 5 degrees of freedom: ((2.015 + .842) .109545 / ln 1.1)^2
    /// is 10.8.
    #[test]
    fn the_rounds_that_would_tell_follow_from_the_spread() {
        let (up, down) = (0.1_f64.exp(), (-0.1_f64).exp());
        let found = judged("iops > +10%", &[up, down, up, down, up, down]);
        assert_eq!(found.rounds_needed, Some(11), "{found:?}");
        let nearer = judged("iops > +0.1%", &[up, down, up, down, up, down]);
        assert_eq!(nearer.rounds_needed, None, "{nearer:?}");
    }
}
