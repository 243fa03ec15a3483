//! `seekstone curve`: response time against load.

use procedure::{CurveOptions, Levels};
use runner::single_load::{LoadRequest, Question, measure_load};
use units::Duration;

use crate::args::CurveArgs;
use crate::commands::finish::deliver;
use crate::commands::runs::show;
use crate::commands::setup::{Setup, setup};
use crate::commands::trial::{caching, spec, think, title};
use crate::exit::Exit;
use crate::progress::Progress;

/// Measure a load curve.
///
/// # Errors
/// When nothing could be measured.
pub fn curve(args: &CurveArgs) -> anyhow::Result<Exit> {
    let Setup {
        bench,
        archive,
        interrupt,
    } = setup(
        &args.target,
        "load curve",
        args.workload.size,
        caching(&args.workload),
        &args.reach,
        &args.common,
    )?;
    let options = CurveOptions {
        levels: match args.levels.as_slice() {
            [] => Levels::Grid { count: 3 },
            levels => Levels::Explicit(levels.to_vec()),
        },
        clients_max: args.clients_max,
        precision: args.precision,
        scout_min: args.budget.mul_f64(0.004).min(Duration::from_secs(1)),
        scout_max: args.budget.mul_f64(0.06),
        final_min: args.budget.mul_f64(0.02).min(Duration::from_secs(5)),
        final_max: args.budget.mul_f64(0.25),
        budget: Some(args.budget),
        ..CurveOptions::default()
    };
    let request = LoadRequest {
        bench,
        spec: spec(&args.workload, think(&args.workload))?,
        title: title(&args.workload, None),
        question: Question::Curve(options),
    };
    let mut progress = Progress::new(args.common.quiet);
    let measured = measure_load(&request, &interrupt, &mut |stage| progress.show(stage));
    progress.finish();
    deliver(&mut measured?, archive, &args.common, |run| {
        show(run, false)
    })
}
