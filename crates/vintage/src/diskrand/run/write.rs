//! `Write`: writes a file of records, and reads it at random in three passes.

use std::path::Path;

use crate::diskrand::{RECORDS_PER_MEGABYTE, RandomPass, RunHeading, WriteArguments, WrittenFile};
use drivers::Caching;
use random::{Purpose, Stream};
use units::Duration;

use super::log::OpenLogs;
use super::storage::TimedStorage;
use super::{WriteRequest, name_cautions};
use crate::moment::{TimeOfDay, time_of_day};
use crate::run::data_file::DataFile;
use crate::run::{ClassicError, ProgramRun, go_on, timestamp};

/// Number of read passes.
const PASSES: u64 = 3;
/// Reads between two checks of the clock; a pass has at least one such group.
const GROUP: u64 = 200;
/// Records of a model between two progress reports.
const PROGRESS_RECORDS: u64 = 4096;
/// Seed of the records, which do not depend on a user.
const SEED: u64 = 0;
/// What is left when a signal arrives.
const WHILE_WRITING: &str = "the unfinished data file was removed";

/// Texts about reading for the user.
struct ReadingWords {
    /// What is left when a signal arrives.
    kept: &'static str,
    /// Records between two progress reports.
    shown_every: u64,
}

const OF_A_FILE: ReadingWords = ReadingWords {
    kept: "the data file is whole and stays, and the log holds what was measured",
    shown_every: GROUP,
};
const OF_A_MODEL: ReadingWords = ReadingWords {
    kept: "the log holds what was measured",
    shown_every: PROGRESS_RECORDS,
};

/// Writes a file and reads it. On a model shared with other programs, it is placed after the
/// existing files.
///
/// # Errors
/// If the file is not ours, there is no space, the system refuses, the model does not exist, or a
/// signal arrives.
pub fn run_write(request: &WriteRequest, run: &mut ProgramRun<'_>) -> Result<(), ClassicError> {
    let arguments = &request.arguments;
    let (path, size) = (Path::new(&arguments.file), arguments.megabytes << 20);
    let mut session = Writing { arguments, run };
    if let Some(slot) = session.run.slot {
        let name = arguments.file.as_str();
        let logs = session.logs()?;
        slot.machine().write_file(name, size)?;
        return session.simulated(
            TimedStorage::shared(slot, name, session.run.interrupt)?,
            logs,
        );
    }
    if arguments.file.is_model() {
        return session.on_model(size);
    }
    let mut data = DataFile::open_to_write(path, size, request.reserve)?;
    let mut logs = session.logs()?;
    logs.refuse(&data.file)?;
    name_cautions(path, session.run.console);
    session.begin(timestamp(), &mut logs)?;
    session.write(&mut data, request.caching, &mut logs)?;
    let target = data.open_to_read(request.caching)?;
    let mut storage = TimedStorage::real(target, session.run.interrupt)?;
    session.read(&mut storage, &OF_A_FILE, &mut logs)?;
    if let Some(origin) = storage.origin_of_bytes() {
        let text = format!("{}: {origin}", arguments.file);
        session.run.console.note(&text);
    }
    Ok(())
}

struct Writing<'a, 'b> {
    arguments: &'a WriteArguments,
    run: &'a mut ProgramRun<'b>,
}

impl Writing<'_, '_> {
    fn logs(&self) -> Result<OpenLogs, ClassicError> {
        OpenLogs::of(self.run, &self.arguments.log)
    }

    fn records(&self) -> u64 {
        self.arguments.megabytes * RECORDS_PER_MEGABYTE
    }

    /// Screen and log have the same lines.
    fn say(&mut self, logs: &mut OpenLogs, text: &str) -> Result<(), ClassicError> {
        self.run.console.line(text);
        logs.profile(text)
    }

    fn begin(&mut self, timestamp: String, logs: &mut OpenLogs) -> Result<(), ClassicError> {
        let heading = RunHeading { timestamp };
        self.say(logs, &format!("{}\n", heading.line()))
    }

