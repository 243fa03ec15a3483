//! `seekstone curve`: response time against load.

use kinds::single_load::{LoadQuestion, LoadRequest, measure_load};
use kinds::stage::Show;
use procedure::{CurveOptions, POINTS_MIN};
use results::{Arrivals, Setup};
use units::Duration;

use crate::args::parse::same_percentile;
use crate::args::{CURVE_BUDGET, CurveArgs};
use crate::commands::curve_targets;
use crate::commands::drive::Ready;
use crate::commands::setup::{bench_request, levels};
use crate::commands::trial::{caching, reach_as_asked, spec, think, title};
use crate::exit::UsageError;

/// The most sources of random arrivals, each of which offers 1/32 of what one client does that
/// never thinks.
const SOURCES_MAX: u32 = 1 << 16;

/// Measure a load curve.
///
/// # Errors
/// When options do not go together.
pub fn ready(args: &CurveArgs, setup: Setup) -> anyhow::Result<Ready<'_>> {
    let (asked, percentile) = same_percentile(&args.levels)?;
    let levels = levels(asked, &setup);
    let mut bench = bench_request(
        &args.target,
        "load curve",
        args.workload.size,
        caching(&args.workload),
        &args.reach,
        (&args.common, setup),
    )?;
    let all = std::iter::once(&args.target).chain(&args.others);
    let budget = match args.open {
        true => CURVE_BUDGET.fit_open(args.budget, all, &mut bench.setup),
        false => CURVE_BUDGET.fit(args.budget, all, &mut bench.setup),
    };
    warm_up_fits(args, budget)?;
    reach_as_asked(&args.workload, &mut bench)?;
    let options = CurveOptions {
        levels,
        percentile,
        arrivals: if args.open {
            Arrivals::Open
        } else {
            Arrivals::Closed
        },
        clients_max: if args.open {
            SOURCES_MAX
        } else {
            args.clients_max
        },
        precision: args.precision,
        warm_up: args.warm_up,
        scout_min: budget.mul_f64(0.004).min(Duration::from_secs(1)),
        scout_max: budget.mul_f64(0.06),
        final_min: budget.mul_f64(0.02).min(Duration::from_secs(5)),
        final_max: budget.mul_f64(0.25),
        budget: Some(budget),
        ..CurveOptions::default()
    };
    if !args.others.is_empty() || args.workload_file.is_some() {
        return curve_targets::ready(args, bench, options);
    }
    let request = LoadRequest {
        bench,
        spec: spec(&args.workload, think(&args.workload))?,
        subject: title(&args.workload, None),
        title: title(&args.workload, None),
        question: LoadQuestion::Curve(options),
        goals: args.common.goals.clone(),
        follower: None,
    };
    let bench = request.bench.clone();
    let measure = move |interrupt: &_, show: Show<'_>| measure_load(&request, interrupt, show);
    Ok(Ready::new(&args.common, &bench, measure))
}

/// Every point has a warm-up, and what is left of the budget has to be enough for a curve.
fn warm_up_fits(args: &CurveArgs, budget: Duration) -> Result<(), UsageError> {
    match args.warm_up {
        Some(warm_up) if warm_up * POINTS_MIN >= budget => Err(UsageError(format!(
            "--warm-up {warm_up}: each of at least {POINTS_MIN} points of a curve leaves that \
             out, and nothing would be left of --budget {budget}; use a longer --budget or a \
             shorter --warm-up"
        ))),
        _ => Ok(()),
    }
}
