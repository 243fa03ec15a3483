//! What the way from a command line to a run asks of a command that measures: each of them answers
//! beside the function that makes it ready.

use std::path::PathBuf;

use clap::Subcommand as _;
use lab::hosts::TargetSharing;
use procedure::{OfferedFigures, OfferedRow};
use results::Setup;
use units::TargetName;

use crate::args::{Common, MeasureCommand};
use crate::commands::drive::{Ready, drive};
use crate::commands::fleet::agreed;
use crate::commands::study::{StudyInvocation, ready_study};
use crate::exit::{Exit, UsageError};
use crate::output::Output;
use crate::written::{self, CommandFiles};

/// A command that measures, and archives a run.
pub trait MeasuringCommand {
    /// What is known of it before it measures.
    fn outline(&self) -> CommandOutline<'_>;

    /// What it does in place of measuring, if its arguments ask for that.
    ///
    /// # Errors
    /// When that fails.
    fn instead(&self, _setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        Ok(None)
    }

    /// The study that it is.
    ///
    /// # Errors
    /// When its options do not go together, or it is none.
    fn study(&self, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'_>> {
        refuse!("`{}` is not a study", setup.command)
    }

    /// The measurement, with all settings looked at and nothing made yet.
    ///
    /// # Errors
    /// When its options do not go together, or a file that it needs cannot be read.
    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        ready_study(self.study(&mut setup)?, setup)
    }
}

/// What is known of a command with its arguments before it measures.
#[derive(Debug)]
pub struct CommandOutline<'a> {
    /// What it measures; none where files name that.
    pub targets: Vec<&'a TargetName>,
    /// Whether ranks may share a target.
    pub sharing: TargetSharing,
    /// Whether hosts measure it together.
    pub is_for_hosts: bool,
    /// Why several ranks cannot do it, if they cannot.
    refused: Option<String>,
    /// What is dealt to ranks, each of which needs one: option, noun, and how many there are.
    dealt: Vec<(&'static str, &'static str, u32)>,
    /// What it writes and uses; those of a study are looked at once its definition is read.
    pub files: CommandFiles<'a>,
    /// Rows of its figures; none where they are known once the target was looked at.
    rows: Vec<OfferedRow>,
    /// Why there is no picture of its run, where there is none.
    no_picture: Option<&'static str>,
}

/// It times one simulated device, whatever host does so.
const OF_ONE_HOST: &str = "positioning";
const NO_PICTURE: &str = "there is no load curve to draw. --html has the charts of every run";

impl<'a> CommandOutline<'a> {
    /// A measurement of these targets, without a load curve, whose rows may have any name.
    pub fn of(
        common: &'a Common,
        targets: impl IntoIterator<Item = &'a TargetName>,
        sharing: impl Into<TargetSharing>,
    ) -> Self {
        let targets: Vec<&TargetName> = targets.into_iter().collect();
        Self {
            files: CommandFiles::of(common, targets.iter().copied()),
            targets,
            sharing: sharing.into(),
            is_for_hosts: true,
            refused: None,
            dealt: Vec::new(),
            rows: vec![OfferedRow::Any],
            no_picture: Some(NO_PICTURE),
        }
    }

    /// A study, whose rows are known, and whose files are looked at, once its definition is read.
    pub fn looks_later(mut self) -> Self {
        self.files = CommandFiles::default();
        self.rows([])
    }

    /// Only if `is_for_hosts`, hosts measure it together.
    pub fn for_hosts(mut self, is_for_hosts: bool) -> Self {
        self.is_for_hosts = is_for_hosts;
        self
    }

    /// An option that one host alone gives an answer to.
    pub fn alone(self, is_given: bool, why: &str) -> Self {
        let refusal = || format!("{why}. Leave it out, or start one rank");
        self.refused_if(is_given.then(refusal))
    }

    /// What several ranks cannot do.
    pub fn refused_if(mut self, why: Option<String>) -> Self {
        self.refused = self.refused.or(why);
        self
    }

    /// What is dealt to ranks, as in `--clients`, `client`.
    pub fn dealt(mut self, option: &'static str, noun: &'static str, count: Option<u32>) -> Self {
        self.dealt.extend(count.map(|count| (option, noun, count)));
        self
    }

    /// A file that it writes.
    pub fn writes(mut self, option: &'static str, output: Option<&'a Output>) -> Self {
        self.files = self.files.and(option, output);
        self
    }

    /// Files that it reads.
    pub fn reads(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.files = self.files.and_used(paths);
        self
    }

