//! Many hosts: which launcher started this process, meeting the other ranks, and what they need
//! before.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context as _;
use lab::bench::BenchError;
use lab::hosts::{RankMachine, Ranks, Welcome};
use mpi::Launched;
use units::TargetName;

use crate::args::{
    Command, Common, CompareArgs, FilesArgs, FleetArgs, FleetCommand, ModeChoice, PurgeChoice,
    ReplayArgs, RunSet, RunsCommand, TimeArgs, TransferArgs, TrialArgs,
};
use crate::commands::files::NO_MEMORY;
use crate::commands::fleet_launch;
use crate::commands::setup::fresh_seed;
use crate::commands::study::STANDARD_INPUT;
use crate::exit::{Exit, UsageError};
use crate::launcher::{launched, variable, wait_for_launcher};
use crate::output;
use crate::written;

/// A value of `SEEKSTONE_MPI_TIMEOUT`: how long MPI may wait for all ranks to start.
const PATIENCE: &str = "SEEKSTONE_MPI_TIMEOUT";
/// How long it may without one.
const PATIENCE_USUAL: Duration = Duration::from_secs(60);
/// How much longer the other ranks wait: some launchers end all ranks with the first, before rank 0
/// has said why.
const AFTER_RANK_0: Duration = Duration::from_secs(1);

/// Commands that start ranks.
const OTHER_LAUNCHERS: [&str; 5] = ["mpirun", "mpiexec", "mpiexec.hydra", "prterun", "srun"];

/// Carry out `seekstone fleet`.
///
/// # Errors
/// When the shim cannot be built, or options do not go together.
pub fn fleet(args: &FleetArgs) -> anyhow::Result<Exit> {
    match &args.command {
        FleetCommand::Shim { mpicc } => shim(mpicc),
        FleetCommand::Manifest(args) => fleet_launch::manifest(args),
        FleetCommand::Slurm(args) => fleet_launch::slurm(args),
    }
}

fn shim(mpicc: &OsStr) -> anyhow::Result<Exit> {
    let directory = cache().context("there is no home directory for the shim")?;
    let built = mpi::build(mpicc, &directory).map_err(|error| UsageError(error.to_string()))?;
    output::print(&format!(
        "Wrote {}\nfor {}",
        built.path.display(),
        built.version
    ))
}

fn cache() -> Option<PathBuf> {
    mpi::cache_directory(variable)
}

/// Meet the other ranks where a launcher started several: the command gets its ranks, and the
/// seed of rank 0.
///
/// # Errors
/// When the command measures on one host only, MPI does not start, or the ranks are not alike.
pub fn meet(command: &mut Command, words: &[String]) -> anyhow::Result<Option<Ranks>> {
    let Some(launched) = launched().filter(|it| it.ranks != Some(1)) else {
        return Ok(None);
    };
    let Some((targets, is_shared)) = targets_of(command, &launched)? else {
        return Ok(None);
    };
    targets.iter().try_for_each(refuse_model)?;
    let directory = cache().context("there is no home directory to find the shim in")?;
    let patience = patience(variable(PATIENCE))?;
    let fleet = within(patience, &launched, || mpi::open(&launched, &directory));
    let fleet = fleet.map_err(|error| {
        // Where the launcher does not say how many there are, this one may be all.
        if launched.ranks.is_none() && launched.rank > 0 {
            output::complain(&format!("error: {error}"));
        }
        UsageError(error.to_string())
    })?;
    let ranks = Ranks::new(Box::new(fleet), is_shared);
    let met = join(command, &ranks, words);
    if let Err(error) = met {
        ranks.end(Exit::of_error(&error).code());
        return Err(error);
    }
    Ok(Some(ranks))
}

/// # Errors
/// When the variable holds no time.
fn patience(typed: Option<String>) -> anyhow::Result<Duration> {
    let Some(typed) = typed.filter(|it| !it.is_empty()) else {
        return Ok(PATIENCE_USUAL);
    };
    let time: units::Duration = typed
        .parse()
        .map_err(|error| UsageError(format!("{PATIENCE}={typed}: {error}")))?;
    Ok(time.to_std())
}

