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
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::{bench_request, levels};
use crate::exit::UsageError;
use crate::habits::{is_job_file, on_job_file};

impl MeasuringCommand for RunArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .rows([])
            .drawn(None)
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        if is_job_file(&self.target) {
            let definition = Seekstone::command();
            return Err(UsageError(on_job_file(&self.target, &definition)).into());
        }
        let (asked, percentile) = same_percentile(&self.levels)?;
        let levels = levels(asked, &setup);
        let mut bench = bench_request(
            &self.target,
            "check-up",
            self.size,
            Caching::Direct,
            &self.reach,
            (&self.common, setup),
        )?;
        let request = CheckUpRequest {
            budget: RUN_BUDGET.fit(self.budget, [&self.target], &mut bench.setup),
            bench,
            levels,
            percentile,
            clients_max: self.clients_max,
            goals: goals(self),
        };
        let goals = request.goals.clone();
        let bench = request.bench.clone();
        let measure = move |interrupt: &_, show: Show<'_>| check_up(&request, interrupt, show);
        Ok(Ready {
            goals,
            ..Ready::new(&self.common, &bench, measure)
        })
    }
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
