//! Runs `transfer`: from a target's name to a [`Run`] with the passes over it.
//!
//! Each stream is a laboratory of its own, with a file or a target of its own; the streams of a
//! pass begin together. A model has one laboratory, and as many clients as there are streams.

use drivers::Checking;
use procedure::{
    PassCount, RoundsRule, SeriesPlan, TransferShape, alone_together, fits_another, memory_up_to,
    most_within, transfer_doubts,
};
use results::environment::TargetKind;
use results::{
    Run, Setup, Severity, Status, TargetDescription, Transfer, TransferKind, TransferMode,
    TransferPass, TransferSeries, Warning, WarningCode,
};
use stats::Estimate;
use units::{Bytes, Duration, Instant, format_counted};

use super::hosts::{PeerStreams, step};
use super::streams::{OpenedStreams, TransferStreams, open_streams};
use crate::session::{self, MeasurementSession, Result};
use crate::stage::{RunPlan, Show, Stage};
use host::interrupt::Interrupt;
use lab::bench::{BenchError, BenchRequest};
use lab::hosts::Ranks;
use lab::laboratory::Glimpse;
use lab::test_file::{FILL_MAX, SIZE_DEFAULT};

/// How streams share storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each has a file of its own.
    OwnFiles,
    /// All use the same file.
    SameFile,
}

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct TransferRequest {
    /// The first target, and what may be done to it.
    pub bench: BenchRequest,
    /// Another target, read or written beside it as a stream of its own.
    pub beside: Option<BenchRequest>,
    /// How data are reached.
    pub mode: TransferMode,
    /// Bytes of operations, one series for each.
    pub blocks: Vec<u32>,
    /// Streams on the first target.
    pub streams: u32,
    /// How they share it.
    pub sharing: Sharing,
    /// Whether each stream is measured alone, too.
    pub alone: bool,
    /// When a series of reads ends.
    pub rule: RoundsRule,
    /// What of each block is checked when it is read; nothing when absent.
    pub check: Option<Checking>,
}

impl TransferRequest {
    /// Bytes of which whole blocks of every size are made.
    fn unit(&self) -> u64 {
        self.blocks.iter().fold(1, |unit, &block| {
            let block = u64::from(block);
            unit / common_divisor(unit, block) * block
        })
    }

    /// Time for all series, where the user said so.
    fn whole_budget(&self) -> Option<Duration> {
        let is_given = self.bench.setup.is_given("budget");
        is_given.then_some(self.rule.budget)
    }
}

/// Bytes whose writing shows how fast storage is.
const PROBE: u64 = 8 << 20;
/// A file that is made smaller is no smaller than this.
const SIZE_LEAST: u64 = 16 << 20;
/// Part of what fits at that speed that is written and read: it may fall.
const SPEED_MARGIN: f64 = 0.8;

/// Measure transfer rates.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_transfer(
    request: &TransferRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let mut opened = open_streams(request)?;
    let own = shape(request, &opened);
    let shape = match Ranks::on_all(request.bench.ranks.as_ref(), own) {
        Ok(shape) => shape,
        Err(error) => return Err(error.with_left(opened.streams.clean_up())),
    };
    session::carry_out(TransferSession {
        request,
        interrupt,
        show,
        series_done: 0,
        opened,
        shape,
        series: Vec::new(),
        spent: Duration::ZERO,
    })
}

struct TransferSession<'a> {
    request: &'a TransferRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    series_done: usize,
    opened: OpenedStreams,
    shape: TransferShape,
    series: Vec<TransferSeries>,
    /// Time of all passes so far.
    spent: Duration,
}

