//! Steady state of SSDs: all rounds over what was written, and the window of the standard.

use results::{PtsWindow, SsdPhase, SsdTests, Tracked, Unit};

use super::charts::SECOND;
use super::markup::in_print;
use super::plot::{Dots, Extent, FLOOR, Guide, LEFT, Place, Plot, RIGHT, Series, Side, TOP};
use crate::axis::{Axis, tick_label};
use crate::ssd::{value, word};

/// Shares of the mean that the standard allows: half of the range either way.
const BAND: f64 = 0.10;

/// For each test its convergence, and its window.
pub(super) fn plots(found: &SsdTests) -> Vec<Plot> {
    let phases = found.phases.iter().filter(|phase| phase.rounds.len() > 1);
    let both = phases.flat_map(|phase| [Some(convergence(found, phase)), window(phase)]);
    both.flatten().collect()
}

/// What one of the axis is, in the units of a tracked figure.
const fn unit(tracked: Tracked) -> (f64, Unit) {
    match tracked {
        Tracked::Iops => (1.0, Unit::PerSecond),
        Tracked::Latency => (SECOND, Unit::Seconds),
        Tracked::Throughput => (1.0, Unit::BytesPerSecond),
    }
}

fn up_side(phase: &SsdPhase, values: impl Iterator<Item = f64>) -> Side {
    let (_, shown) = unit(phase.tracked);
    let axis = Axis::fitting(values, FLOOR, TOP);
    Side::new(axis, phase.tracked.name(), move |tick| {
        tick_label(shown, tick)
    })
}

fn guide(at: f64, label: String) -> Guide {
    Guide::Across {
        at,
        label,
        found: None,
    }
}

/// The tracked figure of each round over the bytes written, in capacities.
fn convergence(found: &SsdTests, phase: &SsdPhase) -> Plot {
    let (scale, _) = unit(phase.tracked);
    let size = found.size_bytes.max(1) as f64;
    let places = phase.rounds.iter().map(|round| {
        let written = round.written_bytes as f64 / size;
        let verdict = round.trend.map_or("", |it| word(it.verdict));
        let shown = in_print(&value(phase.tracked, round.tracked.value));
        Place {
            at: [Extent::exact(written), Extent::of(round.tracked, scale)],
            text: format!("round {}, {written:.2}x: {shown} {verdict}", round.number),
        }
    });
    let places: Vec<Place> = places.collect();
    let line = places.iter().map(|it| it.at.map(|at| at.value)).collect();
    let mut guides = Vec::new();
    if let Some(trend) = phase.trend() {
        let label = format!(
            "mean of the last rounds: {}",
            value(phase.tracked, trend.mean.value)
        );
        guides.push(guide(trend.mean.value / scale, in_print(&label)));
    }
    if let Some(law) = &phase.law {
        let label = format!(
            "{}: {}",
            law.name,
            value(phase.tracked, law.steady_per_second)
        );
        guides.push(guide(law.steady_per_second / scale, in_print(&label)));
    }
    let until = places.last().map_or(1.0, |it| it.at[0].value);
    let heights = places
        .iter()
        .map(|it| it.at[1].high)
        .chain(heights(&guides));
    let up = up_side(phase, heights.collect::<Vec<f64>>().into_iter());
    let across = Axis::Linear(crate::picture::scale::Scale::exactly(until, LEFT, RIGHT));
    Plot {
        title: format!("{}: convergence", phase.name),
        note: "Each round over what was written by then, in capacities, precondition included."
            .into(),
        across: Side::new(across, "written, capacities", |tick| {
            tick_label(Unit::Count, tick)
        }),
        up,
        series: vec![Series {
            name: phase.tracked.name().into(),
            line,
            places,
            dots: Dots::OnDemand,
            has_band: true,
            is_hidden: false,
        }],
        guides,
    }
}

fn heights(guides: &[Guide]) -> impl Iterator<Item = f64> {
    guides.iter().filter_map(|guide| match guide {
        Guide::Across { at, .. } => Some(*at),
        Guide::Range { .. } => None,
    })
}

/// The five rounds of the standard with what it allows them, and the least-squares line.
fn window(phase: &SsdPhase) -> Option<Plot> {
    let window = phase.pts_window()?;
    let (scale, _) = unit(phase.tracked);
    let stride = phase.stride.max(1);
    let is_of = |number: u32| {
        (window.first_round..=window.last_round).contains(&number)
            && (number - window.first_round).is_multiple_of(stride)
    };
    let rounds = phase.rounds.iter().filter(|round| is_of(round.number));
    let places = rounds.map(|round| Place {
        at: [
            Extent::exact(f64::from(round.number)),
            Extent::of(round.tracked, scale),
        ],
        text: format!(
            "round {}: {}",
            round.number,
            in_print(&value(phase.tracked, round.tracked.value))
        ),
    });
    let places: Vec<Place> = places.collect();
    let rounds = Series {
        name: phase.tracked.name().into(),
        line: places.iter().map(|it| it.at.map(|at| at.value)).collect(),
        places,
        dots: Dots::Shown,
        has_band: false,
        is_hidden: false,
    };
    let guides = vec![
        guide(window.mean / scale, "mean".into()),
        guide(window.mean * (1.0 + BAND) / scale, "+10 %".into()),
        guide(window.mean * (1.0 - BAND) / scale, "-10 %".into()),
    ];
    let line = fitted(window, scale);
    let values = rounds
        .places
        .iter()
        .flat_map(|it| [it.at[1].low, it.at[1].high]);
    let values: Vec<f64> = values.chain(heights(&guides)).collect();
    let (first, last) = (f64::from(window.first_round), f64::from(window.last_round));
    let across = Axis::Linear(crate::picture::scale::Scale::exactly(last, LEFT, RIGHT));
    let met = if window.is_met { "met" } else { "not met" };
    Some(Plot {
        title: format!("{}: window of SSS PTS, {met}", phase.name),
        note: format!(
            "Rounds {first:.0} to {last:.0}: range {:.1} % of the mean (20 % allowed), line \
             {:+.1} % (10 % allowed).",
            window.range * 100.0,
            window.excursion * 100.0
        ),
        across: Side::new(across, "round", |tick| tick_label(Unit::Count, tick)),
        up: up_side(phase, values.into_iter()),
        series: vec![rounds, line],
        guides,
    })
}

/// The least-squares line through the window.
fn fitted(window: &PtsWindow, scale: f64) -> Series {
    let half = window.mean * window.excursion / 2.0;
    let (first, last) = (f64::from(window.first_round), f64::from(window.last_round));
    Series {
        name: "least-squares line".into(),
        line: vec![
            [first, (window.mean - half) / scale],
            [last, (window.mean + half) / scale],
        ],
        places: Vec::new(),
        dots: Dots::OnDemand,
        has_band: false,
        is_hidden: false,
    }
}
