//! `seekstone runs repeat`: an archived run, measured again with all of its settings.

use anyhow::Context as _;
use host::environment;
use results::{Environment, Run, Setup};

use crate::args::{self, AgainArgs, Command, RepeatArgs};
use crate::exit::{Exit, UsageError};
use crate::output;
use crate::perform;
use crate::recorded::{again, setup};

/// Commands that run programs which a run names.
const RUN_PROGRAMS: [&str; 2] = ["study", "time"];

/// A run whose command is carried out once more.
pub struct Recorded<'a> {
    /// It, as in "run 5".
    pub what: &'a str,
    /// What becomes of it, as in "repeated".
    pub verb: &'a str,
    /// Its settings.
    pub setup: &'a Setup,
    /// Where it ran.
    pub environment: &'a Environment,
    /// Whether what was allowed for it must be allowed anew.
    pub must_be_allowed: bool,
}

/// A run measured again, with the settings that it had and the files that it read.
///
/// # Errors
/// When its settings are not known, or it may not be repeated as it is asked for.
pub fn repeat(run: &Run, archive: Option<String>, args: &RepeatArgs) -> anyhow::Result<Exit> {
    let id = run.id.unwrap_or_default();
    if run.settings.setting("log").is_some() {
        refuse!(
            "run {id} cannot be repeated: it was imported from a log, which does not hold all \
                settings"
        );
    }
    let recorded = Recorded {
        what: &format!("run {id}"),
        verb: "repeated",
        setup: &run.settings,
        environment: &run.environment,
        must_be_allowed: true,
    };
    let (command, again) = commanded(&recorded, archive, &args.again)?;
    let repeated = perform(&command, again);
    repeated.with_context(|| format!("run {id} cannot be repeated"))
}

/// The command of a run with the settings that it had; without an archive it saves nothing.
///
/// # Errors
/// When a setting does not exist any more, or what was allowed is not allowed anew.
pub fn commanded(
    run: &Recorded<'_>,
    archive: Option<String>,
    args: &AgainArgs,
) -> Result<(Command, Setup), UsageError> {
    let recorded = run.setup;
    let refuse = |why: &str| UsageError(format!("{} cannot be {}: {why}", run.what, run.verb));
    check_host(run).map_err(|why| refuse(&why))?;
    if run.must_be_allowed {
        check_permissions(recorded, args).map_err(|why| refuse(&why))?;
    }
    let mut anew: Vec<(&str, Option<String>)> = Vec::new();
    let saves = archive.is_some();
    anew.extend(archive.map(|path| ("archive", Some(path))));
    anew.extend(args.outputs.asked().map(|(form, output)| {
        let path = output.path().display().to_string();
        (form.name, Some(path))
    }));
    anew.extend(args.confirm.clone().map(|name| ("confirm", Some(name))));
    let flags = [
        ("overwrite", args.overwrite),
        ("force", args.outputs.force.force),
        ("no-save", !saves),
        ("quiet", args.quiet),
        ("yes", args.yes),
    ];
    anew.extend(
        flags
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| (name, None)),
    );
    let (definition, matches) =
        again(args::definition(), recorded, &anew).map_err(|error| refuse(&error.0))?;
    let command = args::typed(&matches);
    let command = command.map_err(|error| refuse(&error.to_string()))?.command;
    let mut setup = setup(&definition, &matches);
    setup.files.clone_from(&recorded.files);
    Ok((command, setup))
}

/// Programs of another machine's run are not started unread; anything else says where it was.
fn check_host(run: &Recorded<'_>) -> Result<(), String> {
    let here = environment::capture().host_name;
    let there = &run.environment.host_name;
    if *there == here {
        return Ok(());
    }
    let command = run.setup.command.as_str();
    let measured = run.setup.value("measure").unwrap_or_default();
    if [command, measured]
        .iter()
        .any(|it| RUN_PROGRAMS.contains(it))
    {
        return Err(format!(
            "it was measured on {there}, and would start the programs that it names here. Look at \
             them with `runs show --all`, and use `seekstone {command}`"
        ));
    }
    output::complain(&format!(
        "note: the run was measured on {there}. It is {} on {here}, on the storage here",
        run.verb
    ));
    Ok(())
}

/// What was allowed once must be allowed again, and nothing else may be.
fn check_permissions(setup: &Setup, args: &AgainArgs) -> Result<(), String> {
    let target = setup.value("target").unwrap_or_default();
    if setup.is_given("overwrite") && !args.overwrite {
        return Err(format!(
            "it wrote to {target}: add --overwrite again if all data \
             on it may be lost"
        ));
    }
    if let (true, None, Some(name)) = (
        setup.is_given("confirm"),
        &args.confirm,
        setup.value("confirm"),
    ) {
        return Err(format!(
            "it destroyed known content on {name}: add --confirm {name} again if what is there \
             now may be lost, too"
        ));
    }
    if args.overwrite && !setup.is_given("overwrite") {
        return Err("it overwrote nothing: leave --overwrite out".into());
    }
    Ok(())
}
