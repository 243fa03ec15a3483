//! Arguments of `seekstone together`.

use std::path::PathBuf;

use clap::Args;
use units::{Bytes, Duration, TargetName};

use super::parse::{parse_level, parse_target};

/// A file of the machine, as in RandData.txt=40M.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArg {
    /// Its name in the programs.
    pub name: String,
    /// Its size.
    pub bytes: Bytes,
}

/// A batch file, and the host that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchArg {
    /// The host, where one is named.
    pub host: Option<String>,
    /// The file.
    pub path: PathBuf,
}

fn parse_file(text: &str) -> Result<FileArg, String> {
    let example = "such as RandData.txt=40M";
    let (name, size) = text
        .rsplit_once('=')
        .ok_or(format!("use NAME=BYTES, {example}"))?;
    if name.is_empty() {
        return Err(format!("the file has no name: use NAME=BYTES, {example}"));
    }
    let bytes: Bytes = size.parse().map_err(|error| format!("{error}"))?;
    if bytes.as_u64() == 0 {
        return Err(format!("{name} is empty: give it bytes, {example}"));
    }
    let name = name.to_owned();
    Ok(FileArg { name, bytes })
}

fn parse_batch(text: &str) -> Result<BatchArg, String> {
    let (host, path) = match text.split_once('=') {
        Some((host, path)) if !host.contains('/') => (Some(host), path),
        _ => (None, text),
    };
    if host.is_some_and(str::is_empty) || path.is_empty() {
        return Err("use HOST=FILE, such as server=ppro.bat".into());
    }
    Ok(BatchArg {
        host: host.map(str::to_owned),
        path: path.into(),
    })
}

/// `seekstone together`.
///
/// Runs several diskrand and diskmbps programs side by side on one simulated machine, in virtual
/// time. Each has its own arguments and log, as in the batch files of 1997. The same seed gives
/// the same times.
#[derive(Args, Debug)]
#[command(
    override_usage = "seekstone together MODEL [OPTIONS] -- PROGRAM.. [-- PROGRAM..]..\n       \
                      seekstone together MODEL [OPTIONS] [HOST=]BATCH..",
    after_help = help!("together")
)]
pub struct TogetherArgs {
    /// The machine, as `sim:NAME`.
    #[arg(value_name = "MODEL", value_parser = parse_target)]
    pub model: TargetName,
    /// Batch files, each with the host that runs it.
    #[arg(value_name = "[HOST=]BATCH", value_parser = parse_batch)]
    pub batches: Vec<BatchArg>,
    /// Programs that start together, each after a `--`.
    #[arg(last = true, value_name = "PROGRAM", allow_hyphen_values = true)]
    pub programs: Vec<String>,
    /// A file that exists from the start (repeatable).
    #[arg(long = "file", value_name = "NAME=BYTES", value_parser = parse_file)]
    pub files: Vec<FileArg>,
    /// Random seed. With 0 a program's draws are those of its user number alone, as in 1997.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Time of one unit of CP [default: from the machine's definition].
    #[arg(long, value_parser = parse_level)]
    pub cpu_unit: Option<Duration>,
    /// The machine's clock at the start, such as 1997-07-07T12:53:44 [default: now].
    #[arg(long, value_name = "DATE")]
    pub clock: Option<String>,
    /// Show the output of all programs as it comes.
    #[arg(long)]
    pub lines: bool,
    /// Print no notes.
    #[arg(long, short)]
    pub quiet: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_batches_are_read() {
        let file = parse_file("D:\\weezer.avi=30MiB").expect("a file");
        assert_eq!(file.name, "D:\\weezer.avi");
        assert_eq!(file.bytes.as_u64(), 30 << 20);
        for wrong in ["J1.tmp", "=40M", "J1.tmp=0", "J1.tmp=much"] {
            assert!(parse_file(wrong).is_err(), "{wrong}");
        }
        let batch = parse_batch("server=ppro.bat").expect("a batch");
        assert_eq!(batch.host.as_deref(), Some("server"));
        let batch = parse_batch("./a=b.bat").expect("a path");
        assert_eq!((batch.host, batch.path), (None, "./a=b.bat".into()));
        assert!(parse_batch("=b.bat").is_err());
        assert!(parse_batch("server=").is_err());
    }
}
