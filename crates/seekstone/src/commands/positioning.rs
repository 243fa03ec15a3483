//! `seekstone positioning`: times to the first record of files that are opened in random order.

use anyhow::Context as _;
use host::interrupt::Interrupt;
use kinds::positioning::{PositioningRequest, Published, measure_positioning};

use crate::args::PositioningArgs;
use crate::commands::setup::fresh_seed;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};

/// The longest record.
const RECORD_MAX: u64 = 1 << 30;

/// Open files on a model, and say how long it took.
///
/// # Errors
/// When the model does not exist, or nothing could be measured.
pub fn positioning(args: &PositioningArgs) -> anyhow::Result<Exit> {
    if args.record.0 > RECORD_MAX {
        let text = format!("--record {}: at most 1 GiB", args.record);
        return Err(UsageError(text).into());
    }
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let request = PositioningRequest {
        target: args.target.clone(),
        files: args.files,
        record: args.record,
        rounds: args.rounds,
        bin: args.bin,
        published: if args.published {
            Published::Dlt2000
        } else {
            Published::Nothing
        },
        seed: args.seed.unwrap_or_else(fresh_seed),
    };
    let mut reported = 0;
    let found = measure_positioning(&request, &interrupt, &mut |round| {
        let tenths = round * 10 / args.rounds;
        if tenths > reported && !args.quiet && args.rounds * args.files > LONG {
            reported = tenths;
            output::complain(&format!("{round} of {} rounds", args.rounds));
        }
    })?;
    let is_stdout = |output: &Option<Output>| output.as_ref().is_some_and(Output::is_stdout);
    if !is_stdout(&args.json) && !is_stdout(&args.svg) {
        output::print(report::positioning(&found, &output::style(true)).trim_end())?;
    }
    if let Some(path) = &args.svg {
        path.write(&report::positioning_svg(&found).into())?;
    }
    if let Some(path) = &args.json {
        path.write(&report::positioning_json(&found).into())?;
    }
    Ok(if found.rounds < args.rounds {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// From so many files on progress is shown.
const LONG: u32 = 1_000_000;
