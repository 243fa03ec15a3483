//! Arguments of `seekstone replay`, and formats of traces.

use std::path::PathBuf;

use clap::Args;
use kinds::replay::BeyondEnd;
use trace::Format;
use units::{Bytes, Duration, TargetName};

use super::parse::within;
use super::parse::{parse_level, parse_size, parse_target};
use super::words::{one_of, words};
use super::{Common, RankSharing, Reach};

/// Requests outstanding where the trace's times are ignored.
pub const DEPTH_FAST: u32 = 32;

/// `seekstone replay`.
#[derive(Args, Debug)]
#[command(after_help = help!("replay"))]
pub struct ReplayArgs {
    /// Trace: fio's iolog (version 2 or 3), blktrace's NAME.blktrace.0 or CSV. The first bytes tell
    /// which. blktrace's files of the other CPUs are found next to it.
    pub trace: PathBuf,
    /// Directory, file, block device or `sim:NAME`. Files and devices are only read without
    /// --overwrite.
    #[arg(value_parser = parse_target)]
    pub target: TargetName,
    /// The trace's format, if its first bytes do not tell.
    #[arg(long, value_parser = one_of(TRACE_FORMATS), value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Replay only this file or device of the trace (repeatable) [default: all, side by side on the
    /// target].
    #[arg(long = "device", value_name = "NAME")]
    pub devices: Vec<String>,
    /// Replay speed, as in 2x or 0.5x.
    #[arg(
        long, value_name = "FACTOR", default_value = "1x", value_parser = parse_scale,
        allow_hyphen_values = true
    )]
    pub scale: SpeedFactor,
    /// Ignore the recorded times: keep --depth requests outstanding.
    #[arg(long, conflicts_with = "scale")]
    pub as_fast_as_possible: bool,
    /// Maximum queue depth [default: as many requests as arrive in 100 ms, at least 256, with
    /// --as-fast-as-possible 32].
    #[arg(long, value_parser = within::<u32>(1..=drivers::DEPTH_MAX as i64))]
    pub depth: Option<u32>,
    /// Handle requests beyond the target's end.
    #[arg(long, value_parser = one_of(FITS), default_value = "refuse")]
    pub fit: BeyondEnd,
    /// Stop after this long, even in mid-trace.
    #[arg(long, value_parser = parse_level)]
    pub duration: Option<Duration>,
    /// Test file size, or part of the target to use [default: what the trace needs].
    #[arg(long, value_parser = parse_size)]
    pub size: Option<Bytes>,
    /// Use the page cache (buffered I/O).
    #[arg(long)]
    pub buffered: bool,
    /// Whether the ranks of a fleet share the target.
    #[command(flatten)]
    pub sharing: RankSharing,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: Reach,
    /// What every measuring command takes.
    #[command(flatten)]
    pub common: Common,
}

impl ReplayArgs {
    /// Requests that may be outstanding, unless they are chosen from the trace's rate.
    pub fn depth_known(&self) -> Option<u32> {
        let fast = self.as_fast_as_possible.then_some(DEPTH_FAST);
        self.depth.or(fast)
    }
}

/// Speed relative to the recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedFactor(pub f64);

fn parse_scale(text: &str) -> Result<SpeedFactor, String> {
    const BOUNDS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
    let number = text.strip_suffix(['x', 'X']).unwrap_or(text);
    match number.parse::<f64>() {
        Ok(factor) if BOUNDS.contains(&factor) => Ok(SpeedFactor(factor)),
        Ok(_) => Err("must be between 0.001x and 1000x".into()),
        Err(_) => Err("use a factor, such as 2x or 0.5x".into()),
    }
}

words! {
    /// Formats of traces.
    pub(super) TRACE_FORMATS: Format =
        Iolog "iolog" "fio's I/O log, version 2 or 3";
        Blktrace "blktrace" "blktrace's binary files";
        Msr "msr"
            "MSR Cambridge: time (100 ns), host, disk, Read or Write, offset, size, response time";
        Alibaba "alibaba" "Alibaba: device, R or W, offset, length, time (us)";
        Tencent "tencent" "Tencent: time (s), offset and size (sectors), 0 or 1, volume";
        Spc "spc" "Storage Performance Council: unit, block, size, R or W, time (s)";
        Vscsi "vscsi" "VMware vscsiStats: time (us), block, length, operation code of SCSI";
        Recording "recording" "what `seekstone record` writes";
}

words! {
    /// What to do with requests beyond the target's end.
    FITS: BeyondEnd =
        Modulo "modulo" "Wrap them around to its first byte";
        Clip "clip" "Leave them out";
        Refuse "refuse" "Refuse to replay the trace";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_factor() {
        let check = |text, expected: Result<f64, &str>| {
            let found = parse_scale(text).map(|it| it.0);
            assert_eq!(found, expected.map_err(Into::into), "{text}");
        };
        check("2x", Ok(2.0));
        check("0.5", Ok(0.5));
        for text in ["0x", "-1x", "1e9x", "NaN", "inf"] {
            check(text, Err("must be between 0.001x and 1000x"));
        }
        check("fast", Err("use a factor, such as 2x or 0.5x"));
    }
}
