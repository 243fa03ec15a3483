//! `trial` over several targets, or with a file of workloads; and a trial as a job file of fio's.

use std::path::{Path, PathBuf};

use drivers::{Caching, free_space};
use fio::Job;
use host::inspect::InspectError;
use host::interrupt::Interrupt;
use kinds::fio_jobs::{
    FioRequest, JobTarget, TargetWorkload, TrialShape, block_sizes, read_workloads,
    trial_of_targets, whole_percent,
};
use kinds::stage::Show;
use lab::bench::{BenchError, BenchRequest, directory_of};
use lab::simulated::keep_texts;
use lab::test_file::SIZE_DEFAULT;
use procedure::{OfferedFigures, OfferedRow, Requirement};
use results::{Run, Setup};
use units::{Bytes, Duration, TargetName, exact_percent, format_counted};
use workload::GapShape;

use crate::args::{Common, TrialArgs, WorkloadArgs};
use crate::commands::drive::Ready;
use crate::commands::setup::recorded_text;
use crate::commands::trial::{announce, ends, title};
use crate::exit::{Exit, UsageError, missing_is_usage};
use crate::output;

/// A test file whose size nobody gave takes one part in this many of what is free.
const ROOM_PART: u64 = 2;
/// And has at least this size.
const SIZE_MIN: Bytes = Bytes::from_mib(4);
/// How large a file of workloads is at most, and what it is called.
const WORKLOADS: (Bytes, &str) = (Bytes::from_mib(1), "a file of workloads");

/// Measure several targets, or several workloads, in one trial of at most `time`.
///
/// # Errors
/// When options do not go together, or the file of workloads has a mistake.
pub fn ready(
    args: &TrialArgs,
    mut bench: BenchRequest,
    time: Duration,
) -> anyhow::Result<Ready<'_>> {
    refuse(&[
        (args.iolog.is_some(), "--iolog"),
        (args.depth.is_some(), "--depth"),
        (args.workload.files > 1, "--files"),
        (args.workload.poll, "--poll"),
        (args.workload.sharing.shared, "--shared"),
    ])?;
    require_there(&args.target, &args.others)?;
    let setup = &mut bench.setup;
    args.others.iter().for_each(|it| keep_texts(it, setup));
    let given = given(args, setup)?;
    let jobs = jobs_of(args, &given, time)?;
    let offered = jobs.iter().map(|job| job.name.clone());
    check_goals(offered, &args.common.goals)?;
    let (goal, duration_max) = ends(args, time);
    let goal = goal.filter(|_| !given.iter().any(TargetWorkload::has_own_course));
    if goal.is_some() {
        announce(args, time);
    }
    let shape = TrialShape {
        title: title_of(args, &jobs),
        goal,
        duration_max,
        sample_every: args.interval,
        warm_up: args.warm_up,
    };
    bench.storage.verify_state.clone_from(&args.verify_state);
    // Each workload says how it is cached.
    bench.storage.caching = Caching::Direct;
    let request = FioRequest {
        bench,
        jobs,
        keeps_files: false,
        shape: Some(shape),
    };
    Ok(measured(&args.common, request, trial_of_targets))
}

/// A command that carries a request out.
pub fn measured<'a>(
    common: &'a Common,
    request: FioRequest,
    measure: impl FnOnce(&FioRequest, &Interrupt, Show<'_>) -> Result<Run, BenchError> + 'a,
) -> Ready<'a> {
    let directories = request.jobs.iter().flat_map(|job| &job.files.directories);
    let bench = request.bench.clone();
    Ready {
        places: directories.map(Into::into).collect(),
        ..Ready::new(common, &bench, move |interrupt, show| {
            measure(&request, interrupt, show)
        })
    }
}

/// Print the job file of fio's that comes nearest to a trial.
///
/// # Errors
/// When options do not go together.
pub fn print_as_fio(args: &TrialArgs) -> anyhow::Result<Exit> {
    output::print(as_fio(args, &mut Setup::new("trial", 0))?.trim_end())?;
    Ok(Exit::Done)
}

