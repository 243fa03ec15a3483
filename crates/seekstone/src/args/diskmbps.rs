//! Arguments of `seekstone diskmbps` and of `seekstone runs merge`.

use clap::Args;
use units::Bytes;

/// `seekstone diskmbps`.
///
/// Writes a file in blocks of 64 KiB and reads it, all through the system's cache, as the program
/// of 1997 does; or reads a file that exists, without altering it. Without arguments it asks for
/// server and client name, size and passes.
#[derive(Args, Debug)]
#[command(after_help = help!("diskmbps"))]
pub struct DiskMbpsArgs {
    /// `MB PASSES [X [PATH]]`.
    #[arg(value_name = "ARGUMENT", num_args = 0.., allow_negative_numbers = true)]
    pub words: Vec<String>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Keep the data file, so that 0 megabytes can read it again.
    #[arg(long)]
    pub keep: bool,
    /// Print no notes.
    #[arg(long, short)]
    pub quiet: bool,
}
