//! Runs `diskmbps`: writes a file in blocks of 64 KiB and reads it, or reads a file that exists.
//!
//! As in 1997 everything goes through the system's cache, and a written file is closed, not synced.
//! The data file is made exclusively and removed at the end whatever happened; a file that exists
//! is opened for reading only. Source: the document "Disk Data Transfer Rate Test".

mod files;
mod model;

pub use model::passes_on_model;

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::diskmbps::{
    Arguments, BLOCK_BYTES, BLOCK_WORDS, BLOCKS_PER_MEGABYTE, Finished, Heading, PassKind, Stamp,
    Work, block, job_name, last_word,
};
use drivers::{AccessMode, Caching, Payload, Seal, Target, TargetOptions, free_space};
use rustix::time::{ClockId, clock_gettime};
use units::Bytes;
use workload::TargetId;

use files::{DataFile, Log};
use model::Model;

use crate::diskrand::run::LogPlace;
use crate::run::ClassicError;
use crate::run::shared::ProgramSeat;
use host::interrupt::Interrupt;

/// Seconds that a job waits for one in which no other left its log.
const SECONDS_WAITED: u32 = 3;

/// When a job began, and what it is called.
#[derive(Clone, Debug)]
pub struct JobStart {
    /// Its name, such as `J143308N`.
    pub name: String,
    /// As C's `ctime` writes it.
    pub timestamp: String,
}

impl JobStart {
    /// A job that begins now; or in the next second, where one of this second left its log in the
    /// current directory: a log has its name from the second, and batches run job after job.
    #[must_use]
    pub fn now(letter: char) -> Self {
        for _ in 0..SECONDS_WAITED {
            let now = jiff::Zoned::now();
            let start = Self::at(&now, letter);
            if Path::new(&log_name(&start.name))
                .symlink_metadata()
                .is_err()
            {
                return start;
            }
            let over = now.subsec_nanosecond().unsigned_abs();
            std::thread::sleep(Duration::from_nanos(u64::from(1_000_000_000 - over)));
        }
        Self::at(&jiff::Zoned::now(), letter)
    }

    /// The same on the clock of a machine that several programs use.
    fn at_seat(seat: &ProgramSeat, letter: char) -> Result<Self, ClassicError> {
        for _ in 0..SECONDS_WAITED {
            let start = Self::at(&seat.moment(), letter);
            if Path::new(&log_name(&start.name))
                .symlink_metadata()
                .is_err()
            {
                return Ok(start);
            }
            seat.pass_time(seat.now() + units::Duration::from_secs(1))?;
        }
        Ok(Self::at(&seat.moment(), letter))
    }

    fn at(now: &jiff::Zoned, letter: char) -> Self {
        Self {
            name: job_name(&now.strftime("%H%M%S").to_string(), letter),
            timestamp: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        }
    }
}

