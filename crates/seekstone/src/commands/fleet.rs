//! Many hosts: which launcher started this process, meeting the other ranks, and what they need
//! before.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context as _;
use lab::bench::BenchError;
use lab::hosts::{RankMachine, Ranks, Welcome};
use mpi::Launched;
use units::TargetName;

use crate::args::{Command, FleetArgs, FleetCommand, MeasureCommand, RunsCommand};
use crate::commands::compare::names_runs;
use crate::commands::fleet_launch;
use crate::commands::setup::fresh_seed;
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
    let built = mpi::build(mpicc, &directory).map_err(UsageError::of)?;
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
    refuse_single(command, &launched)?;
    let Command::Measure(command) = command else {
        return Ok(None);
    };
    let outline = command.measuring().outline();
    if !outline.is_for_hosts {
        return Ok(None);
    }
    outline.targets.iter().try_for_each(|it| refuse_model(it))?;
    let sharing = outline.sharing;
    let directory = cache().context("there is no home directory to find the shim in")?;
    let patience = patience(variable(PATIENCE))?;
    let fleet = within(patience, &launched, || mpi::open(&launched, &directory));
    let fleet = fleet.map_err(|error| {
        if launched.rank > 0 {
            // Where the launcher does not say how many there are, this one may be all.
            match launched.ranks {
                None => output::complain(&format!("error: {error}")),
                Some(_) => std::thread::sleep(AFTER_RANK_0),
            }
        }
        UsageError(error.to_string())
    })?;
    let ranks = Ranks::new(Box::new(fleet), sharing);
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
                "error: {by} has not started all ranks within {}. One of them may have ended \
                 before it joined. Its host may lack the MPI library or its shim (`seekstone fleet \
                 shim` there). If starting takes longer here, set {PATIENCE}=10min",
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

fn join(command: &mut MeasureCommand, ranks: &Ranks, words: &[String]) -> anyhow::Result<()> {
    let common = command.common_mut();
    let welcome = Welcome {
        version: host::VERSION.into(),
        words: words.to_vec(),
        seed: common.seed.unwrap_or_else(fresh_seed),
    };
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    common.seed = Some(ranks.meet(&welcome, RankMachine::named(host))?);
    common.ranks = Some(ranks.clone());
    // Rank 0 alone writes files.
    let can_write = match ranks.leads() {
        true => written::check(&command.measuring().outline().files),
        false => Ok(()),
    };
    let can_answer = command
        .measuring()
        .outline()
        .check_ranks(ranks.share().ranks);
    agreed(ranks, can_write.and_then(|()| Ok(can_answer?)))
}

/// A replicate of a study as several hosts measure it: one run of all.
///
/// # Errors
/// When they cannot.
pub fn check_replicate(
    command: &mut MeasureCommand,
    target: &TargetName,
    ranks: &Ranks,
) -> Result<(), UsageError> {
    refuse_model(target)?;
    command.common_mut().ranks = Some(ranks.clone());
    command
        .measuring()
        .outline()
        .check_ranks(ranks.share().ranks)
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

/// # Errors
/// When the command measures on one host only.
fn refuse_single(command: &Command, launched: &Launched) -> Result<(), UsageError> {
    let Some((name, why)) = of_one_host(command) else {
        return Ok(());
    };
    refuse!(
        "{name} measures on one host, and {} started it on several: {why}. Start it without a \
         launcher, or use {}, which measure on all hosts together",
        launched.by,
        MeasureCommand::choice()
    )
}

/// A command that measures on one host only, and why.
fn of_one_host(command: &Command) -> Option<(&'static str, &'static str)> {
    let one_system = "it is defined for a single system";
    let again = "it measures again what one host did. Start the command itself";
    let each_its_own = "it repeats whole measurements, each of one host";
    Some(match command {
        Command::Verify(_) => ("verify", "it reads back what one host has written"),
        Command::Wire(_) => ("wire", "it simulates a single link"),
        Command::Measure(MeasureCommand::Positioning(_)) => {
            ("positioning", "it times one device's positioning")
        }
        Command::Rpt(_) => ("rpt", one_system),
        Command::Diskmbps(_) => ("diskmbps", one_system),
        Command::Diskrand(_) => ("diskrand", one_system),
        Command::Together(_) => ("together", one_system),
        Command::Transact(_) => ("transact", one_system),
        Command::Measure(MeasureCommand::Compare(args)) if names_runs(args) => {
            ("compare of runs", "it reads the archive of this host")
        }
        Command::Measure(MeasureCommand::Kind(args)) if !args.kind.targets.on_hosts => {
            (args.kind.name, each_its_own)
        }
        Command::Runs(args) => match &args.command {
            RunsCommand::Repeat(_) => ("runs repeat", again),
            RunsCommand::Resume(args) if !args.list => ("runs resume", again),
            _ => return None,
        },
        _ => return None,
    })
}

/// # Errors
/// When the target is none of the hosts' storage.
pub fn refuse_model(target: &TargetName) -> Result<(), UsageError> {
    if target.is_path() {
        return Ok(());
    }
    let by = launched().map_or("a launcher", |it| it.by);
    refuse!(
        "{target} is simulated, and {by} started this on several hosts: start it without a launcher"
    )
}
