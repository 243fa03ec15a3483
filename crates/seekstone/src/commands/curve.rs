//! `seekstone curve`: response time against load.

use kinds::single_load::{LoadQuestion, LoadRequest, measure_load};
use procedure::{CurveOptions, POINTS_MIN};
use results::{Arrivals, Setup};
use units::Duration;

use crate::args::parse::same_percentile;
use crate::args::{CURVE_BUDGET, CurveArgs};
use crate::commands::curve_targets;
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::levels;
use crate::commands::trial::{caching, one_target, reach_as_asked, spec, think, title};
use crate::exit::UsageError;

/// The most sources of random arrivals, each of which offers 1/32 of what one client does that
/// never thinks.
const SOURCES_MAX: u32 = 1 << 16;
/// A point that is cited lasts so long, however soon it is precise: it shows what comes in 10 s ...
const POINT_LEAST: Duration = Duration::from_secs(30);
/// ... or this part of a smaller budget; at three levels there are seven of them.
const POINT_PART: f64 = 0.05;

impl MeasuringCommand for CurveArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let targets = self.others.iter().chain([&self.target]);
        CommandOutline::of(&self.common, targets, self.workload.sharing)
            .refused_if(one_target(&self.others, self.workload_file.as_ref()))
            .reads(self.workload_file.clone())
            .rows([])
            .drawn(None)
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let (asked, percentile) = same_percentile(&self.levels)?;
        let levels = levels(asked, &setup);
        let mut bench = self
            .reach
            .bench(&self.target, "load curve", &self.common, setup)?;
        bench.size = self.workload.size;
        bench.storage.caching = caching(self.workload.buffered);
        let all = std::iter::once(&self.target).chain(&self.others);
        let budget = match self.open {
            true => CURVE_BUDGET.fit_open(self.budget, all, &mut bench.setup),
            false => CURVE_BUDGET.fit(self.budget, all, &mut bench.setup),
        };
        warm_up_fits(self, budget)?;
        reach_as_asked(&self.workload, &mut bench)?;
        let options = CurveOptions {
            levels,
            percentile,
            arrivals: if self.open {
                Arrivals::Open
            } else {
                Arrivals::Closed
            },
            clients_max: if self.open {
                SOURCES_MAX
            } else {
                self.clients_max
            },
            precision: self.precision,
            warm_up: self.warm_up,
            scout_min: budget.mul_f64(0.004).min(Duration::from_secs(1)),
            scout_max: budget.mul_f64(0.06),
            final_min: budget.mul_f64(POINT_PART).min(POINT_LEAST),
            final_max: budget.mul_f64(0.25),
            budget: Some(budget),
            ..CurveOptions::default()
        };
        if !self.others.is_empty() || self.workload_file.is_some() {
            return curve_targets::ready(self, bench, options);
        }
        let request = LoadRequest {
            bench,
            spec: spec(&self.workload, think(&self.workload))?,
            subject: title(&self.workload, None),
            title: title(&self.workload, None),
            question: LoadQuestion::Curve(options),
            goals: self.common.goals.clone(),
            follower: None,
        };
        Ok(self.common.ready(request, |it| &it.bench, measure_load))
    }
}

/// Every point has a warm-up, and what is left of the budget has to be enough for a curve.
fn warm_up_fits(args: &CurveArgs, budget: Duration) -> Result<(), UsageError> {
    match args.warm_up {
        Some(warm_up) if warm_up * POINTS_MIN >= budget => Err(UsageError(format!(
            "--warm-up {warm_up}: each of at least {POINTS_MIN} points of a curve leaves that \
             out. Nothing would be left of --budget {budget}. Use a longer --budget or a \
             shorter --warm-up"
        ))),
        _ => Ok(()),
    }
}