fn log_name(job: &str) -> String {
    format!("{job}.TXT")
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct DiskMbps {
    /// What was typed.
    pub arguments: Arguments,
    /// Names of server and client, where somebody was asked for them.
    pub names: Option<(String, String)>,
    /// When it began.
    pub start: JobStart,
    /// Room that stays free.
    pub reserve: Option<u64>,
    /// Whether the data file stays once it is written.
    pub keep: bool,
}

impl DiskMbps {
    /// Whether a data file is written, which is the case where files are and no model is named.
    #[must_use]
    pub fn makes_file(&self) -> bool {
        let work = &self.arguments.work;
        matches!(work, Work::Write { .. }) && model::named(work).is_none()
    }
}

/// Told each line of the screen.
pub type Screen<'a> = &'a mut dyn FnMut(&str);

/// Run a job; the log is made in the current directory.
///
/// # Errors
/// When a file cannot be made, written or read, holds other data than were written, or a signal
/// comes. Nothing is left then but a log of the passes that were done before.
pub fn run_diskmbps(
    job: &DiskMbps,
    interrupt: &Interrupt,
    screen: Screen<'_>,
) -> Result<(), ClassicError> {
    let source = Source::of(job)?;
    run_job(job, source, &Moment::now(), interrupt, screen).map(drop)
}

/// The same on a model that other programs use, too; its data file is gone at the end. Returns the
/// passes.
pub(crate) fn diskmbps_at_seat(
    arguments: &Arguments,
    seat: &ProgramSeat,
    logs: LogPlace,
    interrupt: &Interrupt,
    screen: Screen<'_>,
) -> Result<Vec<Finished>, ClassicError> {
    let start = JobStart::at_seat(seat, arguments.letter)?;
    let mut model = Model::at_seat(seat, &arguments.work, &start.name)?;
    let written = matches!(arguments.work, Work::Write { .. }).then(|| model.name.clone());
    let done = match logs {
        LogPlace::Named => {
            let job = DiskMbps {
                arguments: arguments.clone(),
                names: None,
                start,
                reserve: None,
                keep: false,
            };
            let begun = Moment::at_start(seat.begun());
            run_job(
                &job,
                Source::Model(Box::new(model)),
                &begun,
                interrupt,
                screen,
            )
        }
        LogPlace::Nowhere => {
            let kinds = model::kinds(arguments).into_iter();
            kinds.map(|kind| model.pass(kind, interrupt)).collect()
        }
    };
    if let Some(name) = written {
        seat.machine().remove_file(&name)?;
    }
    done
}

fn run_job(
    job: &DiskMbps,
    source: Source,
    begun: &Moment,
    interrupt: &Interrupt,
    screen: Screen<'_>,
) -> Result<Vec<Finished>, ClassicError> {
    let mut log = Log::create(&job.start.name)?;
    let mut session = DiskMbpsRun {
        log: &mut log,
        interrupt,
        screen,
        is_kept: false,
        passes: Vec::new(),
    };
    let done = session.run(job, source, begun);
    let passes = session.passes;
    if let Err(error) = &done {
        log.close_with(error);
    }
    done.map(|()| passes)
}

/// Where the data are.
enum Source {
    New { path: PathBuf, megabytes: u64 },
    Existing(Target),
    Model(Box<Model>),
}

impl Source {
    fn of(job: &DiskMbps) -> Result<Self, ClassicError> {
        let work = &job.arguments.work;
        if let Some(name) = model::named(work) {
            return Ok(Self::Model(Box::new(Model::open(name, work)?)));
        }
        match work {
            Work::Write {
                megabytes,
                directory,
            } => {
                let directory = Path::new(directory.as_deref().unwrap_or("."));
                refuse_no_directory(directory)?;
                check_room(directory, *megabytes << 20, job.reserve)?;
                Ok(Self::New {
                    path: directory.join(format!("{}.TMP", job.start.name)),
                    megabytes: *megabytes,
                })
            }
            Work::Read { file } => Ok(Self::Existing(open_existing(Path::new(file))?)),
        }
    }

    /// The file that exists already, if one is read.
    fn reading(&self, work: &Work) -> Option<String> {
        match self {
            Self::New { .. } => None,
            Self::Existing(target) => Some(target.path().display().to_string()),
            Self::Model(model) => matches!(work, Work::Read { .. }).then(|| model.name.clone()),
        }
    }
}

struct DiskMbpsRun<'a> {
    log: &'a mut Log,
    interrupt: &'a Interrupt,
    screen: Screen<'a>,
    /// Whether the data file is written, and stays.
    is_kept: bool,
    /// Those that were done.
    passes: Vec<Finished>,
}

fn data_name(path: &Path) -> String {
    let name = path.display().to_string();
    name.strip_prefix("./").map_or(name.clone(), str::to_owned)
}

