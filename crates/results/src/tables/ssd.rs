//! Tables of SSD tests: results, loads and rounds of each test.

use stats::{DriftVerdict, Estimate};
use units::{Bytes, format_duration_ns};

use crate::metric::*;
use crate::replicate::Replicate;
use crate::run::RowWarning;
use crate::saying::Saying;
use crate::show::{PlotOf, Show};
use crate::ssd::{
    PtsWindow, SsdBurst, SsdCell, SsdLoad, SsdPattern, SsdPhase, SsdRound, SsdSegment, SsdTests,
    Tracked,
};
use crate::table::{Figure, Role, Row, Table, Trust, filled};

/// Name of the table of segments.
pub const SSD_SEGMENTS: &str = "ssd-segments";
/// Maximum number of rounds on screen, of one test and of each of several.
const ROUNDS_MAX: usize = 12;
const ROUNDS_MAX_OF_MANY: usize = 4;
/// The band around the mean that the standard allows: half of the range either way.
const BAND: f64 = 0.10;
/// Meaning of the columns.
const LEGEND: &str = "capacities: bytes written over the size, precondition included. pts: range \
                      and slope of five rounds, 20 % and 10 % allowed by SSS PTS. trend: change \
                      over the last half of the rounds, 90 % interval.";

impl SsdTests {
    /// The tests with a statement about each, their loads, their rounds, and the window of the
    /// standard.
    pub fn tables(&self, says: impl IntoIterator<Item = Option<Saying>>) -> Vec<Table> {
        let rounds_max = match self.phases.len() {
            1 => ROUNDS_MAX,
            _ => ROUNDS_MAX_OF_MANY,
        };
        let columns = "capacities iops latency throughput pts-range pts-excursion trend";
        let metrics = [IOPS, LATENCY, THROUGHPUT].map(|it| it.name);
        let convergence = ["iops-by-law", "mean"].map(str::to_owned);
        let picture = |title: &str, x: &str, others: &[String]| PlotOf {
            title: title.to_owned(),
            x: x.to_owned(),
            y: [&metrics.map(str::to_owned), others].concat(),
            by: Some("test".to_owned()),
        };
        let rounds = Show::default()
            .grouped_by("test")
            .columns(columns)
            .at_most(rounds_max)
            .bar("iops")
            .plot(picture("convergence", "capacities", &convergence));
        let window = ["slope", "allowed-low", "allowed-high"].map(str::to_owned);
        let window =
            Show::detail()
                .grouped_by("test")
                .plot(picture("window of SSS PTS", "number", &window));
        filled([
            self.of_tests().saying(says),
            self.of_segments(),
            self.of_loads(),
            self.of_bursts(),
            self.of_rounds().shown(rounds).noted([LEGEND.to_owned()]),
            self.of_windows().shown(window),
        ])
    }

