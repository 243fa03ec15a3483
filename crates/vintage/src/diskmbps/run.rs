//! Runs `diskmbps`: writes a file in blocks of 64 KiB and reads it, or reads an existing file.
//!
//! As in 1997 everything goes through the system's cache, and a written file is closed, not synced.
//! The data file is created exclusively and always removed at the end. An existing file is opened
//! for reading only. Source: the document "Disk Data Transfer Rate Test".

mod files;
mod model;

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::diskmbps::{
    BLOCK_BYTES, BLOCK_WORDS, BLOCKS_PER_MEGABYTE, DiskmbpsArguments, DiskmbpsWork, Finished,
    LogHeading, PassKind, Stamp, block, job_name, last_word,
};
use drivers::{Caching, Payload, Seal, Target};
use rustix::time::{ClockId, clock_gettime};
use units::Bytes;
use workload::TargetId;

use files::PassLog;
use model::SequentialModel;

use crate::run::data_file::{DataFate, DataFile, check_room, open_to_read};
use crate::run::shared::{ProgramSlot, moment_after};
use crate::run::{ClassicError, ProgramRun, timestamp_of};

/// How many seconds a job waits for one without another job's log.
const SECONDS_WAITED: u32 = 3;

/// Start of a job, and its name.
#[derive(Clone, Debug, Default)]
pub struct JobStart {
    /// Its name, such as `J143308N`.
    pub name: String,
    /// In the format of C's `ctime`.
    pub timestamp: String,
}

impl JobStart {
    /// A job that starts now, or in the next second if another one of this second left its log in
    /// the current directory: logs are named by the second, and batches run one job after the
    /// other.
    pub fn now(letter: char) -> Self {
        let mut now = jiff::Zoned::now();
        for _ in 0..SECONDS_WAITED {
            if Self::at(&now, letter).is_free() {
                break;
            }
            let over = now.subsec_nanosecond().unsigned_abs();
            std::thread::sleep(Duration::from_nanos(u64::from(1_000_000_000 - over)));
            now = jiff::Zoned::now();
        }
        Self::at(&now, letter)
    }

    /// The same on the clock of a machine shared by several programs.
    pub(crate) fn in_slot(slot: &ProgramSlot, letter: char) -> Result<Self, ClassicError> {
        for _ in 0..SECONDS_WAITED {
            if Self::at(&slot.moment(), letter).is_free() {
                break;
            }
            slot.pass_time(slot.now() + units::Duration::from_secs(1))?;
        }
        Ok(Self::at(&slot.moment(), letter))
    }

    fn is_free(&self) -> bool {
        Path::new(&log_name(&self.name)).symlink_metadata().is_err()
    }

    fn at(now: &jiff::Zoned, letter: char) -> Self {
        Self {
            name: job_name(&now.strftime("%H%M%S").to_string(), letter),
            timestamp: timestamp_of(now),
        }
    }
}

fn log_name(job: &str) -> String {
    format!("{job}.TXT")
}

/// A job to run.
#[derive(Clone, Debug)]
pub struct DiskMbps {
    /// The command line.
    pub arguments: DiskmbpsArguments,
    /// Names of server and client, if asked for.
    pub names: Option<(String, String)>,
    /// When it began.
    pub start: JobStart,
    /// Reserve of free space.
    pub reserve: Option<u64>,
    /// Whether the data file is kept once it is written.
    pub keep: bool,
}

impl DiskMbps {
    /// A job with that command line.
    pub const fn new(arguments: DiskmbpsArguments, start: JobStart) -> Self {
        Self {
            arguments,
            names: None,
            start,
            reserve: None,
            keep: false,
        }
    }

    /// The passes, in order.
    fn kinds(&self) -> Vec<PassKind> {
        let reads = 1..=self.arguments.passes;
        match self.arguments.work {
            DiskmbpsWork::Write { .. } => std::iter::once(PassKind::Write)
                .chain(reads.map(PassKind::Read))
                .collect(),
            DiskmbpsWork::Read { .. } => reads.map(PassKind::ReadExisting).collect(),
        }
    }

