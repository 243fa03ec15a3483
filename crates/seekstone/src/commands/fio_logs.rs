//! The files of fio's logs: looked at before any I/O, written while jobs run, named at the end.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;
use engine::WINDOW;
use fio::{Job, log_files};
use kinds::fio_jobs::{JobTimes, LogTo};
use workload::OpKind;

use crate::args::FioArgs;
use crate::commands::measuring::MeasuringCommand as _;
use crate::output::{self, Filling, Output};
use crate::written::check;

/// Files that are open at once, at most.
const FILES_MAX: usize = 512;

/// The log files of a run.
pub struct LogFiles {
    /// Which log goes into which.
    pub logs: Vec<LogTo>,
    /// Those of each operation, then those of all jobs together.
    files: Vec<BufWriter<Filling>>,
    /// How many are of all jobs together.
    aggregates: usize,
}

/// What `--bandwidth-log` writes, in fio's order of directions.
const AGGREGATES: [(OpKind, &str); 3] = [
    (OpKind::Read, "agg-read_bw.log"),
    (OpKind::Write, "agg-write_bw.log"),
    (OpKind::Trim, "agg-trim_bw.log"),
];

/// The bandwidth of all rows together in each whole window, KiB a second, a line each.
fn aggregate(rows: &[JobTimes], direction: usize) -> String {
    let (kind, _) = AGGREGATES[direction];
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for record in rows.iter().filter_map(|row| row.records.get(&kind)) {
        let first = record.span.begun().as_nanos() / WINDOW.as_nanos();
        let whole = record.windows.len().saturating_sub(1);
        for (window, (_, moved)) in (first..).zip(&record.windows[..whole]) {
            *bytes.entry(window).or_default() += moved;
        }
    }
    let line = |(window, bytes): (&u64, &u64)| {
        let rate = (*bytes as f64 / WINDOW.as_secs_f64() / 1024.0) as u64;
        let at = (window + 1) * (WINDOW.as_nanos() / 1_000_000);
        format!("{at}, {rate}, {direction}, 0, 0\n")
    };
    bytes.iter().map(line).collect()
}

impl LogFiles {
    /// Those that jobs ask for.
    ///
    /// # Errors
    /// When one of them cannot be written, or something would be lost by it.
    pub fn open(args: &FioArgs, jobs: &[Job]) -> anyhow::Result<Self> {
        let (logs, outputs) = wanted(args, jobs)?;
        let begun = outputs.iter().map(|it| Ok(BufWriter::new(it.begin()?)));
        let files = begun.collect::<anyhow::Result<_>>()?;
        Ok(Self {
            logs,
            files,
            aggregates: aggregates(args).count(),
        })
    }

    /// Where lines go, by number.
    pub fn writers(&mut self) -> Vec<&mut (dyn std::io::Write + Send)> {
        let files = self.files.iter_mut();
        files
            .map(|it| it as &mut (dyn std::io::Write + Send))
            .collect()
    }

    /// Write what all jobs did together.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn write_aggregates(&mut self, rows: &[JobTimes]) -> anyhow::Result<()> {
        let first = self.files.len() - self.aggregates;
        for (direction, file) in self.files[first..].iter_mut().enumerate() {
            let written = file.write_all(aggregate(rows, direction).as_bytes());
            written.context("a log cannot be written")?;
        }
        Ok(())
    }

    /// Give all files their names, but the one that failed, and say what was written.
    ///
    /// # Errors
    /// When one of them is not all there.
    pub fn finish(self, failed: Option<&(usize, String)>, quiet: bool) -> anyhow::Result<()> {
        let count = self.files.len();
        let mut names = Vec::with_capacity(count);
        for (number, mut file) in self.files.into_iter().enumerate() {
            let shown = file.get_ref().output().path().display().to_string();
            match failed {
                Some((it, why)) if *it == number => {
                    anyhow::bail!("cannot write {shown}: {why}. The logs after it are lost");
                }
                _ => {}
            }
            file.flush()
                .with_context(|| format!("{shown} cannot be written"))?;
            let filling = file.into_inner().map_err(|error| error.into_error());
            filling.context("a log cannot be written")?.finish()?;
            names.push(shown);
        }
        if let (Some(first), false) = (names.first(), quiet) {
            let more = match count {
                1 => String::new(),
                count => format!(" and {} more logs", count - 1),
            };
            output::complain(&format!("Wrote {first}{more}"));
        }
        Ok(())
    }
}

fn aggregates(args: &FioArgs) -> impl Iterator<Item = Output> {
    let aggregates = AGGREGATES.iter().filter(|_| args.bandwidth_log);
    aggregates.map(|(_, name)| Output::from(std::ffi::OsString::from(*name)))
}

/// Which log goes into which file, by number, and all files.
///
/// # Errors
/// When one of them cannot be written, or something would be lost by it.
pub fn wanted(args: &FioArgs, jobs: &[Job]) -> anyhow::Result<(Vec<LogTo>, Vec<Output>)> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut outputs: Vec<Output> = Vec::new();
    let mut logs = Vec::new();
    for file in log_files(jobs) {
        let number = *numbers.entry(file.name.clone()).or_insert_with(|| {
            outputs.push(Output::from(std::ffi::OsString::from(&file.name)));
            outputs.len() - 1
        });
        logs.push(LogTo {
            copy: file.copy,
            kind: file.kind,
            writer: number,
        });
    }
    outputs.extend(aggregates(args));
    if outputs.len() > FILES_MAX {
        refuse!(
            "the jobs write {} logs, and at most {FILES_MAX} files can be open at once. Write \
             fewer kinds of logs, or set per_job_logs=0",
            outputs.len()
        );
    }
    let mut files = args.outline().files;
    for job in jobs {
        let names = job.files.names.iter();
        files = files.and_used(names.map(std::path::PathBuf::from));
    }
    for output in &outputs {
        files = files.and("the log", Some(output));
    }
    check(&files)?;
    Ok((logs, outputs))
}
