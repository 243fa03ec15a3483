//! Goals on figures of a run, such as `p99 <= 2ms` or `p99 <= 2ms @ 20k/s`: met, missed, or
//! undecided.

use std::str::FromStr;

use results::{
    Figure, GoalVerdict, LevelOutcome, LimitVerdict, Measurement, NamedFigure, PERCENTILES, Run,
    Trust, Unit,
};
use stats::{chance_of_at_most, is_indicative};
use units::{Bytes, Duration, Rate, parse_percent};

use crate::figure_name::whole_name;

/// A goal on a figure. The ends of its interval, at 97.5 % each, decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As it was typed.
    text: String,
    /// Full name of the figure.
    figure: String,
    /// Whether it is an upper bound.
    is_upper: bool,
    bound: f64,
    unit: Unit,
    /// Offered load during the measurement, operations per second, if the goal states one.
    rate: Option<f64>,
}

/// A figure that has not converged is judged only if its whole interval is this many times away
/// from the bound.
const FAR: f64 = 3.0;
/// Probability that a goal is wrongly called met, as for the end of an interval.
const CHANCE: f64 = 0.025;

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a goal. Write a figure, <= or >=, and a value, as in \
                 'p99 <= 2ms', 'iops >= 20k/s', 'bandwidth >= 400MB/s', 'p99 <= 2ms @ 20k/s'"
            )
        };
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let is_upper = text[at..].starts_with('<');
        let figure = text[..at].trim().replace('_', "-");
        let typed = text[at + 1..].trim_start_matches('=').trim();
        let (typed, rate) = match typed.split_once('@') {
            Some((typed, rate)) => (typed.trim(), Some(offered(rate).ok_or_else(wrong)?)),
            None => (typed, None),
        };
        let (bound, unit) = match (unit_of(&figure), typed.parse()) {
            (Some(Unit::Ratio), Ok(number)) => (number, Unit::Ratio),
            _ => bound(typed).ok_or_else(wrong)?,
        };
        if figure.is_empty() || !(bound > 0.0 && bound.is_finite()) {
            return Err(wrong());
        }
        let figure = whole_name(&figure);
        if let Some(known) = unit_of(&figure).filter(|known| *known != unit) {
            let kind = match known {
                Unit::Seconds => "a time, such as 2ms",
                Unit::BytesPerSecond => "a rate in bytes, such as 400MB/s",
                Unit::Ratio => "a number, such as 50",
                _ => "a rate of operations, such as 20k/s",
            };
            return Err(format!("{text:?}: {figure} is {kind}"));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            figure,
            is_upper,
            bound,
            unit,
            rate,
        })
    }
}

/// Parses an offered load, per second.
fn offered(typed: &str) -> Option<f64> {
    let rate = typed.trim().parse::<Rate>().ok()?.per_second();
    (rate > 0.0 && rate <= 1e9).then_some(rate)
}

/// Name of the trial that measures what `trial` does at `rate` per second.
pub fn rated_name(trial: &str, rate: f64) -> String {
    format!("{trial}@{rate}/s")
}

/// Parses a value in the units of figures: seconds, bytes per second, operations per second, or a
/// share.
fn bound(typed: &str) -> Option<(f64, Unit)> {
    if let Ok(time) = typed.parse::<Duration>() {
        return Some((time.as_secs_f64(), Unit::Seconds));
    }
    let bytes = typed.strip_suffix("/s").unwrap_or_default();
    if let (true, Ok(bytes)) = (bytes.ends_with('B'), bytes.parse::<Bytes>()) {
        return Some((bytes.as_u64() as f64, Unit::BytesPerSecond));
    }
    if let Ok(rate) = typed.parse::<Rate>() {
        return Some((rate.per_second(), Unit::PerSecond));
    }
    let share = parse_percent(typed).ok()?;
    Some((share, Unit::Share))
}

/// Splits a name into the row, if any, and the metric. The dot in `latency-p99.9` is not a
/// separator.
pub fn split(figure: &str) -> (Option<&str>, &str) {
    let pointed = PERCENTILES.iter().filter(|it| it.name.contains('.'));
    let mut fronts = pointed.filter_map(|it| figure.strip_suffix(it.name));
    let front = fronts.next().unwrap_or(figure);
    let metric = front.rfind('.').map_or(0, |at| at + 1);
    let row = figure[..metric].strip_suffix('.');
    (row, &figure[metric..])
}

