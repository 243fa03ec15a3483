//! `seekstone ssd`: the steady state of an SSD.

use drivers::PurgeMethod;
use kinds::ssd::{SsdRequest, measure_ssd};
use procedure::{RoundTime, SsdOptions, SsdTest};
use results::Setup;
use units::Duration;

use crate::args::{PurgeChoice, SsdArgs, WriteCacheChoice};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::exit::UsageError;

/// Rounds of the standard: time, and number of tests that are no write saturation.
const ROUND: Duration = Duration::from_secs(60);
const ROUNDS: u32 = 25;
const BUDGET: Duration = Duration::from_secs(24 * 3600);
/// The same of a quick run.
const ROUND_QUICK: Duration = Duration::from_secs(5);
const BUDGET_QUICK: Duration = Duration::from_secs(600);
const PRECISION_QUICK: f64 = 0.05;
/// Shorter rounds hold no second of anything.
const ROUND_MIN: Duration = Duration::from_millis(100);

impl MeasuringCommand for SsdArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .alone(
                self.purge != PurgeChoice::None,
                "--purge discards on one host",
            )
            .alone(
                self.write_cache == WriteCacheChoice::Off,
                "--write-cache switches a drive of one host",
            )
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let mut tests: Vec<SsdTest> = Vec::new();
        for &test in &self.tests {
            if tests.contains(&test) {
                refuse!("--test: {} is given twice", test.name());
            }
            tests.push(test);
        }
        let options = options(self, &tests)?;
        let purge = purge(self)?;
        let mut bench =
            self.reach
                .bench(&self.target, "steady state of an SSD", &self.common, setup)?;
        bench.size = self.size;
        let request = SsdRequest {
            bench,
            tests,
            depth: self.depth,
            options,
            precondition: self.precondition,
            purge,
            cache_off: self.write_cache == WriteCacheChoice::Off,
        };
        Ok(self.common.ready(request, |it| &it.bench, measure_ssd))
    }
}

fn options(args: &SsdArgs, tests: &[SsdTest]) -> Result<SsdOptions, UsageError> {
    let (round, budget) = match args.quick {
        true => (ROUND_QUICK, BUDGET_QUICK),
        false => (ROUND, BUDGET),
    };
    let round = args.round.unwrap_or(round);
    if round < ROUND_MIN {
        refuse!("--round {round}: a load of a round needs at least {ROUND_MIN}");
    }
    let time = match args.quick {
        true => RoundTime::Precise {
            precision: args.precision.unwrap_or(PRECISION_QUICK),
            most: round,
        },
        false => RoundTime::Whole(round),
    };
    let is_saturation = tests == [SsdTest::Wsat];
    Ok(SsdOptions {
        time,
        rounds_max: args.rounds.or((!is_saturation).then_some(ROUNDS)),
        budget: args.budget.unwrap_or(budget),
        trend_limit: args.trend,
        capacities: args.capacities,
        scale: args
            .round
            .map_or(1.0, |it| it.as_secs_f64() / ROUND.as_secs_f64()),
    })
}

/// What no program should do unasked to a device is shown as the command that does it.
fn purge(args: &SsdArgs) -> Result<Option<PurgeMethod>, UsageError> {
    let own = |command: &str| {
        Err(UsageError(format!(
            "--purge: Seekstone does not do this itself. Run `{command}`, wait for it to finish, \
             and leave --purge out"
        )))
    };
    match args.purge {
        PurgeChoice::None => Ok(None),
        PurgeChoice::Discard => Ok(Some(PurgeMethod::Discard)),
        PurgeChoice::Punch => Ok(Some(PurgeMethod::Punch)),
        PurgeChoice::Format => own(&format!("nvme format {} --ses=1", args.target)),
        PurgeChoice::Sanitize => own(&format!("nvme sanitize {} --sanact=2", args.target)),
    }
}
