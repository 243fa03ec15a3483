//! `seekstone run`: the check-up.

use clap::CommandFactory as _;
use drivers::Caching;
use kinds::check_up::{CheckUpRequest, check_up};
use kinds::stage::Show;
use procedure::Requirement;
use results::Setup;

use crate::args::parse::same_percentile;
use crate::args::{RUN_BUDGET, RunArgs, Seekstone};
use crate::commands::drive::Ready;
use crate::commands::setup::{bench_request, levels};
use crate::exit::UsageError;
use crate::habits::{is_job_file, on_job_file};

/// Check a target up.
///
/// # Errors
/// When options do not go together.
pub fn ready(args: &RunArgs, setup: Setup) -> anyhow::Result<Ready<'_>> {
    if is_job_file(&args.target) {
        let definition = Seekstone::command();
        return Err(UsageError(on_job_file(&args.target, &definition)).into());
    }
    let (asked, percentile) = same_percentile(&args.levels)?;
    let levels = levels(asked, &setup);
    let mut bench = bench_request(
        &args.target,
        "check-up",
        args.size,
        Caching::Direct,
        &args.reach,
        (&args.common, setup),
    )?;
    let request = CheckUpRequest {
        budget: RUN_BUDGET.fit(args.budget, [&args.target], &mut bench.setup),
        bench,
        levels,
        percentile,
        clients_max: args.clients_max,
        goals: goals(args),
    };
    let goals = request.goals.clone();
    let bench = request.bench.clone();
    let measure = move |interrupt: &_, show: Show<'_>| check_up(&request, interrupt, show);
    Ok(Ready {
        goals,
        ..Ready::new(&args.common, &bench, measure)
    })
}

/// The goals that were typed, and those of the profiles; what two profiles ask for, once.
fn goals(args: &RunArgs) -> Vec<Requirement> {
    let of_profiles = args.profiles.iter().flat_map(|it| it.0.requirements());
    let mut goals = args.common.goals.clone();
    for goal in of_profiles {
        if !goals.contains(&goal) {
            goals.push(goal);
        }
    }
    goals
}
