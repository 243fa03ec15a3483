//! Arguments of `seekstone diskrand`.

use clap::Args;
use units::{Bytes, Duration};

use super::parse::parse_level;

/// What the arguments mean.
pub const ARGUMENTS: &str = help!("diskrand");

/// `seekstone diskrand`.
///
/// Does what the program of 1997 did. It writes a file of records, makes the transactions of one
/// user on it, or removes it. Requests go through the system's cache, one at a time. Run several at
/// once for several users. Without arguments it prints this help.
#[derive(Args, Debug)]
#[command(
    override_usage = "seekstone diskrand Write DF MB RS LF\n       \
                      seekstone diskrand Read|Xread|Yread|Zread DF UN NT LF IO TT [KM CP]\n       \
                      seekstone diskrand Erase DF",
    after_help = ARGUMENTS
)]
pub struct DiskRandArgs {
    /// A command and its arguments.
    #[arg(value_name = "ARGUMENT", num_args = 0.., allow_negative_numbers = true)]
    pub words: Vec<String>,
    /// Bypass the page cache.
    #[arg(long)]
    pub direct: bool,
    /// Allow RS below 15, to try it out.
    #[arg(long)]
    pub short: bool,
    /// Time of one unit of CP [default: 2.5ms, or the definition of a model].
    #[arg(long, value_parser = parse_level)]
    pub cpu_unit: Option<Duration>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long)]
    pub reserve: Option<Bytes>,
    /// Print no progress and no notes.
    #[arg(long, short)]
    pub quiet: bool,
}
