//! Arguments of `seekstone ior` and `seekstone mdtest`: those programs' own options, and what every
//! measuring command takes.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use drivers::ReadCompare;
use hpc::{IorCommand, MdtestCommand};
use procedure::FileItem;
use units::{Bytes, TargetName};
use workload::{BandwidthPhase, MetadataPhase, TransferOrder};

use super::{BY_ENDING, Common, FilesArgs, HpcFiles, LayoutChoice, WorkloadChoice};
use crate::commands::files::NO_MEMORY;

/// The argument that holds the words of the other program.
const WORDS: &str = "option";
const RESERVE: &str = "reserve";
/// Seed of a random order that nobody has chosen.
const ORDER_SEED: u64 = 0;

/// A program whose options are read.
pub trait HpcOptions: Sized {
    /// What its help has below the options.
    const EXAMPLES: &'static str;

    /// What its words ask for.
    ///
    /// # Errors
    /// What cannot be done, in one sentence.
    fn read(words: &[String]) -> Result<Self, String>;

    /// The same as arguments of `files`.
    ///
    /// # Errors
    /// Where a number is beyond what `files` takes.
    fn fill(&self, files: &mut FilesArgs) -> Result<(), String>;
}

/// `seekstone ior` or `seekstone mdtest`.
#[derive(Debug)]
pub struct HpcArgs<C> {
    pub command: C,
    files: FilesArgs,
}

impl<C> Deref for HpcArgs<C> {
    type Target = FilesArgs;
    fn deref(&self) -> &FilesArgs {
        &self.files
    }
}

impl<C> DerefMut for HpcArgs<C> {
    fn deref_mut(&mut self) -> &mut FilesArgs {
        &mut self.files
    }
}

impl<C: HpcOptions> Args for HpcArgs<C> {
    fn augment_args(command: Command) -> Command {
        let words = Arg::new(WORDS)
            .value_name("OPTION")
            .help("The program's own options (docs/hpc.md)")
            .num_args(0..)
            .last(true);
        let reserve = Arg::new(RESERVE)
            .long(RESERVE)
            .value_name("BYTES")
            .help("Free space to leave. 0 lets the files use all of it")
            .value_parser(clap::value_parser!(Bytes));
        // Letters are the program's: `-o` has no long name, and is hidden.
        let without_letter = |arg: Arg| match arg.get_id() == BY_ENDING {
            true => arg.hide(true),
            false => arg.short(Resettable::Reset),
        };
        Common::augment_args(command)
            .mut_args(without_letter)
            .args([reserve, words])
            .after_help(C::EXAMPLES)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: HpcOptions> FromArgMatches for HpcArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let words = matches.get_many::<String>(WORDS).into_iter().flatten();
        let words: Vec<String> = words.cloned().collect();
        let refused = |why: String| Error::raw(ErrorKind::ValueValidation, format!("{why}\n"));
        let command = C::read(&words).map_err(refused)?;
        let mut defaults = FilesArgs::augment_args(Command::new("files"));
        let defaults = defaults.try_get_matches_from_mut(["files"])?;
        let mut files = FilesArgs::from_arg_matches(&defaults)?;
        files.common = Common::from_arg_matches(matches)?;
        files.reserve = matches.get_one(RESERVE).copied();
        files.memory = Some(PathBuf::from(NO_MEMORY));
        command.fill(&mut files).map_err(refused)?;
        Ok(Self { command, files })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl HpcOptions for IorCommand {
    const EXAMPLES: &'static str = help!("ior");

    fn read(words: &[String]) -> Result<Self, String> {
        Self::read(words)
    }

    fn fill(&self, files: &mut FilesArgs) -> Result<(), String> {
        let directory = Path::new(&self.file).parent();
        let directory = directory.filter(|it| !it.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        let bytes = self.block.checked_mul(self.segments);
        let bytes = bytes.ok_or("-s: more bytes than a file can have")?;
        files.target = TargetName::from(directory.to_string_lossy().as_ref());
        files.workload = Some(WorkloadChoice::Bandwidth);
        files.layout = Some(match self.has_own_files {
            true => LayoutChoice::Easy,
            false => LayoutChoice::Hard,
        });
        files.transfer_size = Some(Bytes(self.transfer));
        files.file_size = Some(Bytes(bytes));
        files.clients = self.tasks;
        files.passes = Some(self.repetitions);
        files.stonewall = self.stonewall;
        files.reorder = self.reorders;
        files.verify = self.verifies;
        files.compare = match self.compares || self.verifies {
            true => ReadCompare::All,
            false => ReadCompare::FirstBlock,
        };
        files.stripe_count = self.stripe_count;
        files.stripe_size = self.stripe_bytes.map(Bytes);
        let phases = [
            (self.writes, BandwidthPhase::Write),
            (self.reads, BandwidthPhase::Read),
        ];
        files.hpc = Some(HpcFiles {
            phases: wanted(phases, FileItem::Bandwidth),
            files_each: 0,
            in_a_row: in_range("-b", self.block / self.transfer)?,
            order: match self.is_random {
                true => TransferOrder::Random {
                    seed: files.common.seed.unwrap_or(ORDER_SEED),
                    among: in_range("-s", bytes / self.transfer)?,
                },
                false => TransferOrder::Ascending,
            },
            syncs: self.syncs,
        });
        Ok(())
    }
}

impl HpcOptions for MdtestCommand {
    const EXAMPLES: &'static str = help!("mdtest");

    fn read(words: &[String]) -> Result<Self, String> {
        Self::read(words)
    }

    fn fill(&self, files: &mut FilesArgs) -> Result<(), String> {
        files.target = TargetName::from(self.directory.as_str());
        files.workload = Some(WorkloadChoice::Metadata);
        files.layout = Some(match self.has_own_directories {
            true => LayoutChoice::Easy,
            false => LayoutChoice::Hard,
        });
        files.depth = Some(self.depth);
        files.fan_out = Some(self.branching);
        files.file_size = Some(Bytes(self.bytes));
        files.passes = Some(self.iterations);
        files.stonewall = self.stonewall;
        files.reorder = self.reorders;
        files.compare = match self.compares {
            true => ReadCompare::All,
            false => ReadCompare::FirstBlock,
        };
        let phases = [
            (self.depth > 0, MetadataPhase::MakeDirectories),
            (self.creates, MetadataPhase::Create),
            (self.stats, MetadataPhase::Stat),
            (self.reads && self.bytes == 0, MetadataPhase::Open),
            (self.reads && self.bytes > 0, MetadataPhase::Read),
            (self.removes, MetadataPhase::Remove),
            (
                self.depth > 0 && self.removes,
                MetadataPhase::RemoveDirectories,
            ),
        ];
        files.hpc = Some(HpcFiles {
            phases: wanted(phases, FileItem::Metadata),
            files_each: in_range("-n", self.items)?,
            in_a_row: 1,
            order: TransferOrder::Ascending,
            syncs: self.syncs,
        });
        Ok(())
    }
}

fn wanted<P, const N: usize>(phases: [(bool, P); N], item: fn(P) -> FileItem) -> Vec<FileItem> {
    let wanted = phases.into_iter().filter(|(is_wanted, _)| *is_wanted);
    wanted.map(|(_, phase)| item(phase)).collect()
}

fn in_range(option: &str, count: u64) -> Result<u32, String> {
    u32::try_from(count).map_err(|_| format!("{option}: {count} is more than a rank can do here"))
}
