//! `seekstone whatif`: a model of a measured run, its scores, and what it predicts.

use archive::{Archive, ArchiveError};
use procedure::{
    Analysis, CacheClasses, Evidence, GROUPS_MIN, Inquiry, SystemChange, WhatIfQuestion,
    cache_classes, evidence,
};
use results::{Run, Status, Warning, WarningCode, WhatIf};
use workload::{ClientSpec, MixSpec, Pacing};

use crate::args::{RunChoice, WhatIfArgs};
use crate::commands::runs::run_of;
use crate::commands::setup::archive_path;
use crate::commands::what_if_device::same_load;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};

/// The version of the JSON form.
const SCHEMA: u32 = 1;

/// Fit, score and predict.
///
/// # Errors
/// When a run cannot be read or fitted, or a question has no answer.
pub fn what_if(args: &WhatIfArgs) -> anyhow::Result<Exit> {
    let path = archive_path(args.archive.as_ref())?;
    let archive = Archive::open_existing(&path)?;
    let load = |of: &[RunChoice]| of.iter().map(|it| run_of(&archive, *it)).collect();
    let runs: Result<Vec<Run>, ArchiveError> = load(&args.runs);
    let runs = runs?;
    let checks: Result<Vec<Run>, ArchiveError> = load(&args.check);
    let checks = checks?;
    drop(archive);
    refuse_doubles(runs.iter().chain(&checks))?;
    let evidence = all_evidence(&runs, &checks)?;
    let count = evidence.points.len();
    let name = evidence.clients_name;
    let seed = runs[0].settings.seed;
    let analysis = Analysis::new(evidence, seed).ok_or_else(|| {
        UsageError(format!(
            "{count} points are too few. A fit and its test take {GROUPS_MIN} numbers of {name} \
             that are a quarter apart. Measure a curve with several --level, name several runs of \
             the same workload, or further ones with --check"
        ))
    })?;
    let mut found = found(&runs, &analysis);
    let change = change(args, &runs, &analysis)?;
    if found.refusal.is_none() {
        for question in questions(args, &analysis) {
            let inquiry = Inquiry {
                question,
                change,
                may_extrapolate: args.extrapolate,
            };
            let prediction = analysis.predict(&inquiry);
            let mut prediction = prediction.map_err(UsageError::of)?;
            prediction.question.push_str(&changed(args));
            found.predictions.push(prediction);
            if let WhatIfQuestion::Load(load) = question {
                let open = analysis.predict_open(load, change, args.extrapolate);
                let open = open.map_err(UsageError::of)?;
                found.predictions.extend(open.map(|mut open| {
                    open.question.push_str(&changed(args));
                    open
                }));
            }
        }
        if !args.loads.is_empty() {
            found.warnings.push(closed_and_open(&analysis));
        }
    }
    if let Some(device) = &args.device {
        let workload = workload_of(&runs[0]);
        let (rows, stopped) = same_load(device, &analysis.evidence, workload, args, seed)?;
        found.device = Some(device.to_string());
        found.device_rows = rows;
        if stopped {
            found.warnings.push(Warning::warn(
                WarningCode::DevicePartial,
                "The simulated device was stopped before every number of clients was done.",
            ));
        }
    }
    deliver(args, &found)
}

/// What the two answers at a load are about.
fn closed_and_open(analysis: &Analysis) -> Warning {
    let name = analysis.evidence.clients_name;
    let think = match analysis.evidence.think.value {
        0.0 => "starts the next operation as soon as its last one is done",
        _ => "thinks after its last operation is done",
    };
    Warning::info(
        WarningCode::ClosedLoad,
        format!(
            "a closed load comes from that many {name}, each of which {think}, so no more than \
             that many ever wait. An open load arrives at that rate however many are waiting, as \
             with `seekstone trial --rate`. It waits longer, and near saturation many times longer."
        ),
    )
}

fn deliver(args: &WhatIfArgs, found: &WhatIf) -> anyhow::Result<Exit> {
    let takes_stdout = args.json.as_ref().is_some_and(Output::is_stdout);
    if !takes_stdout {
        output::print(report::what_if(found, &output::style(true)).trim_end())?;
    }
    if let Some(path) = &args.json {
        path.write(&report::what_if_json(found).into())?;
    }
    Ok(if found.refusal.is_some() {
        output::complain(
            "error: the model is too inaccurate to predict from. Its scores are \
            above",
        );
        Exit::Failed
    } else if found
        .warnings
        .iter()
        .any(|it| it.code == WarningCode::DevicePartial)
    {
        Exit::Failed
    } else {
        Exit::Done
    })
}

fn refuse_doubles<'a>(runs: impl Iterator<Item = &'a Run>) -> Result<(), UsageError> {
    let all: Vec<i64> = runs.filter_map(|run| run.id).collect();
    for (index, id) in all.iter().enumerate() {
        if all[..index].contains(id) {
            refuse!("run {id} is named twice: a model is not tested on the data it was fitted to");
        }
    }
    Ok(())
}