    /// Whether a data file is written: with files, and if no model is named.
    pub fn makes_file(&self) -> bool {
        let work = &self.arguments.work;
        matches!(work, DiskmbpsWork::Write { .. }) && model::named(work).is_none()
    }
}

/// Runs a job, with its log in the current directory. Returns the passes. On a model shared with
/// other programs, the data file is removed at the end.
///
/// # Errors
/// If a file cannot be created, written or read, has other data than were written, or a signal
/// arrives. Only a log of the finished passes is left then.
pub fn run_diskmbps(
    job: &DiskMbps,
    run: &mut ProgramRun<'_>,
) -> Result<Vec<Finished>, ClassicError> {
    let work = &job.arguments.work;
    let is_writing = matches!(work, DiskmbpsWork::Write { .. });
    let (source, written) = match run.slot {
        None => (DataSource::of(job)?, None),
        Some(slot) => {
            let model = SequentialModel::in_slot(slot, work, &job.start.name)?;
            let written = is_writing.then(|| (slot, model.name.clone()));
            (DataSource::Model(Box::new(model)), written)
        }
    };
    let done = run_job(job, source, run);
    if let Some((slot, name)) = written {
        slot.machine().remove_file(&name)?;
    }
    done
}

fn run_job(
    job: &DiskMbps,
    source: DataSource,
    run: &mut ProgramRun<'_>,
) -> Result<Vec<Finished>, ClassicError> {
    let in_slot = |slot: &ProgramSlot| Moment::at_start(slot.begun());
    let mut session = DiskMbpsRun {
        log: PassLog::create(run.logs, &job.start.name)?,
        begun: run.slot.map_or_else(Moment::now, in_slot),
        run,
        is_kept: false,
        passes: Vec::new(),
    };
    let done = session.run(job, source);
    if let Err(error) = &done {
        session.log.close_with(error);
    }
    done.map(|()| session.passes)
}

/// Where the data is.
enum DataSource {
    New { path: PathBuf, megabytes: u64 },
    Existing(Target),
    Model(Box<SequentialModel>),
}

impl DataSource {
    fn of(job: &DiskMbps) -> Result<Self, ClassicError> {
        let work = &job.arguments.work;
        if let Some(name) = model::named(work) {
            return Ok(Self::Model(Box::new(SequentialModel::open(name, work)?)));
        }
        match work {
            DiskmbpsWork::Write {
                megabytes,
                directory,
            } => {
                let directory = Path::new(directory.as_deref().unwrap_or("."));
                refuse_no_directory(directory)?;
                let size = *megabytes << 20;
                let what = format!("{} in {}", Bytes(size), directory.display());
                check_room(directory, [size, 0], job.reserve, &what, "fewer megabytes")?;
                Ok(Self::New {
                    path: directory.join(format!("{}.TMP", job.start.name)),
                    megabytes: *megabytes,
                })
            }
            DiskmbpsWork::Read { file } => Ok(Self::Existing(open_existing(Path::new(file))?)),
        }
    }

    /// The existing file, if one is read.
    fn reading(&self, work: &DiskmbpsWork) -> Option<String> {
        match self {
            Self::Existing(target) => Some(target.path().display().to_string()),
            Self::Model(model) => {
                matches!(work, DiskmbpsWork::Read { .. }).then(|| model.name.clone())
            }
            Self::New { .. } => None,
        }
    }
}

struct DiskMbpsRun<'a, 'b> {
    log: PassLog,
    run: &'a mut ProgramRun<'b>,
    /// The clocks at the start of a model.
    begun: Moment,
    /// Whether the data file is written and kept.
    is_kept: bool,
    /// Finished passes.
    passes: Vec<Finished>,
}

