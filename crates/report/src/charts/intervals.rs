//! Percentiles of the latency and the rate over time, from the histogram of each interval.

use results::environment::BackgroundIo;
use results::{Interval, Measurement, Unit, Work, percentile_in};
use stats::Histogram;
use units::format_duration_ns;

use super::over_time::{SECOND, plot, rate};
use crate::markup::in_print;
use crate::plot::{Extent, Guide, Guided, Plot, Series, TimeStep};

/// More intervals than this are joined with their neighbours.
const DRAWN_MAX: usize = 60;
/// The percentiles that are drawn, with their names.
pub(crate) const DRAWN: [(f64, &str); 3] = [(0.5, "p50"), (0.99, "p99"), (1.0, "max")];

/// An interval with what is read from it.
pub(crate) struct DrawnInterval {
    pub from: f64,
    pub to: f64,
    pub per_second: f64,
    response: Histogram,
    foreign_share: Option<f64>,
}

impl DrawnInterval {
    fn of(interval: &Interval) -> Self {
        let (from, to) = (interval.begin_ns(), interval.end_ns);
        let response = interval.response();
        Self {
            from: from as f64 / SECOND,
            to: to as f64 / SECOND,
            per_second: interval.per_second(&response),
            response,
            foreign_share: interval.foreign_share,
        }
    }

    pub fn is_disturbed(&self) -> bool {
        self.foreign_share >= Some(BackgroundIo::MARKED_SHARE)
    }

    pub fn percentile(&self, p: f64) -> Option<f64> {
        let time = match p < 1.0 {
            true => percentile_in(&self.response, p)?,
            false if self.response.is_empty() => return None,
            false => self.response.max(),
        };
        Some((time as f64).max(1.0) / SECOND)
    }

    /// Everything that is known of it, for a tip.
    fn label(&self) -> String {
        let rate = in_print(&Unit::PerSecond.format(self.per_second));
        let times = DRAWN.iter().filter_map(|(p, name)| {
            let time = in_print(&format_duration_ns(self.percentile(*p)? * SECOND));
            Some(format!(", {name} {time}"))
        });
        let times: String = times.collect();
        let background = self.foreign_share.filter(|_| self.is_disturbed());
        let background = background.map_or_else(String::new, |share| {
            format!(", {:.0} % background I/O", share * 100.0)
        });
        let (from, to) = (self.from, self.to);
        format!("{from:.1} – {to:.1} s: {rate}{times}{background}")
    }
}

/// At most so many intervals, neighbours in one.
pub(crate) fn drawn(kept: &[Interval], most: usize) -> Vec<DrawnInterval> {
    let joined = Interval::condensed(kept, most);
    joined.iter().map(DrawnInterval::of).collect()
}

/// Two charts of a measurement that kept its intervals: its latency, and its rate with what `law`
/// says of it.
pub(super) fn plots(measurement: &Measurement, law: Vec<Guide>) -> [Option<Plot>; 2] {
    let kept = &measurement.intervals;
    if kept.len() < 2 {
        return [None, None];
    }
    let drawn = drawn(kept, DRAWN_MAX);
    let each = in_print(&format_duration_ns((drawn[0].to - drawn[0].from) * SECOND));
    let note = format!("Intervals of {each} from the start, warm-up included.");
    let both = [latency(&drawn), rates(&drawn, measurement.work, law)];
    both.map(|plot| {
        plot.map(|plot| {
            let title = format!("{}: {} over time", measurement.title, plot.up.name);
            plot.titled(title, note.as_str())
        })
    })
}

/// Percentiles of the latency, broken where too little was completed for them.
pub(crate) fn latency(drawn: &[DrawnInterval]) -> Option<Plot> {
    let series = DRAWN
        .iter()
        .map(|(p, name)| steps(name, drawn, |it| it.percentile(*p)));
    let series = series.filter(|it| !it.places.is_empty());
    let of = ("latency", Unit::Seconds);
    plot(of, series.collect(), background(drawn).collect())
}

/// What was done a second.
pub(crate) fn rates(drawn: &[DrawnInterval], work: Work, mut guides: Vec<Guide>) -> Option<Plot> {
    let (name, unit, _) = rate(work);
    guides.extend(background(drawn));
    let series = steps(name, drawn, |it| Some(it.per_second));
    plot((name, unit), vec![series], guides)
}