/// The unit of a metric that many measurements have.
fn unit_of(figure: &str) -> Option<Unit> {
    match split(figure).1 {
        "iops" => Some(Unit::PerSecond),
        "throughput" => Some(Unit::BytesPerSecond),
        "rabmark-r" => Some(Unit::Ratio),
        time if time.starts_with("latency") || time.starts_with("service-time") => {
            Some(Unit::Seconds)
        }
        _ => None,
    }
}

impl Requirement {
    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Full name of the figure, without the rate.
    pub fn figure(&self) -> &str {
        &self.figure
    }

    /// The bound, in its unit.
    pub const fn bound(&self) -> f64 {
        self.bound
    }

    /// Whether the bound is an upper one.
    pub const fn is_upper(&self) -> bool {
        self.is_upper
    }

    /// The unit of the bound.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The percentile, 0 to 1; `None` for other figures.
    pub fn percentile(&self) -> Option<f64> {
        let (_, metric) = split(&self.figure);
        let mut known = PERCENTILES.iter();
        let found = known.find(|it| metric.strip_prefix("latency-") == Some(it.name));
        found.map(|it| it.share)
    }

    /// Offered load, operations per second, if the goal states one.
    pub const fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// The figure's name in the run: with a rate, that of the trial at that rate.
    fn figure_in(&self, run: &Run) -> String {
        let Some(rate) = self.rate else {
            return self.figure.clone();
        };
        let (row, metric) = split(&self.figure);
        let own = run.measurements.iter().find(|it| !it.is_for_goal);
        let row = row.or_else(|| own.map(|it| it.name.as_str()));
        format!("{}.{metric}", rated_name(row.unwrap_or_default(), rate))
    }

    /// Why the goal's load was not sustained, if it was not. Then no time at that load is met.
    fn overload(&self, run: &Run) -> Option<String> {
        let rate = self.rate?;
        let mut rated = run.measurements.iter().filter(|it| it.is_for_goal);
        let rated = rated.find(|it| it.offered.is_some_and(|it| (it / rate - 1.0).abs() < 1e-6))?;
        rated.is_overloaded().then(|| {
            let (done, asked) = (Unit::PerSecond.format(rated.throughput.value), rate);
            let asked = Unit::PerSecond.format(asked);
            format!("only {done} of {asked} completed, so the storage cannot sustain this load")
        })
    }

    /// Whether a percentile certainly exceeds its bound because a lower one does.
    fn missed_by_lower(&self, found: &NamedFigure, figures: &[NamedFigure]) -> Option<String> {
        let share = percentile(&found.figure)?;
        let is_latency = found.figure.metric.name.starts_with("latency-");
        if !(is_latency && self.is_upper && found.trust.is_usable()) {
            return None;
        }
        let of_row = figures.iter().filter(|it| it.row == found.row);
        let times = of_row.filter(|it| it.figure.metric.name.starts_with("latency-p"));
        let mut lower = times.filter(|it| {
            let is_lower = percentile(&it.figure).is_some_and(|it| it < share);
            is_lower && it.figure.value.low > self.bound
        });
        let lower = lower.next_back()?;
        let name = lower.figure.metric.name.trim_start_matches("latency-");
        let least = Unit::Seconds.format(lower.figure.value.low);
        Some(format!("even {name} is at least {least}"))
    }

    /// Whether a figure misses its bound although it has not converged: under overload latency only
    /// grows, and no figure converges to a value that far away.
    fn surely_missed(&self, found: &NamedFigure, run: &Run) -> Option<String> {
        let (low, high) = (found.figure.value.low, found.figure.value.high);
        let trial = run.measurement(&found.row);
        let is_overloaded = trial.is_some_and(Measurement::is_overloaded);
        let far = if is_overloaded { 1.0 } else { FAR };
        // Without an interval, the value is that of a time that only grows.
        let low = match is_overloaded && !found.figure.value.is_bounded() {
            true => found.figure.value.value,
            false => low,
        };
        let is_missed = match self.is_upper {
            true => low > far * self.bound,
            false => high < self.bound / far,
        };
        let is_unstable = found.trust == Trust::Unstable;
        (is_missed && is_unstable).then(|| match is_overloaded {
            true => "the storage cannot sustain the offered load".to_owned(),
            false => "the result is unstable, but far from the limit".to_owned(),
        })
    }