impl DiskMbpsRun<'_, '_> {
    fn run(&mut self, job: &DiskMbps, source: DataSource) -> Result<(), ClassicError> {
        let heading = LogHeading {
            names: job.names.clone(),
            job: job.start.name.clone(),
            timestamp: job.start.timestamp.clone(),
            reading: source.reading(&job.arguments.work),
        };
        self.log.put(&heading.in_log())?;
        if let Some(file) = &heading.reading {
            self.say(&format!("Reading file {file}"));
        }
        match source {
            DataSource::New { path, megabytes } => self.run_new(job, path, megabytes)?,
            DataSource::Existing(target) => {
                for kind in job.kinds() {
                    let pass = self.read(target.file(), target.path(), kind, target.size())?;
                    self.finish(pass, &Moment::now())?;
                }
            }
            DataSource::Model(mut model) => {
                if let DiskmbpsWork::Write { megabytes, .. } = job.arguments.work {
                    self.data_file(&model.name, megabytes)?;
                }
                for kind in job.kinds() {
                    let pass =
                        model.pass(kind, &|| self.go_on("the passes that were done are above"))?;
                    self.finish(pass, &self.begun.after(model.elapsed()))?;
                }
            }
        }
        let log = &self.log.name;
        let end = format!("\nEnd of program - results are in file {log}");
        self.say(&end);
        Ok(())
    }

    /// Writes a data file, and reads it.
    fn run_new(
        &mut self,
        job: &DiskMbps,
        path: PathBuf,
        megabytes: u64,
    ) -> Result<(), ClassicError> {
        let bytes = megabytes << 20;
        let mut data = DataFile::create(path, bytes)?;
        let name = data.path.display().to_string();
        let name = name.strip_prefix("./").unwrap_or(&name);
        self.data_file(name, megabytes)?;
        for kind in job.kinds() {
            let pass = if kind == PassKind::Write {
                self.write(&data, megabytes)?
            } else {
                self.read(&data.open()?, &data.path, kind, bytes)?
            };
            self.finish(pass, &Moment::now())?;
            if job.keep {
                data.fate = DataFate::Given;
                self.is_kept = true;
            }
        }
        let ended = data.end();
        ended.map_err(ClassicError::file("remove", data.path.as_path()))?;
        if job.keep {
            let passes = job.arguments.passes;
            self.say(&format!(
                "\nData file {name} is kept: 0 {passes} X {name} reads it again"
            ));
        }
        Ok(())
    }

    fn say(&mut self, line: &str) {
        self.run.console.line(line);
    }