/// Open the library, which waits for all ranks: under MPICH for ever where one of them has ended
/// before. That ends here, as nothing else can end the wait.
fn within<T>(patience: Duration, launched: &Launched, open: impl FnOnce() -> T) -> T {
    let (done, is_done) = channel::<()>();
    let leads = launched.rank == 0;
    let by = launched.by;
    std::thread::spawn(move || {
        let longest = if leads {
            patience
        } else {
            patience + AFTER_RANK_0
        };
        if is_done.recv_timeout(longest) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        if leads {
            output::complain(&format!(
                "error: {by} has not started all ranks within {}: one of them may have ended \
                 before it joined, because its host lacks the MPI library or its shim (`seekstone \
                 fleet shim` there). If starting takes longer here, set {PATIENCE}=10min",
                units::Duration::from(patience)
            ));
            wait_for_launcher();
        }
        std::process::exit(Exit::Usage.code().into());
    });
    let opened = open();
    drop(done);
    opened
}

fn join(command: &mut Command, ranks: &Ranks, words: &[String]) -> anyhow::Result<()> {
    let asked = common_of(command).and_then(|common| common.seed);
    let welcome = Welcome {
        version: host::VERSION.into(),
        words: words.to_vec(),
        seed: asked.unwrap_or_else(fresh_seed),
    };
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let seed = ranks.meet(&welcome, RankMachine::named(host))?;
    if let Some(common) = common_of(command) {
        common.seed = Some(seed);
        common.ranks = Some(ranks.clone());
    }
    // Rank 0 alone writes files.
    let can_write = match ranks.leads() {
        true => written::check_command(command),
        false => Ok(()),
    };
    let can_answer = check_options(command, ranks.share().ranks);
    agreed(ranks, can_write.and_then(|()| Ok(can_answer?)))
}

