//! `seekstone trial --repeat`: the same trial several times, each a run of its own, and one answer
//! over all of them.

use std::cell::RefCell;

use procedure::{over_runs, verdict};
use results::{Run, Setup, Status};

use super::drive::{Ready, drive};
use super::finish::Delivery;
use super::measuring::MeasuringCommand as _;
use super::runs::show;
use super::setup::fresh_seed;
use crate::args::{Outputs, TrialArgs};
use crate::exit::{Exit, UsageError};
use crate::output;

/// Measure as often as is asked for.
///
/// # Errors
/// When options do not go together, or nothing could be measured.
pub fn repeat(args: &TrialArgs, setup: &Setup) -> anyhow::Result<Exit> {
    refuse_single_files(args)?;
    let first = args.common.seed.unwrap_or_else(fresh_seed);
    let runs = RefCell::new(Vec::new());
    for number in 0..args.repeat {
        let mut one = args.clone();
        one.common.seed = Some(first.wrapping_add(number.into()));
        one.common.outputs = Outputs::default();
        drive(kept_in(&runs, one.ready(setup.clone())?))?;
        let is_stopped = |it: &Run| it.status != Status::Complete;
        if runs.borrow().last().is_some_and(is_stopped) {
            break;
        }
    }
    let mut run = over_runs(&runs.into_inner());
    run.goals = args.common.goals.iter().map(|it| it.judge(&run)).collect();
    run.verdict = Some(verdict(&run));
    deliver(args, &run)
}

/// What a trial writes once would be written over by the next.
fn refuse_single_files(args: &TrialArgs) -> Result<(), UsageError> {
    let given = [
        ("--iolog", args.iolog.is_some()),
        ("--verify-state", args.verify_state.is_some()),
        ("--live", args.common.live.is_some()),
        ("--workload", args.workload_file.is_some()),
        ("a second target", !args.others.is_empty()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((what, _)) => Err(UsageError(format!(
            "--repeat measures one load on one target several times: leave out {what}"
        ))),
        None => Ok(()),
    }
}

/// The same, whose run is kept in `runs` and not shown.
fn kept_in<'a>(runs: &'a RefCell<Vec<Run>>, ready: Ready<'a>) -> Ready<'a> {
    let measure = ready.measure;
    Ready {
        measure: Box::new(move |looking| {
            let (run, _) = measure(looking)?;
            let delivery = Delivery {
                show: Box::new(|_, _| Ok(())),
                is_for_programs: true,
                after: Box::new(move |run| {
                    runs.borrow_mut().push(run.clone());
                    Ok(())
                }),
                exit: Exit::of_run,
            };
            Ok((run, delivery))
        }),
        ..ready
    }
}

/// Show the answer over all runs, and write the forms that were asked for.
fn deliver(args: &TrialArgs, run: &Run) -> anyhow::Result<Exit> {
    let outputs = &args.common.outputs;
    if !outputs.have_stdout() {
        output::print(show(run, args.common.all).trim_end())?;
    }
    for (form, output) in outputs.asked() {
        output.write(&form.write(run)?)?;
    }
    Ok(Exit::of_run(run))
}