    fn write(&self, data: &DataFile, megabytes: u64) -> Result<Finished, ClassicError> {
        let block = sealed_block();
        let begun = Instant::now();
        for _ in 0..megabytes * BLOCKS_PER_MEGABYTE {
            self.go_on(self.kept())?;
            (&data.file)
                .write_all(&block)
                .map_err(ClassicError::file("write", data.path.as_path()))?;
        }
        Ok(Finished {
            kind: PassKind::Write,
            bytes: megabytes << 20,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    /// Prints the name of the file to write.
    fn data_file(&mut self, name: &str, megabytes: u64) -> Result<(), ClassicError> {
        let line = LogHeading::data_file(name, megabytes);
        self.say(&format!("{line}\n"));
        self.log.put(&line)
    }

    fn read(
        &self,
        file: &File,
        path: &Path,
        kind: PassKind,
        bytes: u64,
    ) -> Result<Finished, ClassicError> {
        let mut block = vec![0; BLOCK_BYTES];
        let begun = Instant::now();
        let mut at = 0;
        while at < bytes {
            self.go_on(self.kept())?;
            let wanted = (bytes - at).min(BLOCK_BYTES as u64) as usize;
            let count = read_block(file, &mut block[..wanted], at)
                .map_err(ClassicError::file("read", path))?;
            if count < wanted {
                return Err(ClassicError::Operation(format!(
                    "{} ends after {} bytes, and had {bytes} when it was opened",
                    path.display(),
                    at + count as u64
                )));
            }
            if matches!(kind, PassKind::Read(_)) {
                check(path, &block, at)?;
            }
            at += count as u64;
        }
        Ok(Finished {
            kind,
            bytes,
            seconds: begun.elapsed().as_secs_f64(),
        })
    }

    fn finish(&mut self, pass: Finished, ended: &Moment) -> Result<(), ClassicError> {
        if pass.kind == PassKind::Write {
            let megabytes = pass.bytes >> 20;
            self.say(&LogHeading::written_on_screen(megabytes));
            self.log.put(&LogHeading::written_in_log(megabytes))?;
        }
        self.say(&pass.on_screen());
        self.log.put(&pass.in_log(&ended.stamp()))?;
        self.log.has_passes = true;
        self.passes.push(pass);
        Ok(())
    }

    fn go_on(&self, kept: &'static str) -> Result<(), ClassicError> {
        self.run.go_on(kept)
    }

    /// What is left when a signal arrives.
    const fn kept(&self) -> &'static str {
        if self.is_kept {
            "the data file is kept, and the log holds the passes that were done"
        } else if self.log.has_passes {
            "the data file was removed, and the log holds the passes that were done"
        } else {
            "nothing was measured, and nothing is left"
        }
    }
}

/// A block of the document, with the seal of this run at the start of each part, since a file is
/// checked at unpredictable places.
fn sealed_block() -> Vec<u8> {
    let mut bytes = block();
    let payload = Payload {
        run: Seal::of_this_run().number(),
        ..Payload::default()
    };
    payload.stamp(&mut bytes, TargetId(0), 0);
    bytes
}

/// Reads a block, or as much as there is.
fn read_block(file: &File, block: &mut [u8], at: u64) -> std::io::Result<usize> {
    let mut done = 0;
    while done < block.len() {
        match file.read_at(&mut block[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn check(path: &Path, block: &[u8], at: u64) -> Result<(), ClassicError> {
    match last_word(block) {
        Some(BLOCK_WORDS) => Ok(()),
        found => Err(ClassicError::Operation(format!(
            "{}: the block at byte {at} ends with the word {}, and {BLOCK_WORDS} was written: the \
             storage returned different data from what was written",
            path.display(),
            found.unwrap_or_default()
        ))),
    }
}

/// A time on the clocks of this host.
struct Moment {
    date: jiff::Zoned,
    monotonic: f64,
}

impl Moment {
    fn now() -> Self {
        let clock = clock_gettime(ClockId::Monotonic);
        Self {
            date: jiff::Zoned::now(),
            monotonic: clock.tv_sec as f64 + clock.tv_nsec as f64 * 1e-9,
        }
    }

    /// The clocks at the start of a machine.
    fn at_start(date: &jiff::Zoned) -> Self {
        Self {
            date: date.clone(),
            monotonic: 0.0,
        }
    }

    /// The same clocks later, as if a model had taken real time.
    fn after(&self, elapsed: units::Duration) -> Self {
        Self {
            date: moment_after(&self.date, units::Instant::START + elapsed),
            monotonic: self.monotonic + elapsed.as_secs_f64(),
        }
    }

    fn stamp(&self) -> Stamp {
        let system = rustix::system::uname();
        let host = system.nodename().to_string_lossy().into_owned();
        Stamp {
            time: self.date.strftime("%H:%M:%S").to_string(),
            // A host name has no blanks; with one, the line could not be parsed.
            host: host.split_whitespace().collect::<Vec<_>>().join("-"),
            monotonic: self.monotonic,
            wall: format!("{:.3}", self.date.timestamp()),
        }
    }
}

fn refuse_no_directory(path: &Path) -> Result<(), ClassicError> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(ClassicError::Usage(format!(
            "{} is no directory: the fourth argument names the directory in which the data file \
             is made; to read a file that exists, say 0 megabytes",
            path.display()
        ))),
        Err(error) => Err(ClassicError::file("use the directory", path)(error)),
    }
}

fn open_existing(path: &Path) -> Result<Target, ClassicError> {
    let target = open_to_read(path, Caching::Buffered)?;
    if target.size() == 0 {
        let text = format!("{} is empty: there is nothing to read", path.display());
        return Err(ClassicError::Usage(text));
    }
    Ok(target)
}