/// Options that many hosts give no answer to.
///
/// # Errors
/// When there is one of them.
pub fn check_options(command: &Command, ranks: u32) -> Result<(), UsageError> {
    match command {
        Command::Trial(args) => check_trial(args, ranks),
        Command::Curve(args) if !args.others.is_empty() || args.workload_file.is_some() => {
            Err(UsageError(ONE_TARGET.into()))
        }
        Command::Files(args) => check_files(args, ranks),
        Command::Transfer(args) => check_transfer(args, ranks),
        Command::Replay(args) => check_replay(args, ranks),
        Command::Compare(args) => check_study(args.resume, args.restart),
        Command::Time(args) => check_time(args),
        Command::Study(args) if args.study.as_deref() == Some(STANDARD_INPUT) => Err(UsageError(
            "study -: a launcher gives standard input to one rank only: name a file".into(),
        )),
        Command::Study(args) => check_study(args.resume, args.restart),
        Command::Ssd(args) if args.purge != PurgeChoice::None => Err(UsageError(
            "--purge discards on one host: leave it out, or start one rank".into(),
        )),
        Command::Transactions(args) if args.synchronise.is_some() => Err(UsageError(
            "--synchronise starts users by one host's clock: leave it out, all ranks start at the \
             same instant anyway"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Of what several hosts measure together nothing is kept before the end.
fn check_study(resume: bool, restart: bool) -> Result<(), UsageError> {
    let option = match (resume, restart) {
        (true, _) => "--resume",
        (_, true) => "--restart",
        _ => return Ok(()),
    };
    Err(UsageError(format!(
        "{option} goes on with what one host measured: leave it out, or start one rank"
    )))
}

/// A replicate of a study as several hosts measure it: one run of all.
///
/// # Errors
/// When they cannot.
pub fn check_replicate(
    command: &mut Command,
    target: &TargetName,
    ranks: &Ranks,
) -> Result<(), UsageError> {
    refuse_model(target)?;
    join_ranks(command, ranks);
    check_options(command, ranks.share().ranks)
}

/// Have a command measure with these hosts.
pub fn join_ranks(command: &mut Command, ranks: &Ranks) {
    if let Some(common) = common_of(command) {
        common.ranks = Some(ranks.clone());
    }
}

fn check_files(args: &FilesArgs, ranks: u32) -> Result<(), UsageError> {
    let is_compared = |memory: &PathBuf| memory.as_path() != Path::new(NO_MEMORY);
    if args.memory.as_ref().is_some_and(is_compared) {
        return Err(UsageError(
            "--memory compares one host with its memory: leave it out, or start one rank".into(),
        ));
    }
    if args.device.is_some() {
        return Err(UsageError(
            "--device works on one host: leave it out, or start one rank".into(),
        ));
    }
    check_clients(args.clients, ranks)
}

fn check_transfer(args: &TransferArgs, ranks: u32) -> Result<(), UsageError> {
    if args.beside.is_some() {
        return Err(UsageError(
            "--beside compares two targets of one host: leave it out, or start one rank".into(),
        ));
    }
    if args.mode == Some(ModeChoice::SmallFile) {
        return Err(UsageError(
            "--mode small-file looks for one host's memory: leave it out, or start one rank".into(),
        ));
    }
    if args.streams < ranks {
        return Err(UsageError(format!(
            "--streams {}: {ranks} ranks have at least one stream each; ask for --streams {ranks} \
             or more",
            args.streams
        )));
    }
    Ok(())
}

/// Each rank starts the command: one that is a launcher would start ranks of its own on each.
fn check_time(args: &TimeArgs) -> Result<(), UsageError> {
    let commands = args.commands.iter().chain(args.program.first());
    let mut started = commands.filter_map(|it| it.split_whitespace().next());
    let launcher = started.find(|it| {
        let name = Path::new(it).file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| OTHER_LAUNCHERS.contains(&name))
    });
    match launcher {
        None => Ok(()),
        Some(launcher) => Err(UsageError(format!(
            "{launcher} would start ranks of its own on every host: name the command that it \
             starts, or time it without a launcher"
        ))),
    }
}

fn check_replay(args: &ReplayArgs, ranks: u32) -> Result<(), UsageError> {
    match args.depth_known() {
        Some(depth) if depth < ranks => Err(UsageError(format!(
            "--depth {depth}: each of {ranks} ranks needs at least one request: use --depth \
             {ranks} or more"
        ))),
        _ => Ok(()),
    }
}

fn check_trial(args: &TrialArgs, ranks: u32) -> Result<(), UsageError> {
    if args.interval.is_some() {
        return Err(UsageError(
            "--interval lists what one host did: leave it out, or start one rank".into(),
        ));
    }
    if !args.others.is_empty() || args.workload_file.is_some() {
        return Err(UsageError(ONE_TARGET.into()));
    }
    if args.iolog.is_some() {
        return Err(UsageError(
            "--iolog logs what one host did: leave it out, or start one rank".into(),
        ));
    }
    if let Some(depth) = args.depth.filter(|depth| *depth < ranks) {
        return Err(UsageError(format!(
            "--depth {depth}: each of {ranks} ranks needs at least one request: use --depth \
             {ranks} or more"
        )));
    }
    if args.verify {
        return Err(UsageError(
            "--verify reads back on one host: leave it out, or start one rank".into(),
        ));
    }
    check_clients(args.clients, ranks)
}

/// Workloads side by side are dealt to the workers of one host.
const ONE_TARGET: &str = "several ranks measure one target with one workload: name one target, or \
                          start it without a launcher";

fn check_clients(clients: u32, ranks: u32) -> Result<(), UsageError> {
    if clients < ranks {
        return Err(UsageError(format!(
            "--clients {clients}: each of {ranks} ranks needs at least one client: use --clients \
             {ranks} or more",
        )));
    }
    Ok(())
}

/// Go on if all ranks do.
///
/// # Errors
/// When one of them cannot.
pub fn agreed<T>(ranks: &Ranks, own: anyhow::Result<T>) -> anyhow::Result<T> {
    let answer = match &own {
        Ok(_) => Ok(()),
        Err(error) if Exit::of_error(error) == Exit::Usage => {
            Err(BenchError::Usage(format!("{error:#}")))
        }
        Err(error) => Err(BenchError::Refused(format!("{error:#}"))),
    };
    ranks.agree(answer, |_| Ok(()))?;
    own
}

/// The ranks that a command measures with, where there are several.
pub fn ranks_of(command: &Command) -> Option<&Ranks> {
    let common = match command {
        Command::Run(args) => &args.common,
        Command::Trial(args) => &args.common,
        Command::Curve(args) => &args.common,
        Command::Random(args) => &args.common,
        Command::Replay(args) => &args.common,
        Command::Time(args) => &args.common,
        Command::Ssd(args) => &args.common,
        Command::Transactions(args) => &args.common,
        Command::Files(args) => &args.common,
        Command::Transfer(args) => &args.common,
        Command::Fio(args) => &args.common,
        Command::Compare(args) => &args.common,
        Command::Study(args) => &args.common,
        Command::Rab(args) => &args.common,
        _ => return None,
    };
    common.ranks.as_ref()
}

fn common_of(command: &mut Command) -> Option<&mut Common> {
    match command {
        Command::Run(args) => Some(&mut args.common),
        Command::Trial(args) => Some(&mut args.common),
        Command::Curve(args) => Some(&mut args.common),
        Command::Random(args) => Some(&mut args.common),
        Command::Replay(args) => Some(&mut args.common),
        Command::Time(args) => Some(&mut args.common),
        Command::Ssd(args) => Some(&mut args.common),
        Command::Transactions(args) => Some(&mut args.common),
        Command::Files(args) => Some(&mut args.common),
        Command::Transfer(args) => Some(&mut args.common),
        Command::Fio(args) => Some(&mut args.common),
        Command::Compare(args) => Some(&mut args.common),
        Command::Study(args) => Some(&mut args.common),
        Command::Rab(args) => Some(&mut args.common),
        _ => None,
    }
}

/// The targets of a command that runs on many hosts, and whether ranks may share one.
pub fn fleet_targets(command: &Command) -> Option<(Vec<TargetName>, bool)> {
    let (target, is_shared) = match command {
        Command::Run(args) => (&args.target, args.sharing.shared),
        Command::Trial(args) => (&args.target, args.workload.sharing.shared),
        Command::Curve(args) => (&args.target, args.workload.sharing.shared),
        Command::Random(args) => (&args.target, args.sharing.shared),
        Command::Replay(args) => (&args.target, args.sharing.shared),
        Command::Ssd(args) => (&args.target, args.sharing.shared),
        Command::Rab(args) if args.print_workload.is_none() => (&args.target, args.sharing.shared),
        Command::Transactions(args) => (&args.target, args.sharing.shared),
        Command::Files(args) => (&args.target, false),
        Command::Transfer(args) => (&args.target, args.sharing.shared),
        Command::Compare(args) if !names_runs(args) => {
            return Some((args.target.clone(), args.sharing.shared));
        }
        // They have none.
        Command::Time(_) => return Some((Vec::new(), false)),
        // Their targets are in files.
        Command::Fio(args) if !args.measures_nothing() => {
            return Some((Vec::new(), args.sharing.shared));
        }
        Command::Study(args) if args.command.is_none() => {
            let target = args.target.iter().cloned();
            return Some((target.collect(), args.sharing.shared));
        }
        _ => return None,
    };
    Some((vec![target.clone()], is_shared))
}

/// Whether archived runs are compared, which measures nothing.
fn names_runs(args: &CompareArgs) -> bool {
    args.baseline.is_some()
        || args
            .target
            .iter()
            .any(|it| it.as_str().parse::<RunSet>().is_ok())
}

/// The targets of a command that runs on many hosts, and whether ranks may share one; `None` for
/// one that measures nothing.
fn targets_of(
    command: &Command,
    launched: &Launched,
) -> Result<Option<(Vec<TargetName>, bool)>, UsageError> {
    if let Some(targets) = fleet_targets(command) {
        return Ok(Some(targets));
    }
    let Some((name, why)) = of_one_host(command) else {
        return Ok(None);
    };
    Err(UsageError(format!(
        "{name} measures on one host, and {} started it on several: {why}. Start it without a \
         launcher, or use {ON_MANY_HOSTS}, which measure on all hosts together",
        launched.by
    )))
}

/// Commands that measure on many hosts.
pub const ON_MANY_HOSTS: &str = concat!(
    "run, trial, curve, random, rab, ssd, transactions, transfer, ",
    "files, fio, replay, time, compare or study"
);

/// A command that measures on one host only, and why.
fn of_one_host(command: &Command) -> Option<(&'static str, &'static str)> {
    let one_system = "it is defined for a single system";
    let again = "it measures again what one host did; start the command itself";
    let each_its_own = "it repeats whole measurements, each of one host";
    Some(match command {
        Command::Verify(_) => ("verify", "it reads back what one host has written"),
        Command::Wire(_) => ("wire", "it simulates a single link"),
        Command::Positioning(_) => ("positioning", "it times one device's positioning"),
        Command::Rpt(_) => ("rpt", one_system),
        Command::Diskmbps(_) => ("diskmbps", one_system),
        Command::Diskrand(_) => ("diskrand", one_system),
        Command::Together(_) => ("together", one_system),
        Command::Transact(_) => ("transact", one_system),
        Command::Compare(args) if names_runs(args) => {
            ("compare of runs", "it reads the archive of this host")
        }
        Command::Kind(args) => (args.kind.name, each_its_own),
        Command::Runs(args) => match &args.command {
            RunsCommand::Repeat(_) => ("runs repeat", again),
            RunsCommand::Resume(args) if !args.list => ("runs resume", again),
            _ => return None,
        },
        _ => return None,
    })
}

fn refuse_model(target: &TargetName) -> Result<(), UsageError> {
    if target.is_path() {
        return Ok(());
    }
    let by = launched().map_or("a launcher", |it| it.by);
    Err(UsageError(format!(
        "{target} is simulated, and {by} started this on several hosts: start it without a launcher"
    )))
}
