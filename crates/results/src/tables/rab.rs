//! Tables of the RAID Performance Test.

use stats::Estimate;
use units::{format_count, format_counted, format_duration_ns};

use super::curve::load_of;
use crate::curve::{Curve, CurvePoint, LevelOutcome};
use crate::measurement::Measurement;
use crate::metric::*;
use crate::mode::Mode;
use crate::rab::{
    ModeChange, ModeComparison, Rab, RabAverage, RabGroup, RabLevel, RabOverRuns, RabWorkload,
    Rabmark,
};
use crate::reading::Unit;
use crate::run::RowWarning;
use crate::saying::{KNOWN, Saying, known};
use crate::show::Show;
use crate::table::{Figure, Role, Row, Table, Trust};
use crate::warning_code::WarningCode;

const MIB: f64 = 1_048_576.0;
/// Number of averages in lists.
const LISTED: usize = 2;

const MARKS: &str = "RABmark r: operations/s per ms of service time, summed over no load and \
                     levels (transaction), or at one load (batch). It is a lower bound where \
                     levels were not reached. RABmark s: bytes/s at the highest level, or at the \
                     one load.";
const LEVELS: &str = "IOPS by service time, from when a request is sent, as the document of 1995 \
                      defines it. IOPS by latency, from when it was due.";
/// What intervals cover if batch clients started at several sets of places.
const COVERED: &str = "Batch clients began at new random places for each of the sets, and the \
                       interval covers that choice. The variation between runs takes --repeat.";
/// What they cover with a single set.
const COVERED_OF_ONE_SET: &str = "Intervals cover the variation within a run. That between runs \
                                  takes --repeat.";
const OVER_RUNS: &str = "These intervals cover the variation from run to run.";
const ONE_RUN: &str = "Of one run in one of the modes the interval does not include the variation \
                       from run to run.";

