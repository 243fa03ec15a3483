//! `seekstone run`: the check-up.

use drivers::Caching;
use runner::check_up::{CheckUpRequest, check_up};

use crate::args::RunArgs;
use crate::args::parse::same_percentile;
use crate::commands::finish::deliver;
use crate::commands::setup::{Setup, setup};
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;

/// Check a target up.
///
/// # Errors
/// When nothing could be measured.
pub fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let (levels, percentile) = same_percentile(&args.levels)?;
    let Setup {
        bench,
        archive,
        interrupt,
    } = setup(
        &args.target,
        "check-up",
        args.size,
        Caching::Direct,
        &args.reach,
        &args.common,
    )?;
    let request = CheckUpRequest {
        bench,
        budget: args.budget,
        levels,
        percentile,
        clients_max: args.clients_max,
    };
    let mut progress = Progress::new(args.common.quiet);
    let measured = check_up(&request, &interrupt, &mut |stage| progress.show(stage));
    progress.finish();
    let mut run = measured?;
    deliver(&mut run, archive, &args.common, |run| {
        report::check_up(run, &output::style(args.all))
    })
}