    /// Warnings of each test.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.phases.iter().map(|it| (&it.name, &it.warnings)))
    }

    fn of_tests(&self) -> Table {
        let round = format_duration_ns(self.round_ns as f64);
        let time = match self.is_quick {
            true => format!("Quick: each load takes at most {round}, not the time of SSS PTS"),
            false => format!("Each load takes {round}"),
        };
        let how = format!(
            "{time}. {} are written and read. Steady: a change above {:.0} % is ruled out.",
            Bytes(self.size_bytes),
            self.trend_limit * 100.0
        );
        let purges = self.phases.iter().filter_map(|phase| {
            let purge = phase.purge.as_ref()?;
            Some(format!(
                "Purge before {}: {} in {}, {} of {} blocks read back as zeroes.",
                phase.name,
                purge.method,
                format_duration_ns(purge.took_ns as f64),
                purge.zero,
                purge.sampled
            ))
        });
        let cache = self.write_cache.iter();
        let cache = cache.map(|it| format!("Write cache of the drive: {it}."));
        let laws = self.phases.iter().filter_map(|phase| {
            let law = phase.law.as_ref()?;
            Some(format!("iops by law of {}: {}.", phase.name, law.name))
        });
        let rows = self
            .phases
            .iter()
            .filter_map(|it| of_test(it, self.size_bytes));
        let columns = "iops latency throughput trend iops-by-law";
        Table::new("ssd", &["test"], rows.collect())
            .titled("Steady state")
            .shown(Show::default().columns(columns))
            .noted(std::iter::once(how).chain(purges).chain(cache).chain(laws))
    }

    fn of_loads(&self) -> Table {
        let cells = self.phases.iter();
        let rows = cells.flat_map(|phase| phase.cells.iter().map(|cell| of_cell(phase, cell)));
        let all = || self.phases.iter().flat_map(|phase| &phase.cells);
        let is_random = all().all(|it| it.load.pattern == SsdPattern::Random);
        let show = match () {
            () if self.phases.iter().all(is_demand) => Show::default().plot(PlotOf {
                title: "demand intensity".to_owned(),
                x: IOPS.name.to_owned(),
                y: vec![LATENCY.name.to_owned()],
                by: Some("test".to_owned()),
            }),
            () if is_random && !self.phases.iter().any(is_demand) => {
                Show::default().matrix("block", "read")
            }
            () => Show::default(),
        };
        let columns = "iops throughput latency latency-p99.9 latency-max";
        let factors = ["test", "pattern", "block", "read", "depth"];
        Table::new("ssd-loads", &factors, rows.collect())
            .titled("Loads")
            .shown(show.grouped_by("test").columns(columns))
    }

    fn of_segments(&self) -> Table {
        let rows = self.phases.iter();
        let rows = rows.flat_map(|phase| {
            let segments = phase.segments.iter();
            segments.filter_map(|it| of_segment(phase, it))
        });
        let columns = "iops over-steady throughput latency latency-p99 first";
        Table::new(SSD_SEGMENTS, &["test", "segment"], rows.collect())
            .titled("Segments")
            .shown(Show::default().grouped_by("test").columns(columns))
    }

    fn of_bursts(&self) -> Table {
        let rows = self.phases.iter();
        let rows = rows.flat_map(|phase| {
            let segments = phase.segments.iter();
            segments.flat_map(move |segment| {
                let bursts = (1..).zip(&segment.bursts);
                bursts.map(move |(number, burst)| of_burst(phase, segment, (number, burst)))
            })
        });
        let picture = PlotOf {
            title: "bursts".to_owned(),
            x: ROUND_END.name.to_owned(),
            y: [IOPS, THROUGHPUT].map(|it| it.name.to_owned()).to_vec(),
            by: Some("test".to_owned()),
        };
        let show = Show::detail().grouped_by("test").plot(picture);
        Table::new("ssd-bursts", &["test", "segment", "burst"], rows.collect())
            .titled("Bursts")
            .of_steps()
            .shown(show)
    }

    fn of_rounds(&self) -> Table {
        let rows = self.phases.iter();
        let rows = rows.flat_map(|phase| {
            let rounds = phase.rounds.iter();
            rounds.map(|it| of_round(phase, it, self.size_bytes))
        });
        Table::new("ssd-rounds", &["test", "round"], rows.collect())
            .titled("Rounds")
            .of_steps()
    }

    fn of_windows(&self) -> Table {
        let rows = self.phases.iter();
        let rows = rows.flat_map(|phase| {
            let window = phase.pts_window();
            window.into_iter().flat_map(|it| of_window(phase, it))
        });
        Table::new("ssd-window", &["test", "round"], rows.collect())
            .titled("Window of SSS PTS")
            .of_steps()
    }
}

/// Only steady results can be quoted.
fn trust(phase: &SsdPhase) -> Trust {
    let settled = match phase.verdict() {
        DriftVerdict::Steady => Trust::Reliable,
        DriftVerdict::Drifting | DriftVerdict::Undecided => Trust::Unstable,
    };
    settled.max(Trust::unless_invalid(&phase.warnings))
}

/// The metric of the tracked figure.
const fn metric(tracked: Tracked) -> KnownMetric {
    match tracked {
        Tracked::Iops => IOPS,
        Tracked::Latency => LATENCY,
        Tracked::Throughput => THROUGHPUT,
    }
}

