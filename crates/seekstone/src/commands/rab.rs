//! `seekstone rab`: the workloads of the RAID Performance Test.

use std::path::{Path, PathBuf};

use kinds::rab::{RabRequest, measure_rab};
use lab::budget::TimeSetting;
use procedure::RabOptions;
use results::{Run, Setup};
use units::Bytes;
use workload::WorkloadDefinition;

use crate::args::parse::same_percentile;
use crate::args::{RAB_BUDGET, RabArgs};
use crate::commands::drive::{Onlooking, Ready};
use crate::commands::finish::Delivery;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::recorded_text;
use crate::exit::{Exit, UsageError};
use crate::onlooker::Onlooker;
use crate::output;

/// How large a file that defines a workload is at most, and what it is called.
const DEFINITION: (Bytes, &str) = (Bytes::from_mib(1), "a workload file");

/// Print the definition of a workload.
///
/// # Errors
/// When there is none of that name.
pub fn print_workload(name: &str) -> anyhow::Result<Exit> {
    output::print(text_of(name)?.trim_end())
}

impl MeasuringCommand for RabArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .for_hosts(self.print_workload.is_none())
            .reads(self.workload.iter().map(PathBuf::from))
            .drawn(None)
    }

    fn instead(&self, _setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        let name = self.print_workload.as_ref();
        name.map(|it| print_workload(it)).transpose()
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let workloads = workloads(&self.workload, &mut setup)?;
        if self.levels.is_empty() && self.response_min >= self.response_max {
            refuse!(
                "--response-min {} must be below --response-max {}",
                self.response_min,
                self.response_max
            );
        }
        if self.duration.is_some() && !self.mode.is_endless() {
            refuse!(
                "--for applies to modes that run until stopped: add --mode continuous, or use \
                --repeat"
            );
        }
        let mut bench = self
            .reach
            .bench(&self.target, "RABmarks", &self.common, setup)?;
        bench.size = self.size;
        let (levels, percentile) = same_percentile(&self.levels)?;
        let rate = self.iops_per_client.map(|rate| rate.per_second());
        let highest = levels.iter().max().copied();
        let target = [&self.target];
        let budget = budget_for(&workloads, rate).fit(self.budget, target, &mut bench.setup);
        let request = RabRequest {
            bench,
            workloads,
            options: RabOptions {
                levels,
                percentile,
                response_min: self.response_min,
                response_max: highest.unwrap_or(self.response_max),
                precision: self.precision,
                clients_max: self.clients_max,
                warm_up: self.warm_up,
                budget,
            },
            iops_per_client: rate,
            budget,
            runs: self.runs,
            duration: self.duration,
            mode: self.mode,
        };
        let bench = request.bench.clone();
        Ok(Ready::on(&self.common, &bench, move |looking| {
            on_screen(self, &request, looking)
        }))
    }
}

/// Operations per second of each client that the default budget is made for.
const USUAL_RATE: f64 = 20.0;

/// The budget for clients of these workloads: a model gets more time where one client alone, whose
/// time the levels are made from, asks more rarely than usual.
fn budget_for(workloads: &[(u32, WorkloadDefinition)], rate: Option<f64>) -> TimeSetting {
    let types = workloads
        .iter()
        .flat_map(|(_, it)| it.at_rate(rate).types().to_vec());
    let rates = types.filter_map(|kind| Some(1e9 / kind.clock?.mean_ns));
    let rarest = rates.fold(USUAL_RATE, f64::min);
    TimeSetting {
        brief: RAB_BUDGET.brief.mul_f64(rarest / USUAL_RATE),
        ..RAB_BUDGET
    }
}

fn on_screen<'a>(
    args: &RabArgs,
    request: &RabRequest,
    looking: &Onlooking<'_>,
) -> anyhow::Result<(Run, Delivery<'a>)> {
    let mut onlooker = Onlooker::new("seekstone rab", args.no_screen, looking);
    let measured = measure_rab(request, looking.interrupt, &mut onlooker);
    if args.stay && measured.is_ok() {
        onlooker.linger(looking.interrupt);
    }
    onlooker.close();
    Ok((measured?, Delivery::report(looking.all)))
}

/// The workloads asked for, with their numbers.
fn workloads(
    asked: &[String],
    setup: &mut Setup,
) -> anyhow::Result<Vec<(u32, WorkloadDefinition)>> {
    if asked.is_empty() {
        let all = WorkloadDefinition::all_built_in();
        setup.resolve("workload", all.iter().map(|it| it.name.clone()));
        for it in &all {
            setup.keep_text(&it.name, &it.to_toml());
        }
        return Ok((1..).zip(all).collect());
    }
    let mut found: Vec<(u32, WorkloadDefinition)> = Vec::new();
    let mut own = BUILT_IN_COUNT;
    for name in asked {
        let name = name.trim();
        let text = workload_text(name, setup)?;
        let definition = parsed(name, &text)?;
        setup.keep_text(name, &text);
        let number = match number_of(&definition) {
            Some(number) => number,
            None => {
                own += 1;
                own
            }
        };
        if found.iter().any(|(_, known)| known.name == definition.name) {
            refuse!("--workload names {name} twice");
        }
        found.push((number, definition));
    }
    Ok(found)
}

/// Workloads that are built in; a user's own are numbered from the next.
const BUILT_IN_COUNT: u32 = 7;

fn number_of(definition: &WorkloadDefinition) -> Option<u32> {
    let built_in = WorkloadDefinition::all_built_in();
    let mut numbered = (1..).zip(&built_in);
    numbered
        .find(|(_, known)| *known == definition)
        .map(|(number, _)| number)
}

/// The text that defines a workload: as recorded, as built in, or in a file.
fn workload_text(name: &str, setup: &mut Setup) -> anyhow::Result<String> {
    let (path, is_recorded) = (Path::new(name), setup.text_of(name).is_some());
    let looks_like_a_file = name.contains(['/', '.']) || path.exists();
    match WorkloadDefinition::built_in_text(name) {
        Some(text) if !is_recorded => Ok(text.to_owned()),
        None if !is_recorded && !looks_like_a_file => Err(unknown(name).into()),
        _ => recorded_text(path, DEFINITION, setup),
    }
}

fn parsed(name: &str, text: &str) -> Result<WorkloadDefinition, UsageError> {
    WorkloadDefinition::parse(text, name).map_err(UsageError::of)
}

fn text_of(name: &str) -> anyhow::Result<String> {
    if let Some(text) = WorkloadDefinition::built_in_text(name) {
        return Ok(text.to_owned());
    }
    let text = workload_text(name, &mut Setup::new("rab", 0))?;
    Ok(parsed(name, &text)?.to_toml())
}

fn unknown(name: &str) -> UsageError {
    let names: Vec<String> = WorkloadDefinition::all_built_in()
        .into_iter()
        .map(|definition| definition.name)
        .collect();
    UsageError(format!(
        "there is no workload {name:?}: use {}, a number from 1 to {BUILT_IN_COUNT}, or a \
         TOML file",
        names.join(", ")
    ))
}