    fn verdict(&self, figure: &Figure, trust: Trust) -> LimitVerdict {
        let (low, high) = (figure.value.low, figure.value.high);
        let (is_met, is_missed) = match self.is_upper {
            true => (high <= self.bound, low > self.bound),
            false => (low >= self.bound, high < self.bound),
        };
        match (is_met, is_missed) {
            _ if !trust.is_usable() => LimitVerdict::Undecided,
            (true, _) if is_weak(figure) => LimitVerdict::Undecided,
            (true, _) => LimitVerdict::Kept,
            (_, true) => LimitVerdict::Exceeded,
            _ => LimitVerdict::Undecided,
        }
    }

    /// Whether a percentile with few samples beyond it meets its bound because a higher one or the
    /// longest time does: if the true value exceeded the bound, so few of the independent samples
    /// would exceed it only with small probability. The sign test of a quantile (Conover, Practical
    /// Nonparametric Statistics, section 3.2), with samples as independent observations.
    fn met_by_most(
        &self,
        found: &NamedFigure,
        figures: &[NamedFigure],
        run: &Run,
    ) -> Option<String> {
        let share = percentile(&found.figure)?;
        let is_latency = found.figure.metric.name.starts_with("latency-");
        let samples = found.figure.value.samples;
        if !(is_latency && self.is_upper && is_weak(&found.figure) && samples >= 1.0) {
            return None;
        }
        let of_row = figures.iter().filter(|it| it.row == found.row);
        let times = of_row.filter(|it| it.figure.metric.name.starts_with("latency-p"));
        let times = times.filter_map(|it| Some((percentile(&it.figure)?, it.figure.value.value)));
        let trial = run.measurement(&found.row);
        let longest = trial.map(|it| (1.0, it.response.max_ns as f64 / 1e9));
        let below = times.chain(longest);
        let kept = below.filter(|(_, longest)| *longest <= self.bound);
        let (most, longest) = kept.max_by(|one, other| one.0.total_cmp(&other.0))?;
        let chance = chance_of_at_most((1.0 - most) * samples, samples, 1.0 - share);
        (chance <= CHANCE).then(|| {
            let longest = Unit::Seconds.format(longest);
            let most = match most < 1.0 {
                true => format!("{} % of all took {longest} at most", most * 100.0),
                false => format!("the slowest took {longest}"),
            };
            format!("few samples for this percentile, but {most}")
        })
    }

    /// Why the load at a level misses its bound, if even the smallest load exceeds the level.
    fn never_met(&self, name: &str, run: &Run) -> Option<String> {
        let row = name.strip_suffix(".iops").filter(|_| !self.is_upper)?;
        let curve = run.curve()?;
        let mut levels = curve.levels.iter();
        let level = levels.find(|it| curve.level_name(it.level_ns) == row)?;
        match level.outcome {
            LevelOutcome::Exceeded { response } if response.low > level.level_ns as f64 => {
                let least = Unit::Seconds.format(response.value / 1e9);
                Some(format!(
                    "no load meets the level, the lowest latency is {least}"
                ))
            }
            _ => None,
        }
    }

