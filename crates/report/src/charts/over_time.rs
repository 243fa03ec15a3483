//! Rates, latencies and device load over time, interval by interval.

use results::environment::BackgroundIo;
use results::{Figure, Measurement, Run, SystemSample, Unit, Work};
use stats::mean_interval;
use units::{format_count, format_counted, format_duration_ns};

use super::intervals;
use crate::markup::{Printed, in_print};
use crate::plot::axis::AxisScale;
use crate::plot::{Extent, Guide, Plot, Series, SideOf, TIME, TimeStep};

/// Nanoseconds in a second.
pub(crate) const SECOND: f64 = 1e9;
/// Measurements that are drawn.
pub(crate) const MEASUREMENTS_MAX: usize = 6;
/// More measurements than this have a row each, not charts.
pub(crate) const CHARTS_MAX: usize = 2;
/// More intervals than this are drawn on a page as means of neighbours.
const INTERVALS_MAX: usize = 100;
/// The part of a series at its end that is taken as steady.
const STEADY_PART: usize = 2;

/// What is drawn of an interval: a name, its unit, the value.
type SampleOf = (&'static str, Unit, fn(&SystemSample) -> Option<f64>);

const LATENCY: SampleOf = ("mean latency", Unit::Seconds, |it| {
    it.response_mean_ns.map(|time| time / SECOND)
});
const DEVICE: [SampleOf; 2] = [
    ("device throughput", Unit::BytesPerSecond, |it| {
        it.device_bytes_per_second
    }),
    ("device busy", Unit::Share, |it| it.device_busy_share),
];

pub(crate) fn with_intervals(run: &Run) -> Vec<&Measurement> {
    let measured = run.measurements.iter();
    measured.filter(|it| it.intervals.len() > 1).collect()
}

/// The latency of each measurement that kept its intervals; and all other charts.
pub(crate) fn plots(run: &Run) -> (Vec<Plot>, Vec<Plot>) {
    let shown = with_intervals(run);
    let shown = shown.iter().filter(|_| shown.len() <= CHARTS_MAX);
    let (mut latencies, mut plots) = (Vec::new(), Vec::new());
    for measurement in shown {
        let [latency, rate] = intervals::plots(measurement, law(measurement));
        latencies.extend(latency);
        plots.extend(rate);
    }
    for (name, clients, series) in run.intervals().take(MEASUREMENTS_MAX) {
        let measurement = run.measurement(name);
        let rate = rate(measurement.map_or(Work::Operation, |it| it.work));
        let clients = || format!("{name}, {}", format_counted(u64::from(clients), "client"));
        let title = measurement
            .map(|it| it.title.clone())
            .filter(|it| !it.is_empty());
        let title = title.unwrap_or_else(clients);
        let is_drawn = measurement.is_some_and(|it| it.intervals.len() > 1);
        let own = [rate, LATENCY].into_iter().filter(|_| !is_drawn);
        let samples = series.condensed(INTERVALS_MAX);
        let note = format!(
            "Mean of every {} from the start, warm-up included.{}",
            each(&samples),
            background(measurement)
        );
        for of in own.chain(DEVICE) {
            let guides = match of.1 {
                Unit::PerSecond => measurement.map_or_else(Vec::new, law),
                _ => Vec::new(),
            };
            let title = format!("{title}: {}", of.0);
            let plot = plot((of.0, of.1), vec![values(of.0, &samples, of)], guides);
            plots.extend(plot.map(|it| it.titled(title, note.as_str())));
        }
    }
    (latencies, plots)
}

/// Mean latency over time as a file, of one or several measurements, each with its name; `None`
/// where one of them has no intervals.
pub fn latency_svg(title: &str, named: &[(&str, &Measurement)]) -> Option<String> {
    let series = named.iter().map(|(name, measurement)| {
        let samples = &measurement.series.as_ref()?.samples;
        let name = format!("{name}, {} each", each(samples));
        Some(values(&name, samples, LATENCY))
    });
    let plot = plot(
        (LATENCY.0, LATENCY.1),
        series.collect::<Option<_>>()?,
        Vec::new(),
    )?;
    Some(plot.titled(title, "").file())
}

/// Load over time as a file, with the law of the model where there is one; `None` where a
/// measurement has no intervals.
pub fn series_svg(target: &str, measurement: &Measurement) -> Option<String> {
    let samples = &measurement.series.as_ref()?.samples;
    let tail = samples[samples.len() / STEADY_PART..].iter();
    let steady = mean_interval(&tail.map(|it| it.per_second).collect::<Vec<_>>());
    let of = rate(measurement.work);
    let mut name = format!("measured, {} each", each(samples));
    let mut guides = law(measurement);
    if steady.is_bounded() {
        let printed = Printed::of(&Figure::iops(steady)).in_line();
        name += &format!(", band: mean of the second half, {printed}");
        guides.push(Guide::height(Extent::of(steady, 1.0), String::new()));
    }
    let plot = plot((of.0, of.1), vec![values(&name, samples, of)], guides)?;
    let title = format!("{target}: {}", measurement.title);
    Some(plot.titled(title, "").file())
}

/// How many units of work were done a second.
pub(crate) fn rate(work: Work) -> SampleOf {
    let name = match work {
        Work::Operation => "IOPS",
        Work::File => "files per second",
        Work::Transaction => "transactions per second",
    };
    (name, Unit::PerSecond, |it| Some(it.per_second))
}

/// What others did meanwhile, where it was enough to disturb.
fn background(measurement: Option<&Measurement>) -> String {
    let disturbing = measurement.and_then(|it| {
        let foreign = it.counters.as_ref()?.foreign?;
        let is_negligible = foreign.is_negligible(it.duration_ns as f64 / 1e9);
        (foreign.share >= BackgroundIo::MARKED_SHARE && !is_negligible).then_some(foreign.share)
    });
    disturbing.map_or_else(String::new, |share| {
        format!(" Background I/O: {:.0} %.", share * 100.0)
    })
}

/// Values over all intervals; `None` where no interval has one.
pub(super) fn plot(
    (name, unit): (&str, Unit),
    series: Vec<Series>,
    guides: Vec<Guide>,
) -> Option<Plot> {
    let scale = match unit {
        Unit::Seconds => AxisScale::Factors,
        _ => AxisScale::Fitting,
    };
    let is_known = series.iter().any(|it| !it.places.is_empty());
    is_known.then(|| Plot::new([TIME, SideOf { name, unit, scale }], series, guides))
}

/// A value of each interval.
fn values(name: &str, samples: &[SystemSample], (_, unit, of): SampleOf) -> Series {
    let steps = samples.iter().map(|sample| {
        let to = sample.end_ns as f64 / SECOND;
        let from = to - sample.length_ns as f64 / SECOND;
        let value = of(sample);
        let printed = in_print(&unit.format(value.unwrap_or(f64::NAN)));
        TimeStep {
            from,
            to,
            value,
            text: format!("{from:.1} – {to:.1} s: {printed}"),
        }
    });
    Series::steps(name, steps)
}

fn each(samples: &[SystemSample]) -> String {
    let first = samples.first().map_or(0, |first| first.length_ns);
    in_print(&format_duration_ns(first as f64))
}

/// What a model's law says of the rate.
fn law(measurement: &Measurement) -> Vec<Guide> {
    let lines = measurement.steady_law().into_iter().flat_map(|law| {
        let line = |at: f64, when: &str| {
            let label = format!("{}, {when}: {}/s", law.name, format_count(at));
            Guide::height(Extent::exact(at), label)
        };
        [
            line(law.fresh_per_second, "before cleaning"),
            line(law.steady_per_second, "steady"),
        ]
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::svg::{ChartPlace, PageCharts};

    fn sample(end_s: u64, per_second: f64, response_s: Option<f64>) -> SystemSample {
        SystemSample {
            end_ns: end_s * 1_000_000_000,
            length_ns: 1_000_000_000,
            transactions: per_second as u64,
            per_second,
            response_mean_ns: response_s.map(|it| it * SECOND),
            ..SystemSample::default()
        }
    }

    /// A line across an interval in which nothing was done would claim a latency there.
    #[test]
    fn an_interval_without_a_latency_breaks_its_line() {
        let samples = [
            sample(1, 10.0, Some(0.1)),
            sample(2, 0.0, None),
            sample(3, 20.0, Some(0.2)),
        ];
        let Series { line, places, .. } = values("", &samples, LATENCY);
        assert_eq!(line[..2], [[0.0, 0.1], [1.0, 0.1]]);
        assert!(line[2][0].is_nan());
        assert_eq!(line[3..], [[2.0, 0.2], [3.0, 0.2]]);
        let printed: Vec<&str> = places.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(printed, ["0.0 – 1.0 s: 100 ms", "2.0 – 3.0 s: 200 ms"]);
        let plot = |of: SampleOf| plot((of.0, of.1), vec![values("", &samples, of)], Vec::new());
        let drawn = plot(LATENCY)
            .expect("a chart")
            .html(&mut PageCharts::default(), ChartPlace::Beside);
        let path = drawn.split("class=\"line\" d=\"").nth(1).expect("a line");
        let path = path.split('"').next().expect("its end");
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert!(plot(DEVICE[0]).is_none());
    }

    #[test]
    fn rates_are_called_after_what_was_counted() {
        assert_eq!(rate(Work::Operation).0, "IOPS");
        assert_eq!(rate(Work::Transaction).0, "transactions per second");
    }
}
