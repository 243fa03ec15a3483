//! `seekstone run`: the check-up.

use clap::CommandFactory as _;
use host::environment;
use kinds::application::{ApplicationRequest, measure_applications};
use kinds::check_up::{CheckUpRequest, check_up};
use kinds::stage::Show;
use lab::bench::BenchRequest;
use procedure::{ApplicationProfile, Requirement};
use results::Setup;
use units::Duration;

use crate::args::parse::same_percentile;
use crate::args::{ProfileChoice, RUN_BUDGET, RunArgs, Seekstone};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::levels;
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
        let mut bench = self
            .reach
            .bench(&self.target, "check-up", &self.common, setup)?;
        bench.size = self.size;
        let budget = RUN_BUDGET.fit(self.budget, [&self.target], &mut bench.setup);
        if !self.profiles.is_empty() {
            return Ok(self.applications(&bench, budget));
        }
        let request = CheckUpRequest {
            bench,
            budget,
            levels,
            percentile,
            clients_max: self.clients_max,
            goals: self.common.goals.clone(),
        };
        let bench = request.bench.clone();
        let measure = move |interrupt: &_, show: Show<'_>| check_up(&request, interrupt, show);
        Ok(Ready::new(&self.common, &bench, measure))
    }
}

impl RunArgs {
    /// What applications need, in place of the check-up.
    fn applications(&self, bench: &BenchRequest, budget: Duration) -> Ready<'_> {
        let mut profiles: Vec<ApplicationProfile> = Vec::new();
        for ProfileChoice(profile) in &self.profiles {
            if !profiles.contains(profile) {
                profiles.push(profile.clone());
            }
        }
        let mut goals: Vec<Requirement> = Vec::new();
        goals.extend(profiles.iter().flat_map(ApplicationProfile::requirements));
        goals.extend(self.common.goals.iter().cloned());
        let request = ApplicationRequest {
            bench: bench.clone(),
            budget,
            profiles,
            cores: environment::capture().cpus_allowed,
            goals: self.common.goals.clone(),
        };
        let measure =
            move |interrupt: &_, show: Show<'_>| measure_applications(&request, interrupt, show);
        Ready {
            goals,
            ..Ready::new(&self.common, bench, measure)
        }
    }
}