fn steps(
    name: &str,
    drawn: &[DrawnInterval],
    of: impl Fn(&DrawnInterval) -> Option<f64>,
) -> Series {
    let steps = drawn.iter().map(|it| TimeStep {
        from: it.from,
        to: it.to,
        value: of(it),
        text: it.label(),
    });
    Series::steps(name, steps)
}

/// Where others used the device, neighbours in one.
fn background(drawn: &[DrawnInterval]) -> impl Iterator<Item = Guide> {
    let runs = drawn.chunk_by(|left, right| left.is_disturbed() == right.is_disturbed());
    let disturbed = runs.filter(|run| run[0].is_disturbed());
    disturbed.enumerate().map(|(at, run)| {
        let (low, high) = (run[0].from, run[run.len() - 1].to);
        let shares = run.iter().filter_map(|it| it.foreign_share);
        let most = shares.fold(0.0, f64::max) * 100.0;
        let value = 0.5 * (low + high);
        Guide {
            of: Guided::Across,
            at: Extent { value, low, high },
            label: if at == 0 { "background I/O" } else { "" }.into(),
            text: format!("{low:.1} – {high:.1} s: up to {most:.0} % background I/O"),
            found: None,
        }
    })
}

#[cfg(test)]
mod tests {
    use results::histogram_text;

    use super::*;

    fn measured(foreign: [Option<f64>; 5]) -> Measurement {
        let mut intervals = Vec::new();
        for (second, foreign_share) in (1..=5_u64).zip(foreign) {
            let mut response = Histogram::new();
            let count = if second == 3 { 0 } else { 2_000 * second };
            (0..count).for_each(|at| response.record(100_000 * (1 + at % 10)));
            intervals.push(Interval {
                end_ns: second * 1_000_000_000,
                length_ns: 1_000_000_000,
                foreign_share,
                response_histogram: match count {
                    0 => String::new(),
                    _ => histogram_text(&response),
                },
                ..Interval::default()
            });
        }
        Measurement {
            title: "random read".into(),
            intervals,
            ..Measurement::empty()
        }
    }

    /// An interval in which nothing was completed has a rate of zero, and no latency.
    #[test]
    fn a_stall_is_a_gap_in_the_latency_and_a_rate_of_zero() {
        let plots = plots(&measured([None; 5]), Vec::new());
        let [Some(latency), Some(rate)] = plots else {
            panic!("two charts");
        };
        let names: Vec<&str> = latency.series.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["p50", "p99", "max"]);
        let p99 = &latency.series[1];
        let (gaps, known): (Vec<[f64; 2]>, Vec<[f64; 2]>) =
            p99.line.iter().copied().partition(|it| it[1].is_nan());
        assert_eq!((gaps.len(), known.len(), p99.places.len()), (1, 8, 4));
        assert!(
            known.iter().all(|it| (it[1] - 1e-3).abs() < 1e-6),
            "{known:?}"
        );
        let rates: Vec<f64> = rate.series[0]
            .places
            .iter()
            .map(|it| it.at[1].value)
            .collect();
        assert_eq!(rates, [2_000.0, 4_000.0, 0.0, 8_000.0, 10_000.0]);
        assert_eq!(
            p99.places[0].text,
            "0.0 – 1.0 s: 2,000/s, p50 500 µs, p99 1.00 ms, max 1.00 ms"
        );
        assert!(latency.guides.is_empty() && rate.guides.is_empty());
    }

    #[test]
    fn what_others_did_is_marked_where_they_did_it() {
        let quiet = BackgroundIo::MARKED_SHARE / 2.0;
        let shares = [Some(quiet), Some(0.4), Some(0.2), None, Some(0.9)];
        let plots = plots(&measured(shares), Vec::new());
        let [latency, _] = plots.map(|it| it.expect("a chart"));
        let ranges: Vec<String> = latency.guides.iter().map(|it| it.text.clone()).collect();
        assert_eq!(
            ranges,
            [
                "1.0 – 3.0 s: up to 40 % background I/O",
                "4.0 – 5.0 s: up to 90 % background I/O",
            ]
        );
    }

    #[test]
    fn one_interval_is_no_course_over_time() {
        let mut measurement = measured([None; 5]);
        measurement.intervals.truncate(1);
        let plots = plots(&measurement, Vec::new());
        assert!(plots.iter().all(Option::is_none));
    }
}