    /// Rows of its figures; none where they are known once the target was looked at.
    pub fn rows(mut self, rows: impl IntoIterator<Item = OfferedRow>) -> Self {
        self.rows = rows.into_iter().collect();
        self
    }

    /// There is a picture, unless there is a reason for none.
    pub fn drawn(mut self, no_picture: Option<&'static str>) -> Self {
        self.no_picture = no_picture;
        self
    }

    /// Whether so many ranks can measure it together.
    ///
    /// # Errors
    /// When there is an option that they give no answer to.
    pub fn check_ranks(&self, ranks: u32) -> Result<(), UsageError> {
        let mut dealt = self.dealt.iter().filter(|it| it.2 < ranks);
        let too_few = dealt.next().map(|(option, noun, count)| {
            format!(
                "{option} {count}: each of {ranks} ranks needs at least one {noun}. Use {option} \
                 {ranks} or more"
            )
        });
        match self.refused.clone().or(too_few) {
            Some(why) => Err(UsageError(why)),
            None => Ok(()),
        }
    }

    /// Whether the command of that name gives what its goals are on, and has a picture where one
    /// is asked for.
    ///
    /// # Errors
    /// When it does not.
    fn check_figures(self, name: &str, common: &Common) -> Result<(), UsageError> {
        if let (Some(why), Some(_)) = (self.no_picture, common.outputs.of("svg")) {
            refuse!("--svg: {why}");
        }
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = self.rows.into_iter();
        let offer = rows.fold(OfferedFigures::default(), |offer, row| offer.and(row, name));
        offer.check(&common.goals).map_err(UsageError)
    }
}

/// The one place that knows which arguments belong to which command.
macro_rules! each {
    ($command:expr, $args:ident => $do:expr, $kind:ident => $of_kind:expr) => {
        match $command {
            Self::Run($args) => $do,
            Self::Trial($args) => $do,
            Self::Curve($args) => $do,
            Self::Random($args) => $do,
            Self::Rab($args) => $do,
            Self::Ssd($args) => $do,
            Self::Transactions($args) => $do,
            Self::Transfer($args) => $do,
            Self::Files($args) => $do,
            Self::Fio($args) => $do,
            Self::Ior($args) => $do,
            Self::Mdtest($args) => $do,
            Self::Io500($args) => $do,
            Self::Replay($args) => $do,
            Self::Positioning($args) => $do,
            Self::Time($args) => $do,
            Self::Compare($args) => $do,
            Self::Study($args) => $do,
            Self::Kind($kind) => $of_kind,
        }
    };
}

impl MeasureCommand {
    /// What answers for it.
    pub fn measuring(&self) -> &dyn MeasuringCommand {
        each!(self, args => args.as_ref(), args => args.as_ref())
    }

    /// What every measuring command takes.
    pub fn common(&self) -> &Common {
        each!(self, args => &args.common, args => &args.rules.common)
    }

    /// The same, to be changed.
    pub fn common_mut(&mut self) -> &mut Common {
        each!(self, args => &mut args.common, args => &mut args.rules.common)
    }

    /// The names of the commands, but for those of kinds.
    pub fn names() -> Vec<String> {
        let all = Self::augment_subcommands(clap::Command::new(""));
        let names = all.get_subcommands().map(|it| it.get_name().to_owned());
        names.collect()
    }

    /// Those that hosts measure together as a choice, as in "run, trial or curve".
    pub fn choice() -> String {
        let mut names = Self::names();
        names.retain(|it| it != OF_ONE_HOST);
        let (last, others) = names.split_last().expect("commands that measure");
        format!("{} or {last}", others.join(", "))
    }

    /// The measurement that it asks for.
    ///
    /// # Errors
    /// When its options do not go together.
    pub fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let outline = self.measuring().outline();
        outline.check_figures(&setup.command, self.common())?;
        self.measuring().ready(setup)
    }

    /// Measure, or do what the arguments ask for in place of it.
    ///
    /// # Errors
    /// When options do not go together, or nothing could be measured.
    pub fn perform(&self, mut setup: Setup) -> anyhow::Result<Exit> {
        if let Some(ranks) = &self.common().ranks {
            return drive(agreed(ranks, self.ready(setup))?);
        }
        written::check(&self.measuring().outline().files)?;
        match self.measuring().instead(&mut setup)? {
            Some(exit) => Ok(exit),
            None => drive(self.ready(setup)?),
        }
    }
}