/// The tracked figure in the units of tables, under another name.
fn tracked(tracked: Tracked, name: &str, value: Estimate) -> Figure {
    match tracked {
        Tracked::Latency => LATENCY.named(name, value.scale(1e-9)),
        other => metric(other).named(name, value),
    }
}

const fn word(verdict: DriftVerdict) -> &'static str {
    match verdict {
        DriftVerdict::Steady => "steady",
        DriftVerdict::Drifting => "drifting",
        DriftVerdict::Undecided => "undecided",
    }
}

fn of_test(phase: &SsdPhase, size: u64) -> Option<Row> {
    let trend = phase.trend();
    let last = phase.rounds.last()?;
    let name = metric(phase.tracked).name;
    let mean = trend.map_or(last.tracked, |it| it.mean);
    let mut figures = vec![tracked(phase.tracked, name, mean)];
    if let Some(window) = phase.pts_window() {
        let value = Estimate::exact(window.mean, 5.0).without_interval();
        figures.push(tracked(phase.tracked, &format!("pts-{name}"), value));
        figures.push(PTS_RANGE.bare(window.range));
        figures.push(PTS_EXCURSION.bare(window.excursion));
    }
    figures.extend(trend.map(|it| TREND.of(interval(it))));
    let steady = phase.law.iter().map(|law| law.steady_per_second);
    figures.extend(steady.map(|it| IOPS_BY_LAW.bare(it)));
    let rounds = [
        (ROUNDS, Some(last.number)),
        (STEADY_ROUND, phase.steady_round),
        (PTS_ROUND, phase.pts_round),
    ];
    let known = rounds.into_iter();
    figures.extend(known.filter_map(|(metric, it)| Some(metric.exact(it?))));
    figures.extend([
        WRITTEN.count(last.written_bytes),
        PRECONDITION.count(phase.precondition_bytes),
        SIZE.count(size),
    ]);
    let rate = phase.precondition_rate;
    figures.extend(rate.map(|it| {
        let rate = THROUGHPUT.named(PRECONDITION_RATE, it);
        rate.as_role(Role::Detail)
    }));
    let purge = phase.purge.iter();
    figures.extend(purge.flat_map(|purge| {
        [
            PURGE_SAMPLED.exact(purge.sampled),
            PURGE_ZERO.exact(purge.zero),
        ]
    }));
    let health = [CELSIUS_BEFORE, CELSIUS_AFTER]
        .into_iter()
        .zip(phase.health);
    figures.extend(health.filter_map(|(metric, it)| Some(metric.exact(it?.celsius?))));
    let health = [WEAR_BEFORE, WEAR_AFTER].into_iter().zip(phase.health);
    figures.extend(health.filter_map(|(metric, it)| Some(metric.exact(it?.wear?))));
    let levels = vec![phase.name.clone()];
    let row = Row::new(levels, figures, name, trust(phase)).warned(&phase.warnings);
    let pts = match (phase.pts_round, phase.pts_window()) {
        (Some(round), _) => format!("met at round {round}"),
        (None, Some(_)) => "not met".to_owned(),
        (None, None) => String::new(),
    };
    Some(
        row.with_word("state", word(phase.verdict()))
            .with_word("SSS PTS", pts)
            .with_word("loads", &phase.title),
    )
}

/// The change over the window with its two-sided interval, from the error of the one-sided bound.
fn interval(trend: &crate::ssd::RoundTrend) -> Estimate {
    let half = trend.bound - trend.total.abs();
    Estimate {
        low: trend.total - half,
        high: trend.total + half,
        confidence: 0.9,
        ..Estimate::exact(trend.total, trend.mean.samples)
    }
}