    /// Judges the goal for a run. If the run lacks the figure, says which ones exist.
    pub fn judge(&self, run: &Run) -> GoalVerdict {
        let figures = run.named_figures();
        let name = self.figure_in(run);
        let found = figures.iter().find(|it| it.name == name);
        let found = found.or_else(|| figures.iter().find(|it| it.is_called(&name)));
        // For a trial with a row per target, the whole trial is meant if no row is named.
        let whole = run.measurements.iter().find(|it| !it.is_for_goal);
        let whole = whole.map(|it| format!("{}.{name}", it.name));
        let found = found.or_else(|| figures.iter().find(|it| Some(&it.name) == whole.as_ref()));
        let found = found.filter(|it| it.figure.metric.unit == self.unit);
        let (value, verdict, why) = match found {
            Some(it)
                if it.trust != Trust::Invalid
                    && let Some(why) = self.overload(run) =>
            {
                (Some(it.figure.value), LimitVerdict::Exceeded, Some(why))
            }
            Some(it)
                if it.trust.is_usable()
                    && let Some(why) = self.met_by_most(it, &figures, run) =>
            {
                (Some(it.figure.value), LimitVerdict::Kept, Some(why))
            }
            Some(it) if let Some(why) = self.surely_missed(it, run) => {
                (Some(it.figure.value), LimitVerdict::Exceeded, Some(why))
            }
            Some(it) if let Some(why) = self.missed_by_lower(it, &figures) => {
                (Some(it.figure.value), LimitVerdict::Exceeded, Some(why))
            }
            Some(it) => {
                let verdict = self.verdict(&it.figure, it.trust);
                // It is exceeded however few samples there are.
                let doubt = doubt(&it.figure, it.trust);
                let doubt = doubt.filter(|_| verdict != LimitVerdict::Exceeded);
                (Some(it.figure.value), verdict, doubt)
            }
            None if let Some(why) = self.never_met(&name, run) => {
                (None, LimitVerdict::Exceeded, Some(why))
            }
            None => {
                let names = figures
                    .iter()
                    .filter(|it| it.figure.metric.unit == self.unit);
                let names: Vec<&str> = names.map(|it| it.name.as_str()).collect();
                let why = match names.join(", ") {
                    none if none.is_empty() => "the run has no figure of that unit".to_owned(),
                    names => format!(
                        "the run has no such metric. Metrics with that unit are \
                         {names}"
                    ),
                };
                (None, LimitVerdict::Undecided, Some(why))
            }
        };
        GoalVerdict {
            goal: self.text.clone(),
            figure: name,
            change_of: None,
            unit: self.unit,
            value,
            verdict,
            why,
        }
    }
}

/// Why a figure cannot prove that a goal is met, whatever its interval.
fn doubt(figure: &Figure, trust: Trust) -> Option<String> {
    match trust {
        Trust::Reliable => {}
        Trust::Unstable => return Some("the result is unstable. Run longer".to_owned()),
        Trust::Invalid => return Some("the result is invalid, see the warnings".to_owned()),
    }
    let few = "too few samples for this percentile. Run longer";
    is_weak(figure).then(|| few.to_owned())
}

/// The percentile as a share; `None` for other figures.
fn percentile(figure: &Figure) -> Option<f64> {
    let (_, percent) = figure.metric.name.rsplit_once("-p")?;
    Some(percent.parse::<f64>().ok()? / 100.0)
}

/// Whether a percentile is marked `?` and rests on few samples. Reads or writes of a mix always
/// have the mark.
fn is_weak(figure: &Figure) -> bool {
    let share = percentile(figure);
    figure.is_indicative && share.is_none_or(|it| is_indicative(it, figure.value.samples))
}

#[cfg(test)]
mod tests {
    use results::Better;
    use stats::Estimate;

    use super::*;