impl Rab {
    /// Results over several runs, averages over groups, workloads, their levels, comparisons
    /// between modes, and the modes.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![
            self.of_all_runs(),
            self.of_averages(),
            self.of_workloads(),
            self.of_levels(),
            self.of_comparisons(),
            self.of_modes(),
        ];
        tables.retain(|it| !it.rows.is_empty());
        say(&mut tables);
        tables
    }

    /// Warnings of each workload, except those of its curve and its load.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.workloads.iter().map(|it| (&it.name, &it.warnings)))
    }

    /// The load curves of the workloads that have one.
    pub fn curves(&self) -> Vec<Curve> {
        let curves = self.workloads.iter().filter_map(|it| {
            let curve = it.curve.clone()?;
            let title = self.distinguished(it, &it.title, ", ");
            Some(Curve { title, ..curve })
        });
        curves.collect()
    }

    /// The trials of the batch workloads.
    pub fn measurements(&self) -> Vec<Measurement> {
        let loads = self.workloads.iter().filter_map(|it| {
            let load = it.measurement.clone()?;
            let name = self.distinguished(it, &it.name, "-").replace(' ', "-");
            Some(Measurement { name, ..load })
        });
        loads.collect()
    }

    /// The name, with run and mode appended if the workload was measured more than once.
    fn distinguished(&self, workload: &RabWorkload, name: &str, between: &str) -> String {
        let mut others = self.workloads.iter();
        match others.any(|it| it.name == workload.name && (it.run, it.mode) != stamp(workload)) {
            true => {
                let (run, mode) = stamp(workload);
                format!("{name}{between}run {run}{between}{mode}")
            }
            false => name.to_owned(),
        }
    }

    /// `RABmark[r]` of each group, over runs if there were several: the headline table.
    fn of_all_runs(&self) -> Table {
        let first = self.over_runs.iter().position(|it| it.title.is_none());
        let first = first.unwrap_or(usize::MAX);
        let rows = self.over_runs.iter().zip(0..);
        let rows = rows.map(|(it, at)| {
            let is_listed = at >= first && at - first < LISTED;
            over_runs(self, it).listed(is_listed)
        });
        Table::new("rab-over-runs", &["workload", "mode"], rows.collect())
            .titled("All runs")
            .shown(Show::default().columns("rabmark-r rabmark-s runs"))
            .noted([OVER_RUNS.to_owned()])
    }

    fn of_averages(&self) -> Table {
        let rows = self.averages.iter().zip(0..);
        let rows = rows.map(|(it, at)| average(self, it).listed(at < LISTED));
        let show = match self.over_runs.is_empty() {
            true => Show::default(),
            false => Show::detail(),
        };
        let factors = ["group", "mode", "run"];
        Table::new("rab-averages", &factors, rows.collect())
            .titled("Averages over a group")
            .shown(show.columns("rabmark-r rabmark-s workloads"))
    }

    fn of_workloads(&self) -> Table {
        let rows = self.workloads.iter().map(workload);
        let columns = "rabmark-r rabmark-s throughput service-time clients place-sets";
        let is_begun_anew = self.workloads.iter().any(|it| it.place_sets > Some(1));
        let covered = match is_begun_anew {
            true => COVERED,
            false => COVERED_OF_ONE_SET,
        };
        let notes = [self.settings(), MARKS.to_owned(), covered.to_owned()];
        let factors = ["workload", "mode", "run"];
        Table::new("rab-workloads", &factors, rows.collect())
            .of_trials()
            .titled("Workloads")
            .shown(Show::default().columns(columns))
            .noted(notes)
    }

    /// The requested settings.
    fn settings(&self) -> String {
        let load = match self.iops_per_client {
            Some(rate) => format!("{}/s for each client that waits", format_count(rate)),
            None => "The load of each client is set by its workload".into(),
        };
        format!(
            "Levels up to {}. {load}. Target precision {} %.",
            format_duration_ns(self.response_max_ns as f64),
            (self.precision * 1e5).round() / 1e3
        )
    }

    fn of_levels(&self) -> Table {
        let rows = self.workloads.iter().flat_map(|workload| {
            let alone = workload.no_load.iter().map(|it| no_load(workload, it));
            let levels = workload.levels.iter();
            alone.chain(levels.map(|it| level(workload, it)))
        });
        let factors = ["workload", "mode", "run", "level"];
        let columns = "service-time iops iops-by-latency";
        Table::new("rab-levels", &factors, rows.collect())
            .titled("Levels")
            .shown(Show::default().columns(columns))
            .noted([LEVELS.to_owned()])
    }

    /// Comparisons between modes. A ratio whose interval includes 1 shows no difference.
    fn of_comparisons(&self) -> Table {
        let rows = self.comparisons.iter().map(|it| comparison(self, it));
        let is_of_one_run = self.comparisons.iter().any(|it| !it.spans_runs);
        let mut modes: Vec<Mode> = self.comparisons.iter().map(|it| it.mode).collect();
        modes.dedup();
        let base = self.comparisons.first().map_or(Mode::Normal, |it| it.base);
        let title = match modes.as_slice() {
            [mode] => format!("Mode {mode} over {base}"),
            _ => format!("Modes over {base}"),
        };
        let factors = ["workload", "figure", "mode", "base"];
        Table::new("rab-modes-compared", &factors, rows.collect())
            .titled(title)
            .noted(is_of_one_run.then(|| ONE_RUN.to_owned()))
    }

    fn of_modes(&self) -> Table {
        let is_plain = |it: &ModeChange| it.mode == Mode::Normal && !it.is_detected;
        let show = match self.modes.iter().all(is_plain) {
            true => Show::detail(),
            false => Show::default(),
        };
        let rows = self.modes.iter().map(|change| {
            let from = change.at_ns as f64 / 1e9;
            let levels = vec![change.mode.name().to_owned()];
            let from = [MODE_FROM.exact(from)];
            let known = match change.is_detected {
                true => "detected",
                false => "given",
            };
            Row::new(levels, from, "from", Trust::Reliable)
                .with_word("known", known)
                .with_word("why", &change.text)
        });
        Table::new("rab-modes", &["mode"], rows.collect())
            .titled("Modes")
            .shown(show)
            .of_steps()
    }

    /// The trust of the least reliable of some workloads.
    fn worst(&self, is_of: impl Fn(&RabWorkload) -> bool) -> Trust {
        let of_row = self.workloads.iter().filter(|it| is_of(it));
        of_row.map(trust_of).max().unwrap_or(Trust::Reliable)
    }
}

fn stamp(workload: &RabWorkload) -> (u32, Mode) {
    (workload.run, workload.mode)
}

fn levels_of(workload: &RabWorkload) -> Vec<String> {
    let mode = workload.mode.name().to_owned();
    vec![workload.name.clone(), mode, workload.run.to_string()]
}

