//! The command lines of the classic programs.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use units::Bytes;

use super::DriverChoice;

/// What the manual does not have: how storage is reached and what may be done to it.
#[derive(Args, Clone, Debug)]
pub struct ClassicReach {
    /// Allow writing into a data file that this program did not make, or into a block device.
    /// Everything in it may be lost.
    #[arg(long)]
    pub overwrite: bool,
    /// The device's name once more, when it carries a file system or other known content that is to
    /// be lost.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// Space that stays free when -B makes a data file [default: the larger of 5 % and 1 GiB, at
    /// most a quarter].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub reserve: Option<Bytes>,
    /// What carries I/Os out.
    #[arg(long, value_enum, default_value_t = DriverChoice::Auto)]
    pub driver: DriverChoice,
    /// Seed of everything random; chosen when absent.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Show no progress and no notes.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `seekstone rpt`.
///
/// The test file names the parameter file and the workloads; what the files define counts more
/// than a switch, and a warning says where it does. `seekstone rpt --write-files` writes the
/// standard files.
#[derive(Args, Debug)]
#[command(after_help = "\
Files, all in the current directory:
  rpt.rpt   test file: what is run; rptq.rpt is a quick variant (up to an hour instead of six)
  rpt.rpp   parameter file: threads and workloads
  rpt.rpe   run file: one transact command line for each thread that was started
  rpt.rpl   log file: every sum and warning; `seekstone runs import rpt.rpl` archives it
  rpt.rpr   report file: levels and RABmarks

What the test and parameter file define counts more than a switch, as in 1995; a warning says
where. The files of --write-files leave every switch free.

The response time here is the service time, as in 1995: from handing an I/O over to its end.
`seekstone rab` measures the same workloads with a sounder rule. docs/classic-rpt.md says more.")]
pub struct RptArgs {
    /// Make the data file with this many bytes, if there is none [default: use its size].
    #[arg(short = 'B', value_name = "BYTES", allow_hyphen_values = true)]
    pub data_size: Option<String>,
    /// Data file, block device, or `sim:NAME` [default: /data/raidtest.dat].
    #[arg(short = 'f', value_name = "FILE")]
    pub data_file: Option<String>,
    /// Mode that results are stamped with: 0 Normal, 1 Continuous, 2 Reduced, 3 Rebuild,
    /// 4 Exchange; all but Normal run until somebody stops them [default: 0].
    #[arg(short = 'm', value_name = "MODE", allow_hyphen_values = true)]
    pub mode: Option<String>,
    /// Runs through all workloads in normal mode [default: 1].
    #[arg(short = 'n', value_name = "N", allow_hyphen_values = true)]
    pub nruns: Option<String>,
    /// The least response time of the level without load, ms [default: 0].
    #[arg(short = 'r', value_name = "MS", allow_hyphen_values = true)]
    pub rsmin: Option<String>,
    /// The response time at which a transaction workload ends, ms [default: 50].
    #[arg(short = 'R', value_name = "MS", allow_hyphen_values = true)]
    pub rsmax: Option<String>,
    /// Test file; `rptq.rpt` is the quick one.
    #[arg(short = 't', value_name = "FILE", default_value = "rpt.rpt")]
    pub test_file: PathBuf,
    /// 0 results; 1 also threads, calculations, and the figures of each message; 2 also raw
    /// messages and sums. Given here it prints the definitions of all workloads first
    /// [default: 0].
    #[arg(short = 'v', value_name = "LEVEL", allow_hyphen_values = true)]
    pub verbose: Option<String>,
    /// Write rpt.rpt, rptq.rpt, rpt.rpp and rpt.rpc into the current directory, and do nothing
    /// else. No existing file is touched.
    #[arg(long, exclusive = true)]
    pub write_files: bool,
    /// Print lines even on a terminal, and start at once.
    #[arg(long)]
    pub no_screen: bool,
    /// How storage is reached.
    #[command(flatten)]
    pub reach: ClassicReach,
}

/// `seekstone transact`.
///
/// Runs one control thread and prints its messages until it is interrupted: thread, KiB, I/Os;
/// seek, seek and transfer, total in seconds; and the sums of their squares.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: 20 reads and writes of 4 KiB a second, in the first of 50 interleaved parts of a file
  seekstone transact -f sim:mm1?mean=10ms -a 1 -b 4096 -C 50 -r 2 -w 1 -S 2 -s 0.5 -T 2 -t 20")]
pub struct TransactArgs {
    /// How threads share the file: 0 contiguous, 1 interleaved, 2 contentious.
    #[arg(
        short = 'a',
        value_name = "MODE",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub access_mode: String,
    /// Bytes of a block, above 0.
    #[arg(
        short = 'b',
        value_name = "BYTES",
        default_value = "1",
        allow_hyphen_values = true
    )]
    pub block_size: String,
    /// Make the data file with this many bytes, if there is none [default: use its size].
    #[arg(short = 'B', value_name = "BYTES", allow_hyphen_values = true)]
    pub data_size: Option<String>,
    /// Number of the control thread.
    #[arg(
        short = 'c',
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub control_thread: String,
    /// The most control threads that are possible: parts of the file. Must be given, above 0.
    #[arg(
        short = 'C',
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub control_threads: String,
    /// Bytes from the beginning of a block to its I/O; below 0, I/Os are packed in the block.
    #[arg(
        short = 'i',
        value_name = "BYTES",
        default_value = "-1",
        allow_hyphen_values = true
    )]
    pub io_offset: String,
    /// Bytes of an I/O; 0 is the block size.
    #[arg(
        short = 'I',
        value_name = "BYTES",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub io_size: String,
    /// I/Os in a message.
    #[arg(
        short = 'n',
        value_name = "N",
        default_value = "100",
        allow_hyphen_values = true
    )]
    pub nios: String,
    /// Relative number of reads; without reads and writes it reads.
    #[arg(
        short = 'r',
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub reads: String,
    /// Relative number of writes.
    #[arg(
        short = 'w',
        value_name = "N",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub writes: String,
    /// Scale of the steps: 1 for sequential, alpha (0.5 to 2.5) for hyperbolic, the mean for
    /// exponential ones.
    #[arg(
        short = 's',
        value_name = "SCALE",
        default_value = "1",
        allow_hyphen_values = true
    )]
    pub spatial_scale: String,
    /// Steps from I/O to I/O: 0 sequential, 1 uniform, 2 hyperbolic, 3 exponential.
    #[arg(
        short = 'S',
        value_name = "LAW",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub spatial: String,
    /// Mean I/Os per second.
    #[arg(
        short = 't',
        value_name = "IOPS",
        default_value = "5.0",
        allow_hyphen_values = true
    )]
    pub time_scale: String,
    /// Time from I/O to I/O: 0 constant (no waiting), 1 uniform, 2 and 3 exponential.
    #[arg(
        short = 'T',
        value_name = "LAW",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub time: String,
    /// Data file, block device, or `sim:NAME`.
    #[arg(short = 'f', value_name = "FILE", default_value = "/data/raidtest.dat")]
    pub data_file: String,
    /// 0 messages; 3 also each I/O; 4 each I/O with its waiting, and end after the first message.
    #[arg(
        short = 'v',
        value_name = "LEVEL",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub verbose: String,
    /// End after this many messages.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub messages: Option<u64>,
    /// How storage is reached.
    #[command(flatten)]
    pub reach: ClassicReach,
}

