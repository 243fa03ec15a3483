//! A log of DISKMBPS: each job is a run with its passes.

use procedure::rate_over;
use results::{
    Run, Setup, StreamPass, Transfer, TransferKind, TransferMode, TransferPass, TransferSeries,
    TransferStream, Warning, WarningCode,
};
use stats::RepeatsEnd;
use units::TargetName;

use super::{LogText, blank_run};
use crate::diskmbps::{BLOCK_BYTES, LoggedJob, LoggedPass, PassKind, decimals};

/// Resolution of the file size in the log, megabytes.
const SIZE_DIGIT: f64 = 0.1;
/// Passes whose printed time is coarser than this share are reported.
const COARSE: f64 = 0.01;

/// A run for each job with passes.
pub(super) fn runs(jobs: &[LoggedJob], log: LogText<'_>) -> Vec<Run> {
    let with_passes = jobs.iter().filter(|job| !job.passes.is_empty());
    with_passes.map(|job| run_of(job, log)).collect()
}

fn run_of(job: &LoggedJob, log: LogText<'_>) -> Run {
    let target = job.file.as_deref().unwrap_or("the data file");
    let host = job.host().unwrap_or("unknown");
    let mut run = blank_run("diskmbps", target, Some(&job.began));
    host.clone_into(&mut run.environment.host_name);
    run.settings = Setup::new("diskmbps", 0)
        .with("log", log.file)
        .with("job", &job.name);
    let mode = if TargetName::from(target).is_model() {
        TransferMode::Simulated
    } else {
        TransferMode::Buffered
    };
    let (writes, reads): (Vec<_>, Vec<_>) = job
        .passes
        .iter()
        .partition(|pass| pass.kind == PassKind::Write);
    let passes = reads.len() as u32;
    let series = [(TransferKind::Write, writes), (TransferKind::Read, reads)];
    let series: Vec<TransferSeries> = series
        .into_iter()
        .filter(|(_, passes)| !passes.is_empty())
        .map(|(kind, passes)| series_of(job, kind, mode, &passes))
        .collect();
    let seconds: f64 = job.passes.iter().map(|pass| pass.seconds).sum();
    run.elapsed_ns = nanos(seconds);
    run.findings = vec![format!("diskmbps {} on {host}, {target}", job.name)];
    let found = Transfer {
        host_name: host.to_owned(),
        precision: None,
        passes: Some(passes),
        check: "last".into(),
        streams: vec![TransferStream {
            number: 1,
            target: target.to_owned(),
            device: None,
            host: None,
        }],
        series,
        comparisons: Vec::new(),
        memory_up_to_bytes: None,
        hosts: Vec::new(),
    };
    run.tables = found.tables();
    run.warnings = doubts(job, mode);
    run
}

fn series_of(
    job: &LoggedJob,
    kind: TransferKind,
    mode: TransferMode,
    logged: &[&LoggedPass],
) -> TransferSeries {
    let title = match kind {
        TransferKind::Write => "write, 64 KiB",
        TransferKind::Read => "read, 64 KiB",
    };
    let passes: Vec<TransferPass> = logged
        .iter()
        .enumerate()
        .map(|(index, pass)| pass_of(job, pass, index as u32 + 1))
        .collect();
    let seconds: Vec<f64> = logged.iter().map(|pass| pass.seconds).collect();
    let bytes = passes.iter().map(|pass| pass.bytes).sum();
    let rate = rate_over(bytes, &seconds, RepeatsEnd::LookedAt, None);
    TransferSeries {
        title: title.into(),
        kind,
        mode,
        block_bytes: BLOCK_BYTES as u64,
        size_bytes: passes.first().map_or(0, |pass| pass.bytes),
        streams: vec![1],
        rate,
        stream_rates: vec![rate],
        // A number of passes was requested, not a precision.
        is_precise: true,
        passes,
        warnings: Vec::new(),
    }
}

fn pass_of(job: &LoggedJob, pass: &LoggedPass, number: u32) -> TransferPass {
    let bytes = pass.bytes(job);
    let elapsed_ns = nanos(pass.seconds);
    let rate = bytes as f64 / pass.seconds.max(1e-9);
    let stamp = pass.stamp.as_ref();
    TransferPass {
        number,
        bytes,
        elapsed_ns,
        rate,
        overlap_share: 1.0,
        streams: vec![StreamPass {
            stream: 1,
            bytes,
            elapsed_ns,
            rate,
            within: None,
        }],
        blocks: None,
        cpu_ns: None,
        cpu_user_ns: None,
        cpu_system_ns: None,
        page_cache_share: None,
        device_rate: None,
        ended_at: stamp.map(|(.., at)| at.clone()),
        ended_monotonic_ns: stamp.map_or(0, |(_, at, _)| nanos(*at)),
    }
}

fn nanos(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

fn doubts(job: &LoggedJob, mode: TransferMode) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if mode == TransferMode::Buffered {
        warnings.push(Warning::info(
            WarningCode::ClassicCache,
            "The log does not say how much of what was read came from the page cache.",
        ));
    }
    let off = job.passes.iter().map(uncertainty).fold(0.0, f64::max);
    if off > COARSE {
        warnings.push(Warning::warn(
            WarningCode::CoarseTimes,
            format!(
                "The log prints few digits of seconds and size: the rate of its least known pass \
                 may be off by {:.0} %.",
                off * 100.0
            ),
        ));
    }
    warnings
}

/// Uncertainty of a pass's rate from its printed digits.
fn uncertainty(pass: &LoggedPass) -> f64 {
    // The document's program prints two decimals, however short a pass is.
    let decimals = pass.stamp.as_ref().map_or(2, |_| decimals(pass.seconds));
    let last_digit = 0.1_f64.powi(decimals as i32);
    // The size of an existing file has one decimal.
    let of_size = pass
        .size_mb
        .map_or(0.0, |size| SIZE_DIGIT / 2.0 / size.max(1e-9));
    last_digit / 2.0 / pass.seconds.max(1e-9) + of_size
}
