//! What every measuring command takes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use lab::hosts::Ranks;
use procedure::Requirement;

use crate::args::serve::parse_address;
use crate::forms::{FORMS, RunForm, form_of_ending};
use crate::output::Output;

/// What every measuring command takes.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Random seed. The same seed gives the same operations [default: a new one each time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Check a goal, as in 'p99 <= 2ms'.
    ///
    /// Further examples: 'iops >= 20k/s', of a mix 'read.p99 <= 2ms', with several rows
    /// 'random-read.p99 <= 2ms'. 'p99 <= 2ms @ 20k/s' measures at that load, too (`run`, `trial`).
    /// Repeatable. Exit code 4 when missed, 5 when undecided.
    #[arg(long = "goal", value_name = "GOAL")]
    pub goals: Vec<Requirement>,
    /// The forms to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Archive file [default: seekstone/archive.db in the user's data directory].
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Do not archive the run.
    #[arg(long)]
    pub no_save: bool,
    /// Show everything.
    ///
    /// Each measurement in full, every point of a curve, and every warning.
    #[arg(long)]
    pub all: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
    // Whether standard error is for errors alone, as scripts of fio take it.
    #[arg(skip)]
    pub has_no_notes: bool,
    /// Show the run in a browser while it is running.
    ///
    /// The address is a port on localhost, or IP:PORT, whose URL then holds a token [default: any
    /// free port].
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        value_parser = parse_address
    )]
    pub live: Option<SocketAddr>,
    /// Remove leftovers of killed runs without asking.
    #[arg(long, short)]
    pub yes: bool,
    /// The ranks that a launcher started with this process.
    #[arg(skip)]
    pub ranks: Option<Ranks>,
}

impl Common {
    /// How many ranks there are. 1 without a launcher.
    pub fn rank_count(&self) -> u32 {
        self.ranks.as_ref().map_or(1, |ranks| ranks.share().ranks)
    }
}

/// A form and where it is written.
type WrittenForm = (&'static RunForm, Output);
/// The argument `-o`.
pub const BY_ENDING: &str = "out";

/// The forms in which a run is written: an option for each of those that have one.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    written: Vec<WrittenForm>,
    /// What may be replaced.
    pub force: Force,
}

impl Outputs {
    /// The outputs that were asked for, each with its form.
    pub fn asked(&self) -> impl Iterator<Item = (&'static RunForm, &Output)> {
        self.written.iter().map(|(form, output)| (*form, output))
    }

    /// Whether one of them is standard output.
    pub fn have_stdout(&self) -> bool {
        self.asked().any(|(_, output)| output.is_stdout())
    }

    /// The output in the form of that name, if it was asked for.
    pub fn of(&self, name: &str) -> Option<&Output> {
        self.asked()
            .find_map(|(form, output)| (form.name == name).then_some(output))
    }
}

impl FromArgMatches for Outputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = FORMS.iter().filter(|it| it.option.is_some());
        let given =
            given.filter_map(|form| Some((form, matches.get_one::<Output>(form.name)?.clone())));
        let by_ending = matches.get_many::<WrittenForm>(BY_ENDING);
        Ok(Self {
            written: given
                .chain(by_ending.into_iter().flatten().cloned())
                .collect(),
            force: Force::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Outputs {
    fn augment_args(command: Command) -> Command {
        let command = command.args(FORMS.iter().filter_map(option_of));
        let by_ending = Arg::new(BY_ENDING)
            .short('o')
            .value_name("FILE")
            .action(ArgAction::Append)
            .help("Write results by the file's ending, as in x.html")
            .value_parser(OsStringValueParser::new().try_map(written_by_ending));
        let command = command.arg(by_ending);
        Force::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The form and the file of `-o`.
///
/// # Errors
/// When the ending stands for no form that has an option, or one that this build does not write.
fn written_by_ending(path: OsString) -> Result<WrittenForm, String> {
    let form = form_of_ending(Path::new(&path)).filter(|form| form.option.is_some());
    match form.map(|form| (form, form.left_out)) {
        Some((form, None)) => Ok((form, Output::from(path))),
        Some((_, Some(why))) => Err(why.to_string()),
        None => {
            let endings = FORMS.iter().filter(|form| form.option.is_some());
            let endings = endings.filter_map(|form| form.endings.first());
            let endings: Vec<String> = endings.map(|it| format!(".{it}")).collect();
            Err(format!("use a name that ends in {}", endings.join(", ")))
        }
    }
}

/// The option of a form. One that this build does not write is refused before anything is measured.
fn option_of(form: &'static RunForm) -> Option<Arg> {
    let option = form.option.as_ref()?;
    let path = |path: OsString| form.left_out.map_or_else(|| Ok(Output::from(path)), Err);
    let argument = Arg::new(form.name)
        .long(form.name)
        .value_name("FILE")
        .help(option.help)
        .value_parser(OsStringValueParser::new().try_map(path));
    Some(argument.aliases(option.alias))
}

/// What may be replaced by what a command writes.
#[derive(Args, Clone, Debug, Default)]
pub struct Force {
    /// Replace any existing file [default: only an empty one, or one that Seekstone wrote and
    /// nobody has changed].
    #[arg(long)]
    pub force: bool,
}