impl RptArgs {
    /// The switches that were typed, with their values.
    pub fn typed(&self) -> vintage::rpt::Typed {
        let switches = [
            ("-B", &self.data_size),
            ("-f", &self.data_file),
            ("-m", &self.mode),
            ("-n", &self.nruns),
            ("-r", &self.rsmin),
            ("-R", &self.rsmax),
            ("-v", &self.verbose),
        ];
        let typed = switches
            .into_iter()
            .filter_map(|(flag, value)| Some((flag, value.clone()?)));
        typed.collect()
    }
}

impl TransactArgs {
    /// The switches with their values.
    pub fn switches(&self) -> Vec<(&'static str, &str)> {
        let mut switches = vec![
            ("-a", &self.access_mode),
            ("-b", &self.block_size),
            ("-c", &self.control_thread),
            ("-C", &self.control_threads),
            ("-i", &self.io_offset),
            ("-I", &self.io_size),
            ("-n", &self.nios),
            ("-r", &self.reads),
            ("-w", &self.writes),
            ("-s", &self.spatial_scale),
            ("-S", &self.spatial),
            ("-t", &self.time_scale),
            ("-T", &self.time),
            ("-f", &self.data_file),
            ("-v", &self.verbose),
        ];
        switches.extend(self.data_size.as_ref().map(|size| ("-B", size)));
        switches
            .into_iter()
            .map(|(flag, value)| (flag, value.as_str()))
            .collect()
    }
}

/// `seekstone classic`.
#[derive(Args, Debug)]
pub struct ClassicArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ClassicCommand,
}

/// What `seekstone classic` does.
#[derive(Debug, Subcommand)]
pub enum ClassicCommand {
    /// Make the links `rpt`, `transact`, `diskmbps` and `diskrand` in a directory.
    ///
    /// Called by such a link, this program is the one of that name: `rpt -t rptq.rpt` then is
    /// `seekstone rpt -t rptq.rpt`. Nothing that exists is replaced.
    Install {
        /// Directory of the links, such as ~/bin.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}
