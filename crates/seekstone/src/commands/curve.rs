//! `seekstone curve`: response time against load.

use procedure::{CurveOptions, Levels};
use results::Arrivals;
use runner::single_load::{LoadRequest, Question, measure_load};
use units::Duration;

use crate::args::CurveArgs;
use crate::args::parse::same_percentile;
use crate::commands::finish::deliver;
use crate::commands::runs::show;
use crate::commands::setup::{Setup, setup};
use crate::commands::trial::{caching, spec, think, title};
use crate::exit::Exit;
use crate::progress::Progress;

/// The most sources of random arrivals, each of which offers 1/32 of what one client does that
/// never thinks.
const SOURCES_MAX: u32 = 1 << 16;

/// Measure a load curve.
///
/// # Errors
/// When nothing could be measured.
pub fn curve(args: &CurveArgs) -> anyhow::Result<Exit> {
    let (levels, percentile) = same_percentile(&args.levels)?;
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
        levels: match levels.as_slice() {
            [] => Levels::Grid { count: 3 },
            _ => Levels::Explicit(levels),
        },
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
