//! Arguments of `seekstone diskrand`.

use clap::Args;
use units::{Bytes, Duration};

use super::parse::parse_level;

/// What the arguments mean.
pub const ARGUMENTS: &str = "\
Write or W  writes a data file, and reads it at random in three passes
Read or R   one user makes transactions, and its response times are measured
Xread or X  the same with other random numbers each time
Yread or Y  the same with a random factor for the I/Os and processor work of each transaction
Zread or Z  both
Erase or E  removes a data file, if it holds what Write writes

DF  data file; for Read any file, or sim:NAME
MB  megabytes to write, of 1048576 bytes
RS  seconds of reading, 15 at least: a third for each pass
LF  log file, which several programs may share; 2logs stands for Multi1.txt with the profiles and
    Multi2.txt with the transactions
UN  user number, which seeds the random numbers
NT  number of transactions
IO  records of 4096 bytes that a transaction reads
TT  average think time in seconds; each is a whole number from 0 to twice TT
KM  kilobytes of memory to allocate and touch
CP  processor work of a transaction, in seconds of an 80486DX2/66

Example: a file of 40 MB, a user alone, four users at once, and the file removed
  seekstone diskrand Write RandData.txt 40 15 LogFile.txt
  seekstone diskrand Read RandData.txt 101 50 LogFile.txt 20 1
  for u in 101 102 103 104; do seekstone diskrand Read RandData.txt $u 50 2logs 20 1 & done; wait
  seekstone diskrand Erase RandData.txt

`seekstone runs import LogFile.txt` archives what a log holds. docs/evidence/diskrand.md compares
each output with the document's. `seekstone transactions` measures many users with intervals.";

/// `seekstone diskrand`.
///
/// Writes a file of records and reads it at random, makes the transactions of one user, or removes
/// the file, as the program of 1997 does: through the system's cache, one request at a time. Run
/// several at once for several users. Without arguments it prints this help.
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
    #[arg(long, value_name = "TIME", value_parser = parse_level)]
    pub cpu_unit: Option<Duration>,
    /// Free space to leave [default: the larger of 5 % and 1 GiB, at most a quarter].
    #[arg(long, value_name = "BYTES")]
    pub reserve: Option<Bytes>,
    /// Print no progress and no notes.
    #[arg(long, short)]
    pub quiet: bool,
}