/// That job file, with what fio does otherwise above it.
///
/// # Errors
/// When options do not go together, or there is no such job.
pub fn as_fio(args: &TrialArgs, setup: &mut Setup) -> anyhow::Result<String> {
    let mut targets = args.others.iter().chain([&args.target]);
    if let Some(model) = targets.find(|it| it.is_model()) {
        refuse!(
            "--as-fio: {model} is a model, and fio has none. Name a file, a directory or a device"
        );
    }
    let mut jobs = jobs_of(args, &given(args, setup)?, args.budget)?;
    for job in &mut jobs {
        // fio makes a file of this name in the directory, and leaves it there.
        job.files.format = job.files.format.replace("seekstone-trial-", "fio-trial-");
        if job.engine.name == "null" {
            job.files.names.clear();
        }
    }
    let is_verified = jobs.iter().any(|job| job.verify.is_on);
    jobs.iter_mut().for_each(|job| job.verify.is_on = false);
    let mut notes = vec![
        "# Made by Seekstone. fio runs for the whole runtime. Seekstone stops as",
        "# soon as the result is precise, unless --duration is given.",
    ];
    if is_verified {
        notes.push(
            "# --verify is left out: with random offsets and a runtime fio reads blocks back",
        );
        notes.push("# that it has not written, and calls them wrong.");
    }
    let in_order = |job: &Job| !job.pattern.is_random && job.depth.max(job.copies) > 1;
    if jobs.iter().any(in_order) {
        notes.push(
            "# Here each client reads or writes in order from a place of its own. Fio's jobs",
        );
        notes.push("# do so from the file's beginning.");
    }
    if jobs
        .iter()
        .any(|job| job.pace.rates.iter().any(Option::is_some))
    {
        notes.push("# fio counts latency from issue, not from when a request of the rate was due.");
    }
    Ok(format!(
        "{}\n\n{}",
        notes.join("\n"),
        fio::job_file_text(&jobs)
    ))
}

/// Options that are for one target and one workload.
///
/// # Errors
/// Names the first that was given.
pub fn refuse(given: &[(bool, &str)]) -> Result<(), UsageError> {
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(UsageError(format!(
            "{option} works with a single target and workload. Leave it out"
        ))),
        None => Ok(()),
    }
}

/// The workloads: those of the file, or the one of the options.
fn given(args: &TrialArgs, setup: &mut Setup) -> anyhow::Result<Vec<TargetWorkload>> {
    let Some(path) = &args.workload_file else {
        let mut own = of_options(&args.workload)?;
        own.clients = Some(args.clients());
        own.rate = args.rate;
        own.verify = args.verify;
        if own.rate.is_some() {
            own.is_constant = Some(is_constant(args.workload.shape)?);
        }
        return Ok(vec![own]);
    };
    let mut read = workloads_of(path, setup)?;
    read.iter_mut().for_each(|it| it.verify |= args.verify);
    Ok(read)
}

/// The workloads of a file, which `setup` keeps.
///
/// # Errors
/// When it cannot be read, or has a mistake.
pub fn workloads_of(path: &Path, setup: &mut Setup) -> anyhow::Result<Vec<TargetWorkload>> {
    let text = recorded_text(path, WORKLOADS, setup).map_err(missing_is_usage)?;
    Ok(read_workloads(&path.to_string_lossy(), &text).map_err(UsageError::of)?)
}

/// The workload of the options.
///
/// # Errors
/// When it is one that only a trial of one target has.
pub fn of_options(args: &WorkloadArgs) -> Result<TargetWorkload, UsageError> {
    use workload::Pattern;
    let pattern = match args.pattern {
        known @ (Pattern::Sequential { .. } | Pattern::Uniform | Pattern::Zipf { .. }) => {
            known.to_string()
        }
        Pattern::Hyperbolic { .. } | Pattern::ExponentialSteps { .. } | Pattern::Zoned { .. } => {
            refuse!(
                "--pattern: hyperbolic and exponential work with a single target, and do not \
                    exist in fio"
            );
        }
    };
    let think = args.think.as_nanos() > 0;
    if think && args.shape != GapShape::Constant {
        refuse!("--think is constant with several targets, and in fio: add --shape constant");
    }
    let block = block_sizes(&args.block.to_exact_string());
    let writes = whole_percent(&exact_percent(args.writes));
    Ok(TargetWorkload {
        block: Some(block.map_err(|why| UsageError(format!("block: {why}")))?),
        pattern: Some(pattern),
        writes: writes.map_err(|why| UsageError(format!("writes: {why}")))?,
        think: think.then_some(args.think),
        durable: args.durable,
        buffered: args.buffered,
        ..TargetWorkload::default()
    })
}

fn is_constant(choice: GapShape) -> Result<bool, UsageError> {
    match choice {
        GapShape::Constant => Ok(true),
        GapShape::Exponential => Ok(false),
        GapShape::Uniform => Err(UsageError(
            "--shape uniform works with a single target, and does not exist in fio".into(),
        )),
    }
}

fn jobs_of(
    args: &TrialArgs,
    given: &[TargetWorkload],
    budget: Duration,
) -> Result<Vec<Job>, UsageError> {
    let targets = targets(&args.target, &args.others, args.workload.size)?;
    let (_, longest) = ends(args, budget);
    jobs(given, &targets, longest)
}

/// Methods of fio's `verify`, which people type behind `--verify`.
const VERIFY_METHODS: [&str; 12] = [
    "crc16", "crc32", "crc32c", "crc64", "crc7", "md5", "pattern", "sha1", "sha256", "sha512",
    "xxhash", "meta",
];