/// Adds statements: about the averages of groups, over runs if there were several; if none is
/// reliable, about the workloads.
fn say(tables: &mut [Table]) {
    let groups = [RabGroup::Transaction, RabGroup::Batch].map(RabGroup::name);
    let is_of = |table: &Table, name: &str| table.name == name;
    let has_runs = tables.iter().any(|it| is_of(it, "rab-over-runs"));
    let averages = if has_runs {
        "rab-over-runs"
    } else {
        "rab-averages"
    };
    let mut is_quoted = false;
    for row in rows_of(tables, averages) {
        if groups.contains(&row.levels[0].as_str()) || !has_runs {
            let sentence =
                mark_of(row).map(|it| format!("{} workloads average {it}", row.levels[0]));
            is_quoted |= sentence.is_some() && row.trust == Trust::Reliable;
            row.says = sentence.map(Saying::quoting);
        }
    }
    let workloads = rows_of(tables, "rab-workloads");
    let mut workloads: Vec<&mut Row> = workloads.filter(|_| !is_quoted).collect();
    let names: Vec<String> = workloads.iter().map(|it| it.levels[0].clone()).collect();
    for row in &mut workloads {
        let [name, mode, run] = [0, 1, 2].map(|place| row.levels[place].as_str());
        let is_alone = names.iter().filter(|it| *it == name).count() == 1;
        let which = match is_alone {
            true => String::new(),
            false => format!(" ({mode}, run {run})"),
        };
        let sentence = mark_of(row).map(|it| format!("workload {name}{which} has {it}"));
        row.says = sentence.map(Saying::quoting);
    }
}

fn rows_of<'a>(tables: &'a mut [Table], name: &str) -> impl Iterator<Item = &'a mut Row> {
    let table = tables.iter_mut().find(|it| it.name == name);
    table.into_iter().flat_map(|it| &mut it.rows)
}

/// The RABmark of a row, if known.
fn mark_of(row: &Row) -> Option<String> {
    let is_known = |it: &&Figure| it.value.relative_half_width() <= KNOWN;
    let mark = row.figure("rabmark-r").filter(is_known)?.value;
    Some(format!("RABmark[r] {}", known(Unit::Ratio, mark)))
}

fn workload(it: &RabWorkload) -> Row {
    let mut figures: Vec<Figure> = marks(it.rabmark_r, it.rabmark_s).collect();
    if let Some(alone) = &it.no_load {
        figures.push(SERVICE_TIME_ONE_CLIENT.of_ns(alone.service));
    }
    if let Some(load) = &it.measurement {
        figures.push(IOPS.of(load.throughput));
        figures.extend(load.bandwidth.map(|it| THROUGHPUT.of(it)));
        if !load.is_all_failed() {
            figures.extend(SERVICE_TIME.of_times(&load.service));
        }
        figures.push(CLIENTS.exact(load.clients));
    }
    figures.extend(it.place_sets.map(|sets| PLACE_SETS.exact(sets)));
    figures.extend([
        WORKLOAD_NUMBER.exact(it.number),
        OPERATIONS.count(it.operations),
        BEGUN.exact(it.begun_ns as f64 / 1e9),
        ELAPSED.exact(it.elapsed_ns as f64 / 1e9),
    ]);
    let codes: Vec<_> = it.all_warnings().cloned().collect();
    Row::new(levels_of(it), figures, "rabmark-r", trust_of(it))
        .warned(&codes)
        .with_word("state", state(it))
}

/// Why it is not a normal result.
fn state(it: &RabWorkload) -> &'static str {
    let is_all_failed = |load: &Measurement| load.is_all_failed();
    match it {
        _ if !it.is_complete => "unfinished",
        _ if it.measurement.as_ref().is_some_and(is_all_failed) => "all failed",
        _ if it.rabmark_r.is_some_and(|mark| !mark.is_whole) => "lower bound",
        _ => "",
    }
}

fn trust_of(it: &RabWorkload) -> Trust {
    let of_load = it.measurement.as_ref();
    let of_load = of_load.map(|load| load.trust());
    let of_curve = it.curve.as_ref();
    let of_curve = of_curve.map(|curve| {
        let mut warnings = curve.warnings.iter();
        let trust = Trust::unless_invalid(&curve.warnings);
        match warnings.any(|it| it.code == WarningCode::LevelUncertain) {
            true => trust.max(Trust::Unstable),
            false => trust,
        }
    });
    let trust = Trust::unless_invalid(&it.warnings);
    [of_load, of_curve]
        .into_iter()
        .flatten()
        .fold(trust, Trust::max)
}