/// The points of all runs, and those that no fit sees.
fn all_evidence(runs: &[Run], checks: &[Run]) -> Result<Evidence, UsageError> {
    let of = |run: &Run| evidence(run, workload_of(run).map(think_ns)).map_err(UsageError::of);
    let refuse = |error: procedure::EvidenceError| UsageError(error.to_string());
    let id = |run: &Run| run.id.unwrap_or_default();
    let (first, others) = runs.split_first().expect("a run is required");
    let mut all = of(first)?;
    for run in others {
        all.join(of(run)?, (id(first), id(run))).map_err(refuse)?;
    }
    for run in checks {
        all.check_with(of(run)?, (id(first), id(run)))
            .map_err(refuse)?;
    }
    Ok(all)
}

/// What each client of a curve did.
fn workload_of(run: &Run) -> Option<&MixSpec> {
    match run.curve()?.workload.as_ref()? {
        ClientSpec::Mix(spec) => Some(spec),
        _ => None,
    }
}

/// The mean think time, nanoseconds.
fn think_ns(spec: &MixSpec) -> f64 {
    match spec.pacing {
        Pacing::Closed { think } => think.mean_ns,
        Pacing::Open { .. } => 0.0,
    }
}

fn found(runs: &[Run], analysis: &Analysis) -> WhatIf {
    let evidence = &analysis.evidence;
    let partial = runs.iter().filter_map(|run| match &run.status {
        Status::Partial { reason } => Some((run.id.unwrap_or_default(), reason)),
        Status::Complete => None,
    });
    let rivals = (!analysis.rivals.is_empty()).then(|| {
        Warning::info(
            WarningCode::RivalModels,
            format!(
                "other models predict about as well ({}). Within the measured range that makes no \
                 difference. But do not read the parameters as parts of the storage.",
                analysis.rivals.join("; ")
            ),
        )
    });
    let warnings = partial.map(|(id, reason)| {
        Warning::info(
            WarningCode::PartialRun,
            format!("run {id} was stopped early ({reason}): what it had measured is fitted."),
        )
    });
    WhatIf {
        schema: SCHEMA,
        runs: runs.iter().filter_map(|run| run.id).collect(),
        title: evidence.title.clone(),
        clients_name: evidence.clients_name.into(),
        points: evidence.points.len() as u32,
        think: evidence.think,
        range: analysis.range,
        model: analysis.model_in_words().into(),
        parameters: analysis.parameters.clone(),
        scores: analysis.scores.clone(),
        unseen: analysis.unseen.clone(),
        refusal: analysis.refusal(),
        predictions: Vec::new(),
        device: None,
        device_rows: Vec::new(),
        warnings: warnings.chain(rivals).collect(),
    }
}

/// What was asked; of a changed system without a question, the load that was measured.
fn questions(args: &WhatIfArgs, analysis: &Analysis) -> Vec<WhatIfQuestion> {
    let clients = args
        .clients
        .iter()
        .map(|&clients| WhatIfQuestion::Clients(clients));
    let loads = args
        .loads
        .iter()
        .map(|load| WhatIfQuestion::Load(load.per_second()));
    let levels = args.levels.iter();
    let levels = levels.map(|level| WhatIfQuestion::Level(level.as_nanos() as f64));
    let mut questions: Vec<WhatIfQuestion> = clients.chain(loads).chain(levels).collect();
    if questions.is_empty() && (args.servers.is_some() || args.cache.is_some()) {
        let range = analysis.range;
        questions = vec![
            WhatIfQuestion::Clients(range.clients_min),
            WhatIfQuestion::Clients(range.clients_max),
        ];
    }
    questions
}

/// How the system shall differ.
fn change(
    args: &WhatIfArgs,
    runs: &[Run],
    analysis: &Analysis,
) -> Result<SystemChange, UsageError> {
    let mut change = SystemChange::default();
    if let Some(servers) = args.servers {
        if !analysis.has_servers() {
            refuse!(
                "--servers: the model, {}, has no servers of which there could be others",
                analysis.model_in_words()
            );
        }
        change.servers = Some(f64::from(servers));
    }
    if let Some(share) = args.cache {
        let classes = runs.iter().find_map(cache_classes);
        let classes = classes.filter(|_| analysis.has_service()).ok_or_else(|| {
            UsageError(
                "--cache: none of these runs shows cache and device apart. That takes a \
                 measurement of single reads with two latency peaks, as in `seekstone run`"
                    .into(),
            )
        })?;
        change.service_factor = Some(CacheClasses::factor(&classes, share));
    }
    Ok(change)
}

/// The change in words.
fn changed(args: &WhatIfArgs) -> String {
    let servers = args.servers.map(|servers| {
        let plural = if servers == 1 { "" } else { "s" };
        format!(", {servers} server{plural}")
    });
    let cache = args
        .cache
        .map(|share| format!(", the cache answers {:.0} %", share * 100.0));
    servers.into_iter().chain(cache).collect()
}