fn of_cell(phase: &SsdPhase, cell: &SsdCell) -> Row {
    let load = &cell.load;
    let levels = vec![
        phase.name.clone(),
        load.pattern.name().to_owned(),
        block_of(load),
        format!("{} %", load.read_percent),
        load.depth.to_string(),
    ];
    let mut figures = vec![
        IOPS.of(cell.iops),
        THROUGHPUT.of(cell.iops.scale(load.mean_bytes())),
        LATENCY.of_ns(cell.latency_ns),
    ];
    figures.extend(cell.p99_ns.map(|it| LATENCY_P99.of_ns(it)));
    figures.extend(cell.p999_ns.map(|it| LATENCY_P999.of_ns(it)));
    let longest = cell.max_ns as f64 / 1e9;
    figures.push(LATENCY_MAX.bare(longest));
    figures.push(ERRORS.count(cell.errors));
    let rounds = cell.rounds.iter().map(|round| {
        let latency = round.latency_ns.value / 1e9;
        let readings = [IOPS.reading(round.iops.value), LATENCY.reading(latency)];
        Replicate::new(round.number, true, readings)
    });
    Row::new(levels, figures, metric(phase.tracked).name, trust(phase))
        .with_replicates(rounds.collect())
}

/// The block size of a load as a level.
fn block_of(load: &SsdLoad) -> String {
    match load.pattern {
        SsdPattern::Composite => "mixed".to_owned(),
        _ => Bytes(load.block_bytes).to_string(),
    }
}

/// Whether its loads differ in queue depth.
fn is_demand(phase: &SsdPhase) -> bool {
    let mut depths = phase.cells.iter().map(|it| it.load.depth);
    let first = depths.next();
    depths.any(|it| Some(it) != first)
}

/// Means over the bursts. With one burst all percentiles are known.
fn of_segment(phase: &SsdPhase, segment: &SsdSegment) -> Option<Row> {
    let iops = segment.iops()?;
    let (first, last) = (segment.bursts.first()?, segment.bursts.last()?);
    let bytes = segment.load.mean_bytes();
    let rate = |name: &str, value: Estimate| match phase.tracked {
        Tracked::Throughput => THROUGHPUT.named(name, value.scale(bytes)),
        _ => IOPS.named(name, value),
    };
    let mut figures = vec![IOPS.of(iops), THROUGHPUT.of(iops.scale(bytes))];
    let steady = phase.steady_iops();
    figures.extend(steady.map(|it| OVER_STEADY.of(iops.over(&it))));
    match segment.bursts.as_slice() {
        [one] => figures.extend(LATENCY.of_times(&one.times)),
        many => {
            let mean = |of: fn(&SsdBurst) -> Option<f64>| {
                let known: Vec<f64> = many.iter().filter_map(of).collect();
                stats::repeats_mean(&known)
            };
            let p99 = mean(|it| Some(it.times.percentile(0.99)?.value));
            figures.extend(mean(|it| Some(it.times.mean.value)).map(|it| LATENCY.of_ns(it)));
            figures.extend(p99.map(|it| LATENCY_P99.of_ns(it)));
        }
    }
    let longest = segment.bursts.iter().map(|it| it.times.max_ns).max();
    figures.push(LATENCY_MAX.bare_ns(longest.unwrap_or(0) as f64));
    let several = segment.bursts.len() > 1;
    figures.extend(several.then(|| rate("first", first.iops)));
    figures.extend(several.then(|| rate("last", last.iops)));
    let errors: u64 = segment.bursts.iter().map(|it| it.errors).sum();
    figures.extend([
        ERRORS.count(errors),
        BURSTS.count(segment.bursts.len() as u64),
    ]);
    let trust = match phase.rounds.is_empty() {
        true => Trust::unless_invalid(&phase.warnings),
        false => trust(phase),
    };
    let levels = vec![phase.name.clone(), segment.name.clone()];
    let row = Row::new(levels, figures, metric(phase.tracked).name, trust);
    let time = |ns: u64| format_duration_ns(ns as f64);
    let load = &segment.load;
    let what = format!(
        "{} {}, {} % reads, depth {}",
        load.pattern.name(),
        block_of(load),
        load.read_percent,
        load.depth
    );
    Some(
        row.with_word("load", what)
            .with_word("burst", time(segment.burst_ns))
            .with_word("pause", time(segment.pause_ns)),
    )
}

