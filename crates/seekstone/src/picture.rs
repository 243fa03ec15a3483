//! Which picture shows some runs.

use std::collections::BTreeSet;

use results::{Curve, Measurement, Run};

use crate::exit::UsageError;

/// The intervals of trials, a comparison's sides, or the load curves of runs.
///
/// # Errors
/// When a run has none of them.
pub fn picture(runs: &[Run]) -> Result<String, UsageError> {
    let drawn = over_time(runs).or_else(|| match runs {
        [run] => report::ratios_of_run_svg(run).or_else(|| {
            let is_curve = !run.curves.is_empty();
            report::tables_svg(run).filter(|_| !is_curve)
        }),
        _ => None,
    });
    if let Some(drawn) = drawn {
        return Ok(drawn);
    }
    let mut curves = Vec::new();
    for run in runs {
        let known = curves.len();
        curves.extend(run.curves.iter().map(|curve| (run, curve)));
        if curves.len() == known {
            refuse!(
                "run {} has nothing to plot. Plots need a load curve (`seekstone curve`, \
                 `seekstone rab`) or a trial's intervals (`seekstone trial --interval`)",
                run.id.unwrap_or_default()
            );
        }
    }
    let title = curves[0].1.title.clone();
    let is_one = curves.iter().all(|(_, curve)| curve.title == title);
    let named = curves.iter().map(|(run, curve)| {
        let name = match is_one {
            true => run.target.given.clone(),
            false => format!("{}, {}", curve.title, run.target.given),
        };
        (*run, name)
    });
    let names = numbered(named.collect());
    let named: Vec<(&str, &Curve)> = names
        .iter()
        .zip(&curves)
        .map(|(name, (_, curve))| (name.as_str(), *curve))
        .collect();
    let title = match is_one {
        true => format!("{title}: load curve"),
        false => "load curves".into(),
    };
    let drawn = report::curves_svg(&title, &named);
    drawn.ok_or_else(|| UsageError("no point of the load curve was measured".into()))
}

/// Names of what is drawn, with the numbers of the runs where two would be called the same.
fn numbered(named: Vec<(&Run, String)>) -> Vec<String> {
    let names: BTreeSet<&String> = named.iter().map(|(_, name)| name).collect();
    let are_distinct = names.len() == named.len();
    let number = |(run, name): (&Run, String)| match run.id {
        Some(id) if !are_distinct => format!("{name}, run {id}"),
        _ => name,
    };
    named.into_iter().map(number).collect()
}

/// The first measurement that was cut into intervals.
fn with_intervals(run: &Run) -> Option<&Measurement> {
    run.measurements.iter().find(|it| it.series.is_some())
}

/// The intervals of trials: of one its load over time, or its latency, where its load was asked
/// for; of several their latencies.
fn over_time(runs: &[Run]) -> Option<String> {
    let trials: Option<Vec<(&Run, &Measurement)>> = runs
        .iter()
        .map(|run| Some((run, with_intervals(run)?)))
        .collect();
    let trials = trials?;
    if let [(run, first)] = trials[..] {
        let name = format!("{}: {}", run.target.given, first.title);
        return match first.offered {
            Some(_) => report::latency_svg(&name, &[("mean latency", first)]),
            None => report::series_svg(&run.target.given, first),
        };
    }
    let (run, first) = trials.first()?;
    let is_one_target = trials
        .iter()
        .all(|it| it.0.target.given == run.target.given);
    let is_one_title = trials.iter().all(|it| it.1.title == first.title);
    let named = trials.iter().map(|(run, it)| {
        let name = match (is_one_target, is_one_title) {
            (true, _) => it.title.clone(),
            (false, true) => run.target.given.clone(),
            (false, false) => format!("{}, {}", it.title, run.target.given),
        };
        (*run, name)
    });
    let names = numbered(named.collect());
    let title = match is_one_target {
        true => run.target.given.as_str(),
        false => "latency over time",
    };
    let named: Vec<(&str, &Measurement)> = names
        .iter()
        .zip(&trials)
        .map(|(name, (_, it))| (name.as_str(), *it))
        .collect();
    report::latency_svg(title, &named)
}
