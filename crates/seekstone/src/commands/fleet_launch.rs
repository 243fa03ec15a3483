//! `seekstone fleet manifest` and `seekstone fleet slurm`: what starts a command on a cluster.

use std::path::{Component, Path};

use fleet::{Launch, LaunchError, Pods, SlurmBatch};
use units::TargetName;

use crate::args::{self, Command, LaunchArgs, ManifestArgs, MeasureCommand, Seekstone, SlurmArgs};
use crate::commands::hpc::with_options_apart;
use crate::exit::{Exit, UsageError};
use crate::output;

/// Print a Kubernetes manifest.
///
/// # Errors
/// When options do not go together.
pub fn manifest(args: &ManifestArgs) -> anyhow::Result<Exit> {
    let (launch, targets) = launch(&args.launch)?;
    let mut targets = targets.iter();
    targets.try_for_each(|target| check_target(target, &args.mount))?;
    let pods = Pods {
        image: args.image.clone(),
        claim: args.claim.clone(),
        mount: args.mount.clone(),
        mpi: args.mpi,
    };
    let text = match args.indexed_job {
        true => launch.indexed_job(&pods),
        false => launch.mpi_job(&pods),
    };
    print(text)
}

/// Print a batch script.
///
/// # Errors
/// When options do not go together.
pub fn slurm(args: &SlurmArgs) -> anyhow::Result<Exit> {
    let (launch, _) = launch(&args.launch)?;
    let batch = SlurmBatch {
        partition: args.partition.clone(),
        plugin: args.mpi.clone(),
    };
    print(launch.slurm(&batch))
}

fn print(text: Result<String, LaunchError>) -> anyhow::Result<Exit> {
    let text = text.map_err(UsageError::of)?;
    output::print(text.trim_end())
}

/// What is started, and the targets that it names: a mistake in the command is found here, not by
/// the last of a thousand hosts.
fn launch(args: &LaunchArgs) -> Result<(Launch, Vec<TargetName>), UsageError> {
    let launch = Launch {
        name: args.name.clone(),
        hosts: args.hosts,
        ranks_per_host: args.ranks_per_host,
        time: args.time,
        command: args.command.clone(),
    };
    let definition = args::definition();
    let words = std::iter::once("seekstone").chain(args.command.iter().map(String::as_str));
    let words = with_options_apart(words.map(Into::into).collect(), &definition);
    let read = definition.try_get_matches_from(words);
    let read = read.and_then(|matches| args::typed(&matches));
    let Seekstone { command, .. } = read.map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let first = first.trim_start_matches("error: ");
        UsageError(format!("what follows --: {first}"))
    })?;
    let outline = match &command {
        Command::Measure(command) => Some(command.measuring().outline()),
        _ => None,
    };
    let outline = outline.filter(|it| it.is_for_hosts).ok_or_else(|| {
        UsageError(format!(
            "what follows --: use {}. Other commands measure on one host",
            MeasureCommand::choice()
        ))
    })?;
    let ranks = launch.ranks();
    let ranks = ranks.map_err(UsageError::of)?;
    outline.check_ranks(ranks)?;
    let targets = outline.targets.into_iter().cloned().collect();
    Ok((launch, targets))
}

/// Pods have nothing else that is worth measuring: what is outside of the volume is a layer of the
/// image.
fn check_target(target: &TargetName, mount: &str) -> Result<(), UsageError> {
    let path = Path::new(target);
    let leaves = path.components().any(|it| it == Component::ParentDir);
    let is_outside = path.is_absolute() && !path.starts_with(mount);
    if leaves || is_outside || target.as_str().contains(':') {
        refuse!(
            "{target} is not on the volume, which is mounted at --mount {mount}. Name a directory \
             there, or one relative to it"
        );
    }
    Ok(())
}