impl MeasurementSession for TransferSession<'_> {
    type Outcome = Run;

    fn now(&mut self) -> Instant {
        self.opened.streams.now()
    }

    fn plan(&self) -> RunPlan {
        let request = self.request;
        let series = self.shape.series();
        let reads = series.iter().filter(|it| it.kind != TransferKind::Write);
        let writing = (!self.shape.writers.is_empty()).then_some(("write", None));
        let each = Some(request.rule.budget).filter(|_| request.rule.rounds.is_none());
        let whole = request.whole_budget();
        let reading = each.filter(|_| whole.is_none());
        let reading = reading.map(|each| each * reads.count() as u64);
        RunPlan {
            phases: writing.into_iter().chain([("read", reading)]).collect(),
            budget: whole,
        }
    }

    fn show(&mut self, stage: &Stage<'_>) {
        (self.show)(stage);
    }

    fn measure(&mut self) -> Result<()> {
        self.run()
    }

    fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        warnings_of(&self.opened, self.request, &self.shape)
    }

    fn clean_up(&mut self) -> Result<Vec<Warning>> {
        let mut left = self.opened.streams.clean_up();
        let ranks = self.request.bench.ranks.as_ref();
        left.extend(Ranks::part_from(ranks, &left)?);
        Ok(left)
    }

    fn recorded(&self, _: &Status) -> (Setup, TargetDescription) {
        let setup = self.request.bench.resolved(self.shape.size);
        (setup, self.opened.description.clone())
    }

    fn complete(self, run: Run) -> Run {
        let (streams, series) = (&self.opened.streams, self.series);
        let request = self.request;
        let rule = request.rule;
        let peers = streams.peers.as_ref();
        let transfer = Transfer {
            host_name: run.environment.host_name.clone(),
            precision: rule.rounds.is_none().then_some(rule.precision),
            passes: rule.rounds,
            check: check_word(request, !self.shape.writers.is_empty()).into(),
            streams: streams.described(),
            comparisons: alone_together(&series),
            memory_up_to_bytes: memory_up_to(&series),
            series,
            hosts: peers.map_or_else(Vec::new, |it| it.rounds.shares()),
        };
        Run {
            tables: transfer.tables(),
            findings: findings_of(&transfer),
            row_warnings: transfer.row_warnings(),
            ..run
        }
    }
}

/// Which sizes and series the streams allow.
fn shape(request: &TransferRequest, opened: &OpenedStreams) -> Result<TransferShape> {
    let largest = request.blocks.iter().copied().max().unwrap_or(1);
    let chosen = || SIZE_DEFAULT.min(Bytes(opened.facts.room.0 / opened.files.max(1)));
    let made = request.bench.size.unwrap_or_else(chosen);
    let is_file = opened.description.kind == TargetKind::File;
    let wanted = match opened.facts.existing {
        Some(existing) if opened.files == 0 && is_file => existing,
        Some(existing) => existing.min(made),
        None => made,
    };
    let is_read_whole = opened.facts.existing == Some(wanted) && opened.files == 0;
    let is_read_whole = is_read_whole && request.bench.size.is_none();
    let unit = match request.mode {
        // What exists is read to its end, as far as the way of reading allows.
        TransferMode::Buffered | TransferMode::Cold if is_read_whole => 1,
        TransferMode::Direct if is_read_whole => drivers::BLOCK_BYTES as u64,
        // Whole blocks of every size.
        _ => request.unit(),
    };
    let size = Bytes(wanted.0 / unit * unit);
    if size.0 < u64::from(largest) {
        return Err(BenchError::Usage(format!(
            "{wanted} is less than one block of {} (or one multiple of all --block sizes). Give a \
             larger --size or a smaller --block",
            Bytes(u64::from(largest))
        )));
    }
    let needed = size.0.saturating_mul(opened.files);
    if needed > opened.facts.room.0 {
        return Err(BenchError::Usage(format!(
            "{} with files of {size} take {}, and {} may be taken. Give a smaller --size, \
             or fewer streams",
            format_counted(opened.files, "stream"),
            Bytes(needed),
            opened.facts.room
        )));
    }
    Ok(TransferShape {
        mode: request.mode,
        blocks: request.blocks.clone(),
        size,
        streams: opened.count,
        writers: opened.streams.writers(opened.count),
        alone: request.alone,
        rule: request.rule,
    })
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn check_word(request: &TransferRequest, writes: bool) -> &'static str {
    match request.check {
        _ if !writes || request.mode == TransferMode::Simulated => "none",
        None => "none",
        Some(Checking::LastStamp) => "last",
        Some(_) => "block",
    }
}

fn warnings_of(
    opened: &OpenedStreams,
    request: &TransferRequest,
    shape: &TransferShape,
) -> Vec<Warning> {
    let streams = &opened.streams;
    let mut warnings = streams.warnings(&opened.cautions);
    let differences = opened.differences.iter();
    warnings.extend(differences.map(|text| Warning::info(WarningCode::Hosts, text)));
    let is_odd = request
        .blocks
        .iter()
        .any(|block| !u64::from(*block).is_multiple_of(drivers::BLOCK_BYTES as u64));
    if is_odd && check_word(request, !shape.writers.is_empty()) != "none" {
        warnings.push(Warning::info(
            WarningCode::NotChecked,
            "Blocks that are no multiple of 4 KiB are read without being checked.",
        ));
    }
    if let Some(whole) = streams.existing_size()
        && whole > shape.size.0
        && shape.writers.is_empty()
        && request.bench.size.is_none()
    {
        warnings.push(Warning::info(
            WarningCode::PartLeftOut,
            format!(
                "The last {} bytes are no whole block{} and were not read.",
                whole - shape.size.0,
                match request.mode {
                    TransferMode::Direct => " of 4 KiB, as reading past the page cache needs it,",
                    _ => "",
                }
            ),
        ));
    }
    warnings.extend(streams.peers.as_ref().and_then(PeerStreams::words));
    warnings
}

