//! The command lines of the classic programs.

use super::parse::within;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use drivers::DriverKind;
use units::Bytes;

use super::words::{DRIVERS, one_of};

/// What the manual does not have: how to access the storage, and what may be done to it.
#[derive(Args, Clone, Debug)]
pub struct ClassicReach {
    /// Write to the data file or device. DESTROYS its data.
    #[arg(long)]
    pub overwrite: bool,
    /// Confirm by device name that a device with known content may be wiped.
    #[arg(long, value_name = "DEVICE", requires = "overwrite")]
    pub confirm: Option<String>,
    /// Free space to leave when -B creates a data file [default: the larger of 5 % and 1 GiB, at
    /// most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// I/O engine.
    #[arg(long, value_parser = one_of(DRIVERS), default_value = "auto")]
    pub driver: DriverKind,
    /// Random seed [default: a new one each time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Print no progress and no notes.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `seekstone rpt`.
///
/// The test file names the parameter file and the workloads. Settings in the files override
/// switches, with a warning. `seekstone rpt --write-files` writes the standard files.
#[derive(Args, Debug)]
#[command(after_help = help!("rpt"))]
pub struct RptArgs {
    /// Size of the data file, if it has to be created [default: its present size].
    #[arg(short = 'B', value_name = "BYTES")]
    pub data_size: Option<String>,
    /// Data file, block device, or `sim:NAME` [default: /data/raidtest.dat].
    #[arg(short = 'f', value_name = "FILE")]
    pub data_file: Option<String>,
    /// Mode that results are stamped with: 0 Normal, 1 Continuous, 2 Reduced, 3 Rebuild,
    /// 4 Exchange; all but Normal run until stopped [default: 0].
    #[arg(short = 'm', value_name = "MODE")]
    pub mode: Option<String>,
    /// Runs through all workloads in normal mode [default: 1].
    #[arg(short = 'n', value_name = "N")]
    pub nruns: Option<String>,
    /// Lowest response time to take as the no-load level, ms [default: 0].
    #[arg(short = 'r', value_name = "MS")]
    pub rsmin: Option<String>,
    /// Response time at which a transaction workload ends, ms [default: 50].
    #[arg(short = 'R', value_name = "MS")]
    pub rsmax: Option<String>,
    /// Test file; `rptq.rpt` is the quick one.
    #[arg(short = 't', value_name = "FILE", default_value = "rpt.rpt")]
    pub test_file: PathBuf,
    /// 0 results; 1 also threads, calculations and the figures of each message; 2 also raw messages
    /// and sums. Given on the command line, also prints all workload definitions first
    /// [default: 0].
    #[arg(short = 'v', value_name = "LEVEL")]
    pub verbose: Option<String>,
    /// Write rpt.rpt, rptq.rpt, rpt.rpp and rpt.rpc to the current directory and exit. Existing
    /// files are left alone.
    #[arg(long, exclusive = true)]
    pub write_files: bool,
    /// Print plain lines even on a terminal, and start without a prompt.
    #[arg(long)]
    pub no_screen: bool,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: ClassicReach,
}

/// `seekstone transact`.
///
/// Runs one control thread and prints its messages until interrupted: thread, KiB, I/Os; seek, seek
/// and transfer, and total time in seconds; and their sums of squares.
#[derive(Args, Debug)]
#[command(after_help = help!("transact"))]
pub struct TransactArgs {
    /// How threads share the file: 0 contiguous, 1 interleaved, 2 contentious.
    #[arg(short = 'a', value_name = "MODE", default_value = "0")]
    pub access_mode: String,
    /// Block size in bytes, above 0.
    #[arg(short = 'b', value_name = "BYTES", default_value = "1")]
    pub block_size: String,
    /// Size of the data file, if it has to be created [default: its present size].
    #[arg(short = 'B', value_name = "BYTES")]
    pub data_size: Option<String>,
    /// Number of the control thread.
    #[arg(short = 'c', value_name = "N", default_value = "0")]
    pub control_thread: String,
    /// Maximum number of control threads: the parts of the file. Required, above 0.
    #[arg(short = 'C', value_name = "N", default_value = "0")]
    pub control_threads: String,
    /// Offset of the I/O within its block, in bytes; if negative, I/Os are packed into the block.
    #[arg(short = 'i', value_name = "BYTES", default_value = "-1")]
    pub io_offset: String,
    /// I/O size in bytes; 0 for the block size.
    #[arg(short = 'I', value_name = "BYTES", default_value = "0")]
    pub io_size: String,
    /// I/Os per message.
    #[arg(short = 'n', value_name = "N", default_value = "100")]
    pub nios: String,
    /// Relative number of reads; without -r and -w, all reads.
    #[arg(short = 'r', value_name = "N", default_value = "0")]
    pub reads: String,
    /// Relative number of writes.
    #[arg(short = 'w', value_name = "N", default_value = "0")]
    pub writes: String,
    /// Scale of the steps: 1 for sequential, alpha (0.5 to 2.5) for hyperbolic, the mean for
    /// exponential ones.
    #[arg(short = 's', value_name = "SCALE", default_value = "1")]
    pub spatial_scale: String,
    /// Steps from I/O to I/O: 0 sequential, 1 uniform, 2 hyperbolic, 3 exponential.
    #[arg(short = 'S', value_name = "LAW", default_value = "0")]
    pub spatial: String,
    /// Mean I/Os per second.
    #[arg(short = 't', value_name = "IOPS", default_value = "5.0")]
    pub time_scale: String,
    /// Time from I/O to I/O: 0 constant (no waiting), 1 uniform, 2 and 3 exponential.
    #[arg(short = 'T', value_name = "LAW", default_value = "0")]
    pub time: String,
    /// Data file, block device, or `sim:NAME`.
    #[arg(short = 'f', value_name = "FILE", default_value = "/data/raidtest.dat")]
    pub data_file: String,
    /// 0 messages; 3 also each I/O; 4 each I/O with its wait, ending after the first message.
    #[arg(short = 'v', value_name = "LEVEL", default_value = "0")]
    pub verbose: String,
    /// End after this many messages.
    #[arg(long, value_parser = within::<u64>(1..))]
    pub messages: Option<u64>,
    /// How to access the storage.
    #[command(flatten)]
    pub reach: ClassicReach,
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
    /// Called through such a link, Seekstone runs that command: `rpt -t rptq.rpt` is then
    /// `seekstone rpt -t rptq.rpt`. Nothing existing is replaced.
    Install {
        /// Directory of the links, such as ~/bin.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}