impl DiskMbpsRun<'_> {
    fn run(&mut self, job: &DiskMbps, source: Source, begun: &Moment) -> Result<(), ClassicError> {
        let heading = Heading {
            names: job.names.clone(),
            job: job.start.name.clone(),
            timestamp: job.start.timestamp.clone(),
            reading: source.reading(&job.arguments.work),
        };
        self.log.put(&heading.in_log())?;
        match source {
            Source::New { path, megabytes } => {
                let bytes = megabytes << 20;
                let mut data = DataFile::create(path, bytes)?;
                self.write(&data, megabytes)?;
                data.is_kept = job.keep;
                self.is_kept = job.keep;
                for number in 1..=job.arguments.passes {
                    let file = data.open()?;
                    let kind = PassKind::Read(number);
                    self.read(&file, &data.path, kind, bytes)?;
                }
                data.end()?;
                if job.keep {
                    let path = data_name(&data.path);
                    (self.screen)(&format!(
                        "\nData file {path} is kept: {} reads it again",
                        format_args!("0 {} X {path}", job.arguments.passes)
                    ));
                }
            }
            Source::Existing(target) => {
                (self.screen)(&format!("Reading file {}", target.path().display()));
                for number in 1..=job.arguments.passes {
                    let kind = PassKind::ReadExisting(number);
                    self.read(target.file(), target.path(), kind, target.size())?;
                }
            }
            Source::Model(mut model) => {
                if let Work::Write { megabytes, .. } = job.arguments.work {
                    self.data_file(&model.name, megabytes)?;
                } else {
                    (self.screen)(&format!("Reading file {}", model.name));
                }
                for kind in model::kinds(&job.arguments) {
                    let pass = model.pass(kind, self.interrupt)?;
                    self.finish(&pass, &begun.after(model.elapsed()))?;
                }
            }
        }
        let log = self.log.name.clone();
        (self.screen)(&format!("\nEnd of program - results are in file {log}"));
        Ok(())
    }

    fn write(&mut self, data: &DataFile, megabytes: u64) -> Result<(), ClassicError> {
        self.data_file(&data_name(&data.path), megabytes)?;
        let block = sealed_block();
        let begun = Instant::now();
        for _ in 0..megabytes * BLOCKS_PER_MEGABYTE {
            self.go_on()?;
            (&data.file)
                .write_all(&block)
                .map_err(ClassicError::file("write", data.path.as_path()))?;
        }
        let pass = Finished {
            kind: PassKind::Write,
            bytes: megabytes << 20,
            seconds: begun.elapsed().as_secs_f64(),
        };
        self.finish(&pass, &Moment::now())
    }

    /// Name the file that is written.
    fn data_file(&mut self, name: &str, megabytes: u64) -> Result<(), ClassicError> {
        let line = Heading::data_file(name, megabytes);
        (self.screen)(&format!("{line}\n"));
        self.log.put(&line)
    }

    fn read(
        &mut self,
        file: &File,
        path: &Path,
        kind: PassKind,
        bytes: u64,
    ) -> Result<(), ClassicError> {
        let mut block = vec![0; BLOCK_BYTES];
        let begun = Instant::now();
        let mut at = 0;
        while at < bytes {
            self.go_on()?;
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
        let pass = Finished {
            kind,
            bytes,
            seconds: begun.elapsed().as_secs_f64(),
        };
        self.finish(&pass, &Moment::now())
    }

    fn finish(&mut self, pass: &Finished, ended: &Moment) -> Result<(), ClassicError> {
        if pass.kind == PassKind::Write {
            let megabytes = pass.bytes >> 20;
            (self.screen)(&Heading::written_on_screen(megabytes));
            self.log.put(&Heading::written_in_log(megabytes))?;
        }
        (self.screen)(&pass.on_screen());
        self.log.put(&pass.in_log(&ended.stamp()))?;
        self.log.has_passes = true;
        self.passes.push(pass.clone());
        Ok(())
    }

    fn go_on(&self) -> Result<(), ClassicError> {
        match self.interrupt.is_raised() {
            None => Ok(()),
            Some(signal) => Err(ClassicError::Interrupted {
                signal: signal.name,
                kept: if self.is_kept {
                    "the data file is kept, and the log holds the passes that were done"
                } else if self.log.has_passes {
                    "the data file was removed, and the log holds the passes that were done"
                } else {
                    "nothing was measured, and nothing is left"
                },
            }),
        }
    }
}

/// A block of the document's, with the seal of this run at the beginning of each part of it: a file
/// is looked at in places that nobody knows beforehand.
fn sealed_block() -> Vec<u8> {
    let mut bytes = block();
    let payload = Payload {
        run: Seal::of_this_run().number(),
        ..Payload::default()
    };
    payload.stamp(&mut bytes, TargetId(0), 0);
    bytes
}

/// As much of a block as there is.
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

/// An instant on the clocks of this host.
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

    /// The clocks of a machine at rest.
    fn at_start(date: &jiff::Zoned) -> Self {
        Self {
            date: date.clone(),
            monotonic: 0.0,
        }
    }

    /// The same clocks later: what they would show had a model taken its time here.
    fn after(&self, elapsed: Duration) -> Self {
        let date = self
            .date
            .checked_add(jiff::SignedDuration::try_from(elapsed).unwrap_or_default());
        Self {
            date: date.unwrap_or_else(|_| self.date.clone()),
            monotonic: self.monotonic + elapsed.as_secs_f64(),
        }
    }

    fn stamp(&self) -> Stamp {
        let system = rustix::system::uname();
        let host = system.nodename().to_string_lossy().into_owned();
        Stamp {
            time: self.date.strftime("%H:%M:%S").to_string(),
            // A host name has no blanks; were there one, the line could not be read back.
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

fn check_room(directory: &Path, size: u64, reserve: Option<u64>) -> Result<(), ClassicError> {
    let space = free_space(directory)?;
    let reserve = reserve.unwrap_or(space.reserve);
    if size.saturating_add(reserve) <= space.available {
        return Ok(());
    }
    Err(ClassicError::Usage(format!(
        "there is no space for {} in {}: {} are free, and {} must stay free; ask for fewer \
         megabytes, keep less free (--reserve), or free some space",
        Bytes(size),
        directory.display(),
        Bytes(space.available),
        Bytes(reserve)
    )))
}

fn open_existing(path: &Path) -> Result<Target, ClassicError> {
    let options = TargetOptions {
        access: AccessMode::ReadOnly,
        caching: Caching::Buffered,
        signature_confirmed: None,
    };
    let target = Target::open(path, &options)?;
    if target.size() == 0 {
        let text = format!("{} is empty: there is nothing to read", path.display());
        return Err(ClassicError::Usage(text));
    }
    Ok(target)
}