    fn write(
        &mut self,
        data: &mut DataFile,
        caching: Caching,
        logs: &mut OpenLogs,
    ) -> Result<(), ClassicError> {
        let all = self.records();
        let (console, interrupt) = (&mut *self.run.console, self.run.interrupt);
        let begun = std::time::Instant::now();
        data.write(all, caching, &mut |done| {
            go_on(interrupt, WHILE_WRITING)?;
            console.progress(&format!("writing the data file: {} %", done * 100 / all));
            Ok(())
        })?;
        let seconds = begun.elapsed().as_secs_f64();
        self.written(seconds, time_of_day(&jiff::Zoned::now()), logs)
    }

    fn written(
        &mut self,
        seconds: f64,
        time: TimeOfDay,
        logs: &mut OpenLogs,
    ) -> Result<(), ClassicError> {
        let written = WrittenFile {
            megabytes: self.arguments.megabytes,
            records: self.records(),
            seconds,
            time,
        };
        let text = format!("{}\n{}\n", written.title(), written.line());
        self.say(logs, &text)
    }

    /// Passes of at least a third of the time, in whole groups.
    fn read(
        &mut self,
        storage: &mut TimedStorage<'_>,
        reading: &ReadingWords,
        logs: &mut OpenLogs,
    ) -> Result<(), ClassicError> {
        self.say(logs, RandomPass::TITLE)?;
        let least = Duration::from_secs(self.arguments.seconds) / PASSES;
        let mut addresses = Stream::new(SEED, 0, Purpose::Address);
        for pass in 1..=PASSES {
            let begun = storage.now();
            let (mut records, mut passed) = (0, Duration::ZERO);
            while records == 0 || passed < least {
                for _ in 0..GROUP {
                    let record = addresses.below(self.records());
                    let done = storage.read(record)?;
                    passed = done.completed.since(begun);
                    self.run.go_on(reading.kept)?;
                }
                records += GROUP;
                if records % reading.shown_every < GROUP {
                    let left = least.saturating_sub(passed).as_secs_f64();
                    let text = format!("reading, pass {pass} of {PASSES}: {left:.0} s left");
                    self.run.console.progress(&text);
                }
            }
            let time = storage.time_of_day(storage.now());
            let line = RandomPass::new(records, passed.as_secs_f64(), time).line();
            self.say(logs, &line)?;
        }
        Ok(())
    }

    /// The same on a model of its own.
    fn on_model(&mut self, size: u64) -> Result<(), ClassicError> {
        let spec = lab::simulated::open_model(self.arguments.file.as_str())?;
        if size > spec.size.0 {
            return Err(ClassicError::Usage(format!(
                "{} has {}, and {} MB do not fit it. Ask for fewer, or give it a size, as in \
                 sim:mm1?mean=8ms&size=1TiB",
                spec.text, spec.size, self.arguments.megabytes
            )));
        }
        let logs = self.logs()?;
        self.simulated(
            TimedStorage::simulated(&spec, size, SEED, self.run.interrupt),
            logs,
        )
    }

    /// In virtual time.
    fn simulated(
        &mut self,
        mut storage: TimedStorage<'_>,
        mut logs: OpenLogs,
    ) -> Result<(), ClassicError> {
        self.begin(storage.timestamp(), &mut logs)?;
        let begun = storage.now();
        for record in 0..self.records() {
            storage.write(record)?;
            self.run.go_on(OF_A_MODEL.kept)?;
            if record % PROGRESS_RECORDS == 0 {
                let percent = record * 100 / self.records();
                let text = format!("writing the model: {percent} %");
                self.run.console.progress(&text);
            }
        }
        let now = storage.now();
        let time = storage.time_of_day(now);
        self.written(now.since(begun).as_secs_f64(), time, &mut logs)?;
        self.read(&mut storage, &OF_A_MODEL, &mut logs)
    }
}
