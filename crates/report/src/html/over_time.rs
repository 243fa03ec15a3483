//! What came over time, interval by interval.

use results::environment::ForeignIo;
use results::{Measurement, Run, SystemSample, SystemSeries, Unit, Work};
use units::{format_count, format_counted, format_duration_ns};

use super::charts::{MEASUREMENTS_MAX, SECOND};
use super::markup::in_print;
use super::plot::{Dots, Extent, FLOOR, Guide, LEFT, Place, Plot, RIGHT, Series, Side, TOP};
use super::{intervals, sparklines};
use crate::axis::{Axis, tick_label};
use crate::picture::scale::Scale;

/// More measurements than this have a row each, not charts.
const CHARTS_MAX: usize = 2;
/// More intervals than this are drawn as means of neighbours.
const INTERVALS_MAX: usize = 100;

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

/// The course of many measurements as a table; empty where there are few, which have charts.
pub(super) fn table(run: &Run) -> String {
    let shown = with_intervals(run);
    match shown.len() {
        0..=CHARTS_MAX => String::new(),
        _ => sparklines::table(&shown),
    }
}

fn with_intervals(run: &Run) -> Vec<&Measurement> {
    let measured = run.measurements.iter();
    measured.filter(|it| it.intervals.len() > 1).collect()
}

/// The charts of each measurement that kept its intervals.
pub(super) fn plots(run: &Run) -> Vec<Plot> {
    let shown = with_intervals(run);
    let shown = shown.iter().filter(|_| shown.len() <= CHARTS_MAX);
    let mut plots: Vec<Plot> = shown
        .flat_map(|it| intervals::plots(it, law(Some(it))))
        .collect();
    for (name, clients, series) in run.intervals().take(MEASUREMENTS_MAX) {
        let measurement = run.measurement(name);
        let rate = rate(measurement.map_or(Work::Operation, |it| it.work));
        let clients = format_counted(u64::from(clients), "client");
        let is_drawn = measurement.is_some_and(|it| it.intervals.len() > 1);
        let own = [rate, LATENCY].into_iter().filter(|_| !is_drawn);
        for of in own.chain(DEVICE) {
            let guides = match of.1 {
                Unit::PerSecond => law(measurement),
                _ => Vec::new(),
            };
            let title = format!("{name}, {clients}: {}", of.0);
            plots.extend(plot(series, of, guides).map(|plot| Plot {
                title,
                note: plot.note.clone() + &foreign(measurement),
                ..plot
            }));
        }
    }
    plots
}

/// How many units of work were done a second.
pub(super) fn rate(work: Work) -> SampleOf {
    let name = match work {
        Work::Operation => "IOPS",
        Work::File => "files per second",
        Work::Transaction => "transactions per second",
    };
    (name, Unit::PerSecond, |it| Some(it.per_second))
}

/// What others did meanwhile, where it was enough to disturb.
fn foreign(measurement: Option<&Measurement>) -> String {
    let disturbing = measurement.and_then(|it| {
        let foreign = it.counters.as_ref()?.foreign?;
        let is_negligible = foreign.is_negligible(it.duration_ns as f64 / 1e9);
        (foreign.share >= ForeignIo::MARKED_SHARE && !is_negligible).then_some(foreign.share)
    });
    disturbing.map_or_else(String::new, |share| {
        format!(" {:.0} % of the device's I/O was foreign.", share * 100.0)
    })
}

/// One value over all intervals; `None` where no interval has it.
fn plot(series: &SystemSeries, (name, unit, of): SampleOf, guides: Vec<Guide>) -> Option<Plot> {
    let samples = series.condensed(INTERVALS_MAX);
    let first = samples.first()?;
    let until = samples.last()?.end_ns as f64 / SECOND;
    let (line, places) = steps(&samples, unit, of);
    if places.is_empty() {
        return None;
    }
    let heights = guides.iter().filter_map(|guide| match guide {
        Guide::Across { at, .. } => Some(*at),
        Guide::Range { .. } => None,
    });
    let values = line.iter().map(|[_, value]| *value).chain(heights);
    let up = Axis::fitting(values, FLOOR, TOP);
    let across = Axis::Linear(Scale::exactly(until, LEFT, RIGHT));
    let each = in_print(&format_duration_ns(first.length_ns as f64));
    Some(Plot {
        title: String::new(),
        note: format!("Mean of every {each} from the start, warm-up included."),
        across: Side::new(across, "time, s", |tick| tick_label(Unit::Count, tick)),
        up: Side::new(up, name, |tick| tick_label(unit, tick)),
        series: vec![Series {
            name: name.to_owned(),
            line,
            places,
            dots: Dots::OnDemand,
            has_band: false,
            is_hidden: false,
        }],
        guides,
    })
}

/// A line that is level over each interval, and broken where there is nothing.
fn steps(
    samples: &[SystemSample],
    unit: Unit,
    of: fn(&SystemSample) -> Option<f64>,
) -> (Vec<[f64; 2]>, Vec<Place>) {
    let (mut line, mut places) = (Vec::new(), Vec::new());
    for sample in samples {
        let to = sample.end_ns as f64 / SECOND;
        let from = to - sample.length_ns as f64 / SECOND;
        let Some(value) = of(sample).filter(|value| value.is_finite()) else {
            line.push([f64::NAN; 2]);
            continue;
        };
        line.extend([[from, value], [to, value]]);
        places.push(Place {
            at: [Extent::exact(0.5 * (from + to)), Extent::exact(value)],
            text: format!("{from:.1} – {to:.1} s: {}", in_print(&unit.format(value))),
        });
    }
    (line, places)
}

/// What a model's law says of the rate.
fn law(measurement: Option<&Measurement>) -> Vec<Guide> {
    let law = measurement.and_then(Measurement::steady_law);
    let lines = law.into_iter().flat_map(|law| {
        let line = |at: f64, when: &str| Guide::Across {
            at,
            label: format!("{}, {when}: {}/s", law.name, format_count(at)),
            found: None,
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
        let (line, places) = steps(&samples, LATENCY.1, LATENCY.2);
        assert_eq!(line[..2], [[0.0, 0.1], [1.0, 0.1]]);
        assert!(line[2][0].is_nan());
        assert_eq!(line[3..], [[2.0, 0.2], [3.0, 0.2]]);
        let said: Vec<&str> = places.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(said, ["0.0 – 1.0 s: 100 ms", "2.0 – 3.0 s: 200 ms"]);
        let series = SystemSeries {
            interval_ns: 1_000_000_000,
            samples: samples.to_vec(),
        };
        let drawn = plot(&series, LATENCY, Vec::new())
            .expect("a chart")
            .html(&mut super::super::plot::Drawn::default());
        let path = drawn.split("class=\"line\" d=\"").nth(1).expect("a line");
        let path = path.split('"').next().expect("its end");
        assert_eq!(path.matches('M').count(), 2, "{path}");
        assert!(plot(&series, DEVICE[0], Vec::new()).is_none());
    }

    #[test]
    fn rates_are_called_after_what_was_counted() {
        assert_eq!(rate(Work::Operation).0, "IOPS");
        assert_eq!(rate(Work::Transaction).0, "transactions per second");
    }
}
