//! `seekstone replay`: a recorded trace on another storage.

use drivers::Caching;
use kinds::replay::{ReplayRequest, TraceFile, measure_replay};
use kinds::stage::Show;
use results::{ReplayPace, Setup};

use crate::args::{DEPTH_FAST, ReplayArgs, TraceFormat};
use crate::commands::drive::Ready;
use crate::commands::setup::bench_request;

/// Replay a trace.
///
/// # Errors
/// When options do not go together, or the trace is none.
pub fn ready(args: &ReplayArgs, setup: Setup) -> anyhow::Result<Ready<'_>> {
    let caching = match args.buffered {
        true => Caching::Buffered,
        false => Caching::Direct,
    };
    let bench = bench_request(
        &args.target,
        "replay",
        args.size,
        caching,
        &args.reach,
        (&args.common, setup),
    )?;
    let format = args.format.map(TraceFormat::format);
    let request = ReplayRequest {
        bench,
        trace: TraceFile::find(&args.trace, format, args.devices.clone())?,
        pace: match args.as_fast_as_possible {
            true => ReplayPace::Fast {
                depth: args.depth.unwrap_or(DEPTH_FAST),
            },
            false => ReplayPace::Recorded {
                scale: args.scale.0,
            },
        },
        depth: args.depth,
        fit: args.fit.fit(),
        duration: args.duration,
    };
    let bench = request.bench.clone();
    let measure = move |interrupt: &_, show: Show<'_>| measure_replay(&request, interrupt, show);
    Ok(Ready::new(&args.common, &bench, measure))
}