/// What is measured is there already: a file that is missing is a slip, not one to be made.
///
/// # Errors
/// Names the first that is missing.
pub fn require_there(first: &TargetName, others: &[TargetName]) -> Result<(), UsageError> {
    let mut all = std::iter::once(first).chain(others);
    match all.find(|it| it.path().is_some_and(|path| !path.exists())) {
        None => Ok(()),
        Some(method) if VERIFY_METHODS.contains(&method.as_str()) => Err(UsageError(format!(
            "--verify takes no method: each sector has a CRC-32C. Leave {method} out"
        ))),
        Some(missing) => Err(UsageError(
            InspectError::Missing(missing.into()).to_string(),
        )),
    }
}

/// The targets, each once.
///
/// # Errors
/// When they do not go together.
pub fn targets(
    first: &TargetName,
    others: &[TargetName],
    size: Option<Bytes>,
) -> Result<Vec<JobTarget>, UsageError> {
    let all = || std::iter::once(first).chain(others);
    let chosen = size.unwrap_or_else(|| default_size(all().filter_map(directory_of)));
    let mut targets: Vec<JobTarget> = Vec::new();
    for given in all() {
        if targets.iter().any(|it| it.given == *given) {
            refuse!("{given} is named twice");
        }
        let is_directory = directory_of(given).is_some();
        let needs_size = is_directory || given.is_null();
        targets.push(JobTarget {
            given: given.clone(),
            number: targets.len() + 1,
            is_directory,
            size: size.or(needs_size.then_some(chosen)),
        });
    }
    let kind = |it: &JobTarget| (it.given.is_null(), it.given.is_model());
    let is_mixed = targets.iter().any(|it| kind(it) != kind(&targets[0]));
    if is_mixed {
        refuse!(
            "models and real storage run on different clocks: name either models or real \
             targets"
        );
    }
    Ok(targets)
}

/// The size of the test file in each directory: one for all, for which the smallest has room.
fn default_size(directories: impl Iterator<Item = PathBuf>) -> Bytes {
    let free = directories.filter_map(|it| free_space(&it).ok());
    let room = free.map(|it| it.available.saturating_sub(it.reserve) / it.copies() / ROOM_PART);
    let room = room.min().unwrap_or(u64::MAX);
    let whole = Bytes::from_mib(room / Bytes::from_mib(1).0);
    whole.max(SIZE_MIN).min(SIZE_DEFAULT)
}

/// A job for each workload on each of its targets.
///
/// # Errors
/// Names the workload and its key that is wrong.
pub fn jobs(
    workloads: &[TargetWorkload],
    targets: &[JobTarget],
    longest: Duration,
) -> Result<Vec<Job>, UsageError> {
    let mut jobs: Vec<Job> = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        let name = workload.name.clone();
        let of = |why: String| match &name {
            Some(name) => UsageError(format!("workload {name:?}: {why}")),
            None => UsageError(why),
        };
        let is_asked = |it: &&JobTarget| {
            let asked = &workload.targets;
            asked.is_empty() || asked.iter().any(|asked| is_called(it, asked))
        };
        let known = |asked: &&String| targets.iter().any(|it| is_called(it, asked));
        if let Some(unknown) = workload.targets.iter().find(|asked| !known(asked)) {
            return Err(of(format!(
                "targets: {unknown} is not among the named targets"
            )));
        }
        let own: Vec<&JobTarget> = targets.iter().filter(is_asked).collect();
        for target in &own {
            let plain = match (&workload.name, own.len(), workloads.len()) {
                (Some(name), 1, _) => name.clone(),
                (Some(name), ..) => format!("{name}@{}", target.label()),
                (None, _, 1) => target.label(),
                (None, ..) => format!("{}@{}", number + 1, target.label()),
            };
            let numbered = (2..).map(|number| format!("{plain}-{number}"));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            let is_free = |name: &String| jobs.iter().all(|job| job.name != *name);
            let name = names.find(is_free).unwrap_or(plain);
            jobs.push(workload.job(target, &name, longest).map_err(of)?);
        }
    }
    Ok(jobs)
}

fn is_called(target: &JobTarget, name: &str) -> bool {
    target.given.as_str() == name || target.label() == name
}

/// What is done, in words.
fn title_of(args: &TrialArgs, jobs: &[Job]) -> String {
    match &args.workload_file {
        Some(path) => {
            let count = format_counted(jobs.len() as u64, "workload");
            format!("{}: {count}", path.display())
        }
        None => {
            let load = (args.clients(), args.rate.map(|rate| rate.per_second()));
            let each = title(&args.workload, Some(load));
            format!("{each} on each of {} targets", jobs.len())
        }
    }
}

/// Goals are on the whole trial, or on the row of a workload.
fn check_goals(
    rows: impl Iterator<Item = String>,
    goals: &[Requirement],
) -> Result<(), UsageError> {
    let whole = OfferedFigures::default().and(OfferedRow::Only("trial".into()), "trial");
    let offer = rows.fold(whole, |offer, row| {
        offer.and(OfferedRow::Named(row), "trial")
    });
    offer.check(goals).map_err(UsageError)
}