fn findings_of(transfer: &Transfer) -> Vec<String> {
    let is_growing = transfer
        .series
        .iter()
        .any(|series| series.mode == TransferMode::SmallFile && series.title.ends_with(", again"));
    if !is_growing {
        return Vec::new();
    }
    vec![match transfer.memory_up_to_bytes {
        Some(bytes) => format!(
            "Files of up to {} came from memory when they were read again.",
            Bytes(bytes)
        ),
        None => "Not even the smallest file came from memory when it was read again.".into(),
    }]
}

impl TransferSession<'_> {
    fn run(&mut self) -> Result<()> {
        let (interrupt, check) = (self.interrupt, self.request.check);
        let lay_out = |streams: &mut TransferStreams, size| {
            step(streams, interrupt, |streams| {
                Ok(streams.lay_out(size, check)?)
            })
        };
        lay_out(&mut self.opened.streams, self.shape.size)?;
        let size = self.size_in_budget()?;
        if size < self.shape.size {
            self.shape.size = size;
            lay_out(&mut self.opened.streams, size)?;
        }
        let all = self.shape.series();
        let mut series_left = all.len() as u64;
        for mut plan in all {
            if let Some(budget) = self.request.whole_budget() {
                plan.rule.budget = budget.saturating_sub(self.spent) / series_left;
            }
            series_left -= 1;
            self.one_series(&plan)?;
            self.series_done += 1;
            if plan.kind == TransferKind::Write {
                step(&mut self.opened.streams, interrupt, |streams| {
                    Ok(streams.after_writing(check)?)
                })?;
            }
        }
        Ok(())
    }

    /// The size of files that are written and read in the budget, by how fast a part is written.
    fn size_in_budget(&mut self) -> Result<Bytes> {
        let (request, shape) = (self.request, self.shape.clone());
        let may_shrink = request.bench.size.is_none();
        let is_bounded = may_shrink || request.whole_budget().is_some();
        let series = shape.series();
        let part = (PROBE / request.unit()).max(1) * request.unit();
        let is_model = self.opened.streams.is_model();
        if shape.writers.is_empty() || is_model || !is_bounded || part >= shape.size.0 {
            return Ok(shape.size);
        }
        let probe = SeriesPlan {
            title: "writing a part, to see how fast that is".into(),
            size: part,
            ..series[0].clone()
        };
        let measure = || self.pass_now(&probe, 0, FILL_MAX);
        let (pass, _) = request.bench.cells.result(&probe.title, measure)?;
        self.spent += Duration::from_nanos(pass.elapsed_ns);
        let writers = shape.writers.len() as f64;
        let rate = pass.bytes as f64 / Duration(pass.elapsed_ns).as_secs_f64() / writers;
        let budget = request.rule.budget;
        // Each series once, those of parts by their part.
        let moved: u64 = series.iter().map(|it| it.size).sum();
        let passes = moved as f64 / shape.size.0 as f64;
        let left = budget.saturating_sub(self.spent).as_secs_f64();
        let fits = (rate * left * SPEED_MARGIN / passes) as u64 / request.unit() * request.unit();
        let least = if may_shrink { SIZE_LEAST } else { shape.size.0 };
        if fits >= least.min(shape.size.0) {
            return Ok(Bytes(fits).min(shape.size));
        }
        let takes = least as f64 * passes / rate;
        let needed = (self.spent.as_secs_f64() + takes / SPEED_MARGIN).ceil();
        let smaller = match fits >> 20 {
            1.. if !may_shrink => format!(" or --size {}MiB", fits >> 20),
            _ => String::new(),
        };
        Err(BenchError::Usage(format!(
            "--budget {budget}: writing and reading {} needs {takes:.0} s here, at {}/s. Use \
             --budget {needed}s{smaller}",
            Bytes(least),
            Bytes(rate as u64)
        )))
    }

    /// One pass, or what was kept of it before a kill. What is written is written again: it is
    /// read later.
    fn pass(
        &mut self,
        plan: &SeriesPlan,
        number: u32,
        left: Duration,
    ) -> Result<(TransferPass, Vec<Warning>)> {
        let request = self.request;
        let cells = &request.bench.cells;
        let of = format!("{}, pass {number}", plan.title);
        let leaves = plan.kind == TransferKind::Write || self.opened.streams.is_model();
        if leaves && !cells.is_replay_only() {
            let measured = self.pass_now(plan, number, left)?;
            cells.keep(&of, &measured);
            return Ok(measured);
        }
        cells.result(&of, || self.pass_now(plan, number, left))
    }

    fn pass_now(
        &mut self,
        plan: &SeriesPlan,
        number: u32,
        left: Duration,
    ) -> Result<(TransferPass, Vec<Warning>)> {
        let series_all = self.shape.series().len();
        let series_left = (series_all - self.series_done) as u64;
        let budget = self.request.rule.budget;
        let mut show = |title: &str, glimpse: &Glimpse| {
            (self.show)(&Stage {
                title,
                done: self.series_done as f64 / series_all as f64,
                elapsed: glimpse.elapsed,
                left: Some(budget * series_left),
                glimpse: Some(glimpse),
                ..Stage::default()
            });
        };
        let streams = &mut self.opened.streams;
        streams.pass(plan, number, left, self.interrupt, &mut show)
    }

    /// Whether another pass would not keep the time of the series, where all have a budget.
    fn is_over(&self, plan: &SeriesPlan, passes: &[TransferPass]) -> bool {
        let spent = passes.iter().map(|it| it.elapsed_ns).sum();
        let done = passes.len() as u32;
        let is_bounded = done > 0 && plan.rule.rounds.is_none();
        let budget = self.request.whole_budget().filter(|_| is_bounded);
        budget.is_some_and(|_| !fits_another(plan.rule.budget, done, Duration(spent)))
    }

    /// Measure one series. Its passes are kept even when a later one fails.
    fn one_series(&mut self, plan: &SeriesPlan) -> Result<()> {
        let mut count = PassCount::new(plan.rule);
        let mut passes = Vec::new();
        let mut warnings = Vec::new();
        let mut failed = None;
        while let Some(number) = count.next_pass() {
            if self.is_over(plan, &passes) {
                break;
            }
            let left = match self.request.whole_budget() {
                Some(budget) => most_within(budget).saturating_sub(self.spent),
                None if plan.kind == TransferKind::Write => FILL_MAX,
                None => FILL_MAX.max(plan.rule.budget),
            };
            let measured = self.pass(plan, number, left);
            match measured {
                Ok((pass, new)) => {
                    self.spent += Duration::from_nanos(pass.elapsed_ns);
                    count.record(pass.bytes, Duration::from_nanos(pass.elapsed_ns));
                    passes.push(pass);
                    for warning in new {
                        // One of a kind: the same is true of every pass.
                        if !warnings
                            .iter()
                            .any(|known: &Warning| known.code == warning.code)
                        {
                            warnings.push(warning);
                        }
                    }
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if !passes.is_empty() {
            self.series
                .push(series_of(plan, self.request.mode, &count, passes, warnings));
        }
        failed.map_or(Ok(()), Err)
    }
}

fn series_of(
    plan: &SeriesPlan,
    mode: TransferMode,
    count: &PassCount,
    passes: Vec<TransferPass>,
    mut warnings: Vec<Warning>,
) -> TransferSeries {
    let is_precise = count.is_precise();
    // What varies within one pass of many is in the spread of the passes.
    warnings.retain(|warning| warning.severity == Severity::Invalid || passes.len() == 1);
    warnings.extend(transfer_doubts(&plan.title, &passes, is_precise));
    let within = |place: usize| -> Option<Estimate> { passes[0].streams.get(place)?.within };
    let streams_known = passes
        .iter()
        .all(|pass| pass.streams.len() == plan.streams.len());
    let places = if streams_known {
        0..plan.streams.len()
    } else {
        0..0
    };
    let stream_rates = places
        .map(|place| {
            let of = |pass: &TransferPass| pass.streams[place].elapsed_ns as f64 / 1e9;
            let seconds: Vec<f64> = passes.iter().map(of).collect();
            let bytes = passes.iter().map(|pass| pass.streams[place].bytes).sum();
            procedure::rate_over(bytes, &seconds, plan.rule.end(), within(place))
        })
        .collect();
    let alone = if plan.streams.len() == 1 {
        within(0)
    } else {
        None
    };
    TransferSeries {
        title: plan.title.clone(),
        kind: plan.kind,
        mode,
        block_bytes: u64::from(plan.block),
        size_bytes: plan.size,
        streams: plan.streams.clone(),
        rate: count.rate(alone),
        stream_rates,
        is_precise,
        passes,
        warnings,
    }
}
