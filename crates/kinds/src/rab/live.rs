//! What the screen shows of a sitting.

use procedure::{PointPlan, RabProcedure};
use results::live::{
    Live, LiveConvergence, LiveLevel, LiveRow, LiveState, LiveWorkload, Verbosity,
};
use results::{Curve, LevelOutcome, Measurement, RabWorkload, Rabmark, Warning};
use stats::Estimate;
use units::{Bytes, Duration};

use super::modes::ModeKeeper;
use super::run::RabRequest;
use super::workloads::Wish;
use lab::laboratory::Glimpse;

/// Looks kept for the picture of convergence.
const LOOKS_MAX: usize = 64;
/// Warnings kept; a run without an end has ever more.
const WARNINGS_MAX: usize = 200;
/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;
/// Bytes in a MiB.
const MIB: f64 = (1u64 << 20) as f64;
/// "The first four workloads (three transaction and one batch)" have response times and loads on
/// the screen of the manual, the others throughput alone.
const IN_FULL: u32 = 4;

/// What is known for the screen.
pub struct RabDisplay {
    /// Whether something is being measured.
    pub state: LiveState,
    /// How much the verbose window says.
    pub verbosity: Verbosity,
    /// What is to happen when the trial under way has ended.
    pub wish: Option<Wish>,
    /// Number of the run through all workloads.
    pub run: u32,
    /// Place of the workload that is being measured.
    pub workload: usize,
    /// Share of the work that is done; never falls.
    pub progress: f64,
    configuration: Vec<(String, String)>,
    workloads: Vec<LiveWorkload>,
    is_endless: bool,
    threads: u64,
    current: LiveRow,
    this_point: LiveRow,
    last_point: LiveRow,
    last_level: LiveRow,
    convergence: LiveConvergence,
    /// Whether the load under way is the one of a batch workload.
    is_batch: bool,
    warnings: Vec<String>,
}

impl RabDisplay {
    /// Before anything is measured.
    pub fn new(request: &RabRequest, size: Bytes) -> Self {
        let seed = request.bench.storage.seed;
        let load = request
            .iops_per_client
            .map_or_else(|| "as defined".into(), |rate| format!("{rate} iops"));
        let configuration = vec![
            ("Target".into(), request.bench.target.to_string()),
            ("Test file".into(), size.to_string()),
            ("Load per client".into(), load),
            ("Seed".into(), seed.to_string()),
        ];
        let workloads = request
            .workloads
            .iter()
            .map(|(number, definition)| LiveWorkload {
                number: *number,
                name: definition.title.clone(),
                has_levels: definition.threads.is_none() || *number <= IN_FULL,
                ..LiveWorkload::default()
            });
        Self {
            state: LiveState::Execute,
            verbosity: Self::VERBOSITY,
            wish: None,
            run: 1,
            workload: 0,
            progress: 0.0,
            configuration,
            workloads: workloads.collect(),
            is_endless: request.mode.is_endless(),
            threads: 0,
            current: LiveRow::default(),
            this_point: LiveRow::default(),
            last_point: LiveRow::default(),
            last_level: LiveRow::default(),
            convergence: LiveConvergence::default(),
            is_batch: false,
            warnings: Vec::new(),
        }
    }

    /// Workload `index` of run `run` begins.
    pub fn begin_workload(&mut self, run: u32, index: usize) {
        self.run = run;
        self.workload = index;
        self.workloads[index].curve = Curve::default();
        self.last_point = LiveRow::default();
        self.this_point = LiveRow::default();
    }

    pub fn begin_trial(&mut self, procedure: &RabProcedure, plan: &PointPlan) {
        self.threads = u64::from(plan.clients);
        self.is_batch = procedure.subject().clients.is_some();
        self.current = LiveRow {
            threads: Some(self.threads),
            ..LiveRow::default()
        };
        self.convergence = LiveConvergence {
            relative_half_widths: Vec::new(),
            goal: Some(plan.goal.precision),
        };
        self.workloads[self.workload].curve = procedure.curve().unwrap_or_default();
        let found = procedure.workload();
        self.note_levels(self.workload, &found);
    }

    /// A trial is under way.
    pub fn note_glimpse(&mut self, glimpse: &Glimpse) {
        let (load, bytes) = (glimpse.throughput, glimpse.operation_bytes);
        let looked = glimpse.response.map(|(mean, _)| mean);
        let response_ms = looked.or(glimpse.mean_ns).map(|mean| mean / MS);
        let moved = bytes.map(|bytes| bytes * glimpse.operations as f64);
        self.current.operations = Some(glimpse.operations);
        self.current.kib = moved.map(|bytes| (bytes / 1024.0) as u64);
        self.current.response_ms = response_ms;
        self.current.iops = load;
        self.current.rabmark_r = response_ms.zip(load).map(|(ms, load)| load / ms);
        self.current.rabmark_s = bytes.zip(load).map(|(bytes, load)| bytes * load / MIB);
        self.note_batch(glimpse);
        let Some((_, half_width)) = glimpse.response else {
            return;
        };
        let looks = &mut self.convergence.relative_half_widths;
        if looks.last() == Some(&half_width) {
            return;
        }
        if looks.len() == LOOKS_MAX {
            looks.remove(0);
        }
        looks.push(half_width);
        self.current.count = Some(looks.len() as u64);
    }

