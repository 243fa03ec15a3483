//! `curve` over several targets, or with a file of workloads.

use kinds::fio_jobs::{CurveOfTargets, FioRequest, LoadShares, TargetWorkload, curve_of_targets};
use lab::bench::BenchRequest;
use lab::simulated::keep_texts;
use procedure::CurveOptions;
use results::Setup;
use units::{Duration, Rate, format_counted};

use crate::args::CurveArgs;
use crate::commands::drive::Ready;
use crate::commands::trial::title;
use crate::commands::trial_targets::{
    jobs, measured, of_options, refuse, require_there, targets, workloads_of,
};
use crate::exit::UsageError;

/// A point ends when it is precise, or at its own time.
const ENDLESS: Duration = Duration::from_secs(86_400);
/// What a workload of the options is given as its rate: only the proportion counts, and every whole
/// percentage of it is a whole number.
const ANY_RATE: Rate = Rate(100.0);

/// Measure the load curve of several targets or workloads at once.
///
/// # Errors
/// When options do not go together, or the file of workloads has a mistake.
pub fn ready(
    args: &CurveArgs,
    mut bench: BenchRequest,
    options: CurveOptions,
) -> anyhow::Result<Ready<'_>> {
    refuse(&[
        (args.workload.files > 1, "--files"),
        (args.workload.poll, "--poll"),
        (args.workload.sharing.shared, "--shared"),
        (!args.common.goals.is_empty(), "--goal"),
    ])?;
    require_there(&args.target, &args.others)?;
    let setup = &mut bench.setup;
    args.others.iter().for_each(|it| keep_texts(it, setup));
    let workloads = workloads(args, setup)?;
    let targets = targets(&args.target, &args.others, args.workload.size)?;
    let jobs = jobs(&workloads, &targets, ENDLESS)?;
    let shares = match (args.open, &args.workload_file) {
        (true, _) => LoadShares::of_rates(&jobs),
        (false, Some(_)) => LoadShares::of_clients(&jobs),
        (false, None) => LoadShares::InTurn,
    };
    let title = match &args.workload_file {
        Some(path) => {
            let count = format_counted(jobs.len() as u64, "workload");
            format!("{}: {count}", path.display())
        }
        None => title(&args.workload, None),
    };
    let asked = CurveOfTargets {
        options: fitted(&shares, options, args.clients_max)?,
        shares,
        title,
    };
    let request = FioRequest {
        bench,
        jobs,
        keeps_files: false,
        shape: None,
    };
    Ok(measured(
        &args.common,
        request,
        move |request, interrupt, show| curve_of_targets(request, &asked, (interrupt, show)),
    ))
}

fn fitted(
    shares: &LoadShares,
    options: CurveOptions,
    clients_max: u32,
) -> Result<CurveOptions, UsageError> {
    let least = shares.clients_each();
    shares.fit(options).ok_or_else(|| {
        UsageError(format!(
            "--clients-max {clients_max}: the workloads have {least} clients at least where their \
             proportions are kept. Allow more, or give them fewer"
        ))
    })
}

/// The workloads of the file, or the one of the options.
fn workloads(args: &CurveArgs, setup: &mut Setup) -> anyhow::Result<Vec<TargetWorkload>> {
    let Some(path) = &args.workload_file else {
        let mut own = of_options(&args.workload)?;
        own.rate = args.open.then_some(ANY_RATE);
        return Ok(vec![own]);
    };
    let read = workloads_of(path, setup)?;
    for (number, workload) in (1..).zip(&read) {
        if let Some(why) = unfit(workload, args.open) {
            let name = workload.name.clone().unwrap_or_else(|| format!("{number}"));
            refuse!("workload {name:?}: {why}");
        }
    }
    Ok(read)
}

/// Why a workload has no curve.
fn unfit(workload: &TargetWorkload, is_open: bool) -> Option<&'static str> {
    let has_rate = workload.rate.is_some();
    if workload.has_own_course() {
        return Some(
            "start, duration, bytes and operations are for a trial. The points of a curve begin \
             and end as their precision asks",
        );
    }
    if workload.verify {
        return Some("verify is for a trial");
    }
    match is_open {
        false if has_rate => Some(
            "rate: a curve varies clients, and --open varies the rates of all workloads. Leave \
             rate out, or add --open",
        ),
        true if !has_rate => Some(
            "--open varies the rates of all workloads, and this one has none. Give it a rate, of \
             which only the proportion counts",
        ),
        true if workload.think.is_some() => {
            Some("think: arrivals of --open wait for nobody. Leave it out")
        }
        true if workload.is_constant == Some(true) => {
            Some("shape: arrivals of --open are random. Leave it out")
        }
        _ => None,
    }
}