    #[test]
    fn a_goal_names_a_figure_a_direction_and_a_value_with_its_unit() {
        let check = |text: &str, figure: &str, is_upper: bool, bound: f64, unit: Unit| {
            let found: Requirement = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(found.figure, figure, "{text}");
            assert_eq!((found.is_upper, found.unit), (is_upper, unit), "{text}");
            assert!(
                (found.bound / bound - 1.0).abs() < 1e-12,
                "{text}: {}",
                found.bound
            );
        };
        check("p99 <= 2ms", "latency-p99", true, 0.002, Unit::Seconds);
        check("p99.9<500us", "latency-p99.9", true, 0.0005, Unit::Seconds);
        check(
            "random_read.p99 <= 2ms",
            "random-read.latency-p99",
            true,
            0.002,
            Unit::Seconds,
        );
        check("iops >= 20k/s", "iops", false, 20_000.0, Unit::PerSecond);
        check("iops > 20000", "iops", false, 20_000.0, Unit::PerSecond);
        check(
            "bandwidth >= 400MB/s",
            "throughput",
            false,
            4e8,
            Unit::BytesPerSecond,
        );
        check("rabmark-r >= 50", "rabmark-r", false, 50.0, Unit::Ratio);
        check(
            "page-cache-share <= 5%",
            "page-cache-share",
            true,
            0.05,
            Unit::Share,
        );
        for (wrong, why) in [
            ("p99", "is not a goal"),
            ("p99 <= 2ms @ ", "is not a goal"),
            ("p99 <= 2ms @ 0", "is not a goal"),
            ("p99 <= 2ms @ soon", "is not a goal"),
            ("p99 <= ", "is not a goal"),
            ("<= 2ms", "is not a goal"),
            ("p99 <= soon", "is not a goal"),
            ("p99 <= 0ms", "is not a goal"),
            ("p99 <= 2k/s", "latency-p99 is a time"),
            ("random-read.p99.9 <= 2k/s", "is a time"),
            ("iops >= 2ms", "iops is a rate of operations"),
            ("bandwidth >= 400/s", "throughput is a rate in bytes"),
            ("rabmark-r >= 5ms", "rabmark-r is a number"),
        ] {
            let error = wrong.parse::<Requirement>().expect_err(wrong);
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_goal_may_say_at_which_load() {
        let rate = |text: &str| text.parse::<Requirement>().map(|it| it.rate());
        assert_eq!(rate("p99 <= 2ms @ 20k/s"), Ok(Some(20_000.0)));
        assert_eq!(rate("random_read.p99<=2ms@20000/s"), Ok(Some(20_000.0)));
        assert_eq!(rate("5ms@p99.iops >= 20k/s"), Ok(None));
        assert_eq!(split("latency-p99.9"), (None, "latency-p99.9"));
        assert_eq!(split("read.latency-p99.9"), (Some("read"), "latency-p99.9"));
        assert_eq!(split("1ms@p99.9.iops"), (Some("1ms@p99.9"), "iops"));
        assert_eq!(rated_name("trial", 20_000.0), "trial@20000/s");
    }

    #[test]
    fn the_whole_interval_decides() {
        let check = |text: &str, low: f64, high: f64, trust: Trust, expected: LimitVerdict| {
            let goal: Requirement = text.parse().expect("a goal");
            let value = Estimate {
                low,
                high,
                ..Estimate::exact(f64::midpoint(low, high), 9.0)
            };
            let figure = Figure::new("latency-p99", Unit::Seconds, Better::Lower, value);
            assert_eq!(
                goal.verdict(&figure, trust),
                expected,
                "{text}: {low} .. {high}"
            );
        };
        use LimitVerdict::{Exceeded, Kept, Undecided};
        check("p99 <= 2ms", 0.0010, 0.0020, Trust::Reliable, Kept);
        check("p99 <= 2ms", 0.0010, 0.0021, Trust::Reliable, Undecided);
        check("p99 <= 2ms", 0.0021, 0.0030, Trust::Reliable, Exceeded);
        check("p99 >= 2ms", 0.0021, 0.0030, Trust::Reliable, Kept);
        check("p99 >= 2ms", 0.0010, 0.0019, Trust::Reliable, Exceeded);
        check("p99 <= 2ms", 0.0010, 0.0011, Trust::Unstable, Undecided);
        check("p99 <= 2ms", 0.0010, 0.0011, Trust::Invalid, Undecided);
        check("p99 <= 2ms", 0.0, f64::INFINITY, Trust::Reliable, Undecided);
    }

    /// Bug: a goal passed on a p99 that the report marks `?`.
    #[test]
    fn a_percentile_of_few_samples_meets_no_goal() {
        let check = |low: f64, high: f64, expected: LimitVerdict| {
            let goal: Requirement = "p99 <= 2ms".parse().expect("a goal");
            let value = Estimate {
                low,
                high,
                ..Estimate::exact(low, 9.0)
            };
            let mut figure = Figure::new("latency-p99", Unit::Seconds, Better::Lower, value);
            figure.is_indicative = true;
            assert_eq!(goal.verdict(&figure, Trust::Reliable), expected);
            assert!(doubt(&figure, Trust::Reliable).is_some_and(|it| it.contains("too few")));
        };
        check(0.0010, 0.0011, LimitVerdict::Undecided);
        check(0.0030, 0.0031, LimitVerdict::Exceeded);
    }
}