    /// A batch workload has one load: what is known of it is its result so far.
    fn note_batch(&mut self, glimpse: &Glimpse) {
        if !self.is_batch || glimpse.operations == 0 {
            return;
        }
        let shown = &mut self.workloads[self.workload];
        shown.levels[0] = LiveLevel {
            response_ms: self.current.response_ms,
            iops: self.current.iops,
            // That of a set of places is not that of the workload.
            relative_half_width: None,
        };
        shown.rabmark_r = self.current.rabmark_r;
        shown.rabmark_s = self.current.rabmark_s;
    }

    /// A point was measured.
    pub fn note_point(&mut self, plan: &PointPlan, measurement: &Measurement) {
        let service_ms = measurement.service.mean.value / MS;
        let load = measurement.throughput.value;
        let mib = measurement.bandwidth.map(|it| it.value / MIB);
        self.last_point = std::mem::replace(
            &mut self.this_point,
            LiveRow {
                count: None,
                threads: Some(u64::from(plan.clients)),
                operations: Some(measurement.completions_all),
                kib: Some(measurement.bytes_all / 1024),
                response_ms: Some(service_ms),
                iops: Some(load),
                rabmark_r: Some(load / service_ms),
                rabmark_s: mib,
            },
        );
        // Doubts about the sets of places of a batch workload are put together at its end.
        if !plan.is_scout && !self.is_batch {
            self.note_warnings(&measurement.warnings);
        }
    }

    fn note_warnings<'a>(&mut self, warnings: impl IntoIterator<Item = &'a Warning>) {
        for warning in warnings {
            let text = warning.text();
            // A curve repeats the doubts about its points behind its own title.
            let is_known = |known: &String| text.ends_with(known.as_str());
            if !self.warnings.iter().any(is_known) {
                self.warnings.push(text);
            }
        }
        let excess = self.warnings.len().saturating_sub(WARNINGS_MAX);
        self.warnings.drain(..excess);
    }

    /// A workload is done.
    pub fn note_workload(&mut self, index: usize, found: &RabWorkload) {
        self.note_levels(index, found);
        self.note_warnings(found.all_warnings());
        let mark = |mark: Option<Rabmark>| mark.map(|mark| mark.value.value);
        let shown = &mut self.workloads[index];
        shown.rabmark_r = mark(found.rabmark_r);
        shown.rabmark_s = mark(found.rabmark_s);
    }

    /// Share of the work that is done.
    pub fn set_progress(&mut self, progress: f64) {
        self.progress = self.progress.max(progress.min(1.0));
    }

    fn note_levels(&mut self, index: usize, found: &RabWorkload) {
        let level = |response_ns: f64, load: Option<Estimate>| LiveLevel {
            response_ms: Some(response_ns / MS),
            iops: load.map(|load| load.value),
            relative_half_width: load.map(|load| load.relative_half_width()),
        };
        let shown = &mut self.workloads[index];
        if let Some(one) = &found.no_load {
            shown.levels[0] = level(one.service.value, Some(one.load));
        }
        for (place, found) in shown.levels[1..].iter_mut().zip(&found.levels) {
            let load = match found.by_service {
                LevelOutcome::Reached { load, .. } => Some(load),
                LevelOutcome::Between { low, high } => Some(Estimate {
                    low,
                    high,
                    ..Estimate::exact(0.5 * (low + high), 0.0)
                }),
                _ => None,
            };
            *place = level(found.level_ns as f64, load);
            if let Some(load) = load {
                self.last_level.response_ms = place.response_ms;
                self.last_level.iops = Some(load.value);
                self.last_level.rabmark_r = Some(load.value * MS / found.level_ns as f64);
            }
        }
        if let Some(load) = &found.measurement {
            shown.levels[0] = level(load.service.mean.value, Some(load.throughput));
        }
    }

    /// Everything, as the screen takes it.
    pub fn live(&self, title: &str, modes: &ModeKeeper, elapsed: Duration) -> Live {
        Live {
            state: self.state,
            run: self.run,
            mode: modes.mode(),
            is_mode_detected: modes.is_detected(),
            workload: self.workload,
            threads: self.threads,
            elapsed_ns: elapsed.as_nanos(),
            configuration: self.configuration.clone(),
            workloads: self.workloads.clone(),
            verbosity: self.verbosity,
            current_message: self.current,
            current_thread: self.this_point,
            last_thread: self.last_point,
            last_response: self.last_level,
            activity: title.into(),
            convergence: self.convergence.clone(),
            progress: (!self.is_endless).then_some(self.progress),
            warnings: self.warnings.clone(),
        }
    }
}

/// While the test file is made.
pub fn filling(request: &RabRequest, title: &str, glimpse: &Glimpse) -> Live {
    let target = request.bench.target.to_string();
    Live {
        run: 1,
        mode: request.mode,
        elapsed_ns: glimpse.elapsed.as_nanos(),
        configuration: vec![("Target".into(), target)],
        activity: title.into(),
        ..Live::default()
    }
}