/// A single client.
fn no_load(workload: &RabWorkload, alone: &CurvePoint) -> Row {
    let mut levels = levels_of(workload);
    levels.push("no load".to_owned());
    let figures = [
        IOPS.of(alone.load),
        SERVICE_TIME.of_ns(alone.service).as_role(Role::Detail),
        LATENCY.of_ns(alone.response).as_role(Role::Detail),
    ];
    Row::new(levels, figures, "iops", trust_of(workload))
}

fn level(workload: &RabWorkload, level: &RabLevel) -> Row {
    let mut levels = levels_of(workload);
    levels.push(level.label.clone());
    let (load, trust) = load_of(&level.by_service);
    let by_response = level.by_response.as_ref().and_then(|it| load_of(it).0);
    let by_response = by_response.map(|it| IOPS_BY_LATENCY.of(it));
    let asked = Estimate::exact(level.level_ns as f64, 1.0);
    let time = level.level_estimate.unwrap_or(asked);
    let time = SERVICE_TIME.of_ns(time).as_role(Role::Detail);
    let figures = load.map(|it| IOPS.of(it)).into_iter().chain(by_response);
    let trust = trust.max(trust_of(workload));
    Row::new(levels, figures.chain([time]), "iops", trust)
        .with_word("outcome", outcome(&level.by_service))
}

/// The outcome for a level that could not be interpolated.
fn outcome(outcome: &LevelOutcome) -> String {
    match *outcome {
        LevelOutcome::Reached { .. } => String::new(),
        LevelOutcome::Between { .. } => "wide interval".to_owned(),
        LevelOutcome::Exceeded { response } => {
            format!("one client takes {}", format_duration_ns(response.value))
        }
        LevelOutcome::NotReached { clients, .. } => {
            let clients = format_counted(clients.into(), "client");
            format!("not reached with {clients}")
        }
    }
}

/// Results over several runs are as reliable as the worst run.
fn over_runs(found: &Rab, it: &RabOverRuns) -> Row {
    let trust = found.worst(|workload| {
        let is_of_row = it.title.is_none() || workload.name == it.name;
        is_of_row && (workload.group, workload.mode) == (it.group, it.mode)
    });
    let levels = vec![it.name.clone(), it.mode.name().to_owned()];
    let figures = marks(Some(it.rabmark_r), Some(it.rabmark_s));
    let runs = RUNS.exact(it.runs);
    Row::new(levels, figures.chain([runs]), "rabmark-r", trust)
}

/// An average is as reliable as its worst workload.
fn average(found: &Rab, it: &RabAverage) -> Row {
    let trust = found.worst(|workload| {
        (workload.group, workload.run, workload.mode) == (it.group, it.run, it.mode)
    });
    let (group, mode) = (it.group.name().to_owned(), it.mode.name().to_owned());
    let figures = marks(Some(it.rabmark_r), Some(it.rabmark_s));
    let workloads = WORKLOADS.exact(it.workloads);
    let levels = vec![group, mode, it.run.to_string()];
    Row::new(levels, figures.chain([workloads]), "rabmark-r", trust)
}

fn comparison(found: &Rab, it: &ModeComparison) -> Row {
    let modes = [it.base, it.mode];
    let trust =
        found.worst(|workload| workload.name == it.workload && modes.contains(&workload.mode));
    let levels = [
        it.workload.as_str(),
        &it.figure,
        it.mode.name(),
        it.base.name(),
    ];
    let ratio = RATIO.of(it.ratio);
    let verdict = match it.ratio {
        ratio if ratio.low > 1.0 => "higher",
        ratio if ratio.high < 1.0 => "lower",
        _ => "no difference shown",
    };
    let covers = match it.spans_runs {
        true => "",
        false => "one run",
    };
    let levels = levels.map(str::to_owned).to_vec();
    Row::new(levels, [ratio], "ratio", trust)
        .with_word("verdict", verdict)
        .with_word("covers", covers)
}

/// `RABmark[r]` in the manual's units, and `RABmark[s]` in bytes per second. If a level was not
/// reached, the sum is a lower bound.
fn marks(r: Option<Rabmark>, s: Option<Rabmark>) -> impl Iterator<Item = Figure> {
    let bounded = |mark: Rabmark| match mark.is_whole {
        true => mark.value,
        false => Estimate {
            high: f64::INFINITY,
            ..mark.value
        },
    };
    let r = r.map(|it| RABMARK_R.of(bounded(it)));
    let s = s.map(|it| {
        let value = bounded(it).scale(MIB);
        RABMARK_S.of(value)
    });
    r.into_iter().chain(s)
}