fn of_burst(phase: &SsdPhase, segment: &SsdSegment, (number, burst): (u32, &SsdBurst)) -> Row {
    let bytes = segment.load.mean_bytes();
    let figures = [
        IOPS.of(burst.iops),
        THROUGHPUT.of(burst.iops.scale(bytes)),
        LATENCY.of_ns(burst.times.mean),
        ROUND_END.exact(burst.end_ns as f64 / 1e9),
    ];
    let levels = vec![phase.name.clone(), segment.name.clone(), number.to_string()];
    Row::new(levels, figures, metric(phase.tracked).name, Trust::Reliable)
}

fn of_round(phase: &SsdPhase, round: &SsdRound, size: u64) -> Row {
    let name = metric(phase.tracked).name;
    let mut figures = vec![tracked(phase.tracked, name, round.tracked)];
    let written = round.written_bytes as f64;
    figures.push(WRITTEN.exact(written));
    figures.push(CAPACITIES.exact(written / size.max(1) as f64));
    figures.push(ROUND_END.exact(round.end_ns as f64 / 1e9));
    if let Some(window) = &round.pts {
        figures.push(PTS_RANGE.bare(window.range));
        figures.push(PTS_EXCURSION.bare(window.excursion));
    }
    figures.extend(of_all_rounds(phase, round));
    let trend = round.trend.as_ref();
    figures.extend(trend.map(|it| TREND.of(interval(it))));
    let levels = vec![phase.name.clone(), round.number.to_string()];
    let settled = match round.trend.map(|it| it.verdict) {
        Some(DriftVerdict::Steady) => Trust::Reliable,
        _ => Trust::Unstable,
    };
    let pts = match &round.pts {
        Some(window) if window.is_met => "met",
        Some(_) => "no",
        None => "",
    };
    let state = trend.map_or("", |it| word(it.verdict));
    let row = Row::new(levels, figures, name, settled);
    row.with_word("pts", pts).with_word("state", state)
}

/// The prediction of the law, and the mean of the last rounds for those in that window.
fn of_all_rounds(phase: &SsdPhase, round: &SsdRound) -> impl Iterator<Item = Figure> {
    let law = phase.law.as_ref().map(|it| it.steady_per_second);
    let law = law.map(|it| IOPS_BY_LAW.bare(it));
    let trend = phase.trend().filter(|it| round.number >= it.first_round);
    let mean = trend.map(|it| Estimate::exact(it.mean.value, 1.0));
    let mean = mean.map(|it| tracked(phase.tracked, "mean", it).as_role(Role::Detail));
    law.into_iter().chain(mean)
}

/// The five rounds of the standard with the allowed band, and the least-squares line.
fn of_window<'a>(phase: &'a SsdPhase, window: &'a PtsWindow) -> impl Iterator<Item = Row> + 'a {
    let stride = phase.stride.max(1);
    let all = window.first_round..=window.last_round;
    let is_of = move |number: u32| {
        all.contains(&number) && (number - window.first_round).is_multiple_of(stride)
    };
    let rounds = phase.rounds.iter().filter(move |it| is_of(it.number));
    let length = f64::from(window.last_round - window.first_round).max(1.0);
    let name = metric(phase.tracked).name;
    let line = |name: &str, value: f64| {
        tracked(phase.tracked, name, Estimate::exact(value, 1.0)).as_role(Role::Detail)
    };
    rounds.map(move |round| {
        let part = f64::from(round.number - window.first_round) / length - 0.5;
        let number = ROUND_NUMBER.exact(round.number);
        let figures = [
            tracked(phase.tracked, name, round.tracked),
            number,
            line("slope", window.mean * (1.0 + window.excursion * part)),
            line("allowed-low", window.mean * (1.0 - BAND)),
            line("allowed-high", window.mean * (1.0 + BAND)),
        ];
        let levels = vec![phase.name.clone(), round.number.to_string()];
        Row::new(levels, figures, name, trust(phase))
    })
}
