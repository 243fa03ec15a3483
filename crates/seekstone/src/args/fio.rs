//! Arguments of `seekstone fio`.

use std::path::PathBuf;

use clap::Args;

/// `seekstone fio`.
#[derive(Args, Debug)]
#[command(
    after_help = "Options of fio's own, such as --name=a --rw=randread, make jobs as in fio.\n\n\
Examples:\n  \
seekstone fio jobs.fio --check\n  \
seekstone fio jobs.fio --showcmd --section randread\n  \
seekstone fio --check --name=a --rw=randread --size=1g --direct=1"
)]
pub struct FioArgs {
    /// Job files of fio's; a later file waits for the jobs of an earlier one.
    #[arg(value_name = "JOBFILE")]
    pub files: Vec<PathBuf>,
    /// Say what becomes of each option, and what the jobs would measure; nothing is read or
    /// written but job files.
    #[arg(long)]
    pub check: bool,
    /// Print the jobs as fio's command line.
    #[arg(long)]
    pub showcmd: bool,
    /// Only the jobs of this name; may be given several times.
    #[arg(long = "section", value_name = "NAME")]
    pub sections: Vec<String>,
    /// Options of fio's own.
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}
