//! `Read` and its variants: one user thinks, and performs transactions.

use std::path::Path;

use crate::diskrand::{Allocated, ReadArguments, ReadProfile, RunHeading, Stopped, Transaction};
use drivers::PAGE_BYTES;
use units::{Bytes, Duration, Instant};

use super::data_file::open_existing;
use super::log::OpenLogs;
use super::script::{ScriptStep, UserStreams};
use super::storage::TimedStorage;
use super::summary::ReadSummary;
use super::{UserRequest, name_cautions};
use crate::moment::{seconds_of_day, time_of_day};
use crate::run::shared::ProgramSlot;
use crate::run::{ClassicError, ProgramRun};
use host::limits::{Excess, LimitError, check_budget};
use lab::laboratory::with_causes;

/// Number of files of a program.
const FILES: u64 = 8;
/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;
/// Memory allocated at once, bytes.
const MEMORY_PART: usize = 64 << 20;

/// Result of a user.
#[derive(Debug)]
pub struct UserOutcome {
    /// Its response times.
    pub summary: ReadSummary,
    /// Why it did not perform all its transactions.
    pub ended: Result<(), ClassicError>,
}

/// Acts as one user until its transactions are done.
///
/// # Errors
///
/// If it cannot start. Later errors are part of the outcome.
pub fn run_user(
    request: &UserRequest,
    run: &mut ProgramRun<'_>,
) -> Result<UserOutcome, ClassicError> {
    let arguments = &request.arguments;
    let is_alone_on_model = run.slot.is_none() && arguments.file.is_model();
    let is_simulated = run.slot.is_some() || is_alone_on_model;
    let asked = arguments.memory_kb.saturating_mul(1024);
    let memory = if is_simulated { 0 } else { asked };
    check_budget(FILES, memory).map_err(|error| too_much_memory(error, arguments))?;
    let now = run.slot.map_or_else(jiff::Zoned::now, ProgramSlot::moment);
    let seed = seed_of(arguments, &now);
    let (storage, mut logs) = open(request, seed, run)?;
    let number = logs.claim(arguments.user)?;
    let mut user = User {
        script: UserStreams::new(arguments, request.cpu_unit, storage.bytes() / RECORD, seed),
        storage,
        arguments,
        run,
        memory: Vec::new(),
    };
    if !is_simulated {
        name_cautions(Path::new(&arguments.file), user.run.console);
    }
    if is_alone_on_model {
        user.run.console.note(
            "each diskrand has the model to itself: `seekstone together` runs several programs on \
             one",
        );
    }
    if is_simulated && arguments.memory_kb > 0 {
        user.run.console.note(
            "KM is taken from the model's file cache, where it has one; more than that would be \
             paged out, which no model does",
        );
        user.storage.take_memory(asked)?;
    }
    user.begin(memory, seed, &mut logs)?;
    let mut summary = ReadSummary::new(arguments.user, arguments.transactions);
    let ended = user.make_transactions(&mut logs, &mut summary);
    summary.origin = user.storage.origin_of_bytes();
    if let Err(error) = &ended {
        let stopped = Stopped {
            user: arguments.user,
            done: summary.done(),
            reason: match error {
                ClassicError::Interrupted { signal, .. } => (*signal).into(),
                error => with_causes(error),
            },
        };
        // The log may have failed; the error is reported in any case.
        let _ = logs.profile(&stopped.line());
    }
    drop(number);
    Ok(UserOutcome { summary, ended })
}

/// The request in the words of the command line.
fn too_much_memory(error: LimitError, arguments: &ReadArguments) -> ClassicError {
    let memory = error.excesses.iter().find_map(|excess| match excess {
        Excess::Memory {
            wanted_bytes,
            allowed_bytes,
        } => Some((Bytes(*wanted_bytes), Bytes(*allowed_bytes))),
        Excess::Files { .. } | Excess::Space { .. } | Excess::Threads { .. } => None,
    });
    match memory {
        Some((wanted, allowed)) => ClassicError::Usage(format!(
            "KM {} asks for {wanted} of memory, and only {allowed} are to be had: say less, or end \
             other programs",
            arguments.memory_kb
        )),
        None => error.into(),
    }
}

const RECORD: u64 = crate::diskrand::RECORD_BYTES as u64;

fn open<'b>(
    request: &UserRequest,
    seed: u64,
    run: &ProgramRun<'b>,
) -> Result<(TimedStorage<'b>, OpenLogs), ClassicError> {
    let arguments = &request.arguments;
    let logs = || OpenLogs::of(run, &arguments.log);
    if let Some(slot) = run.slot {
        let storage = TimedStorage::shared(slot, arguments.file.as_str(), run.interrupt)?;
        require_record(arguments.file.as_str(), storage.bytes())?;
        return Ok((storage, logs()?));
    }
    if let Some(model) = arguments.file.model() {
        let spec = lab::simulated::open_model(model)?;
        require_record(&spec.text, spec.size.0)?;
        let storage = TimedStorage::simulated(&spec, spec.size.0, seed, run.interrupt);
        return Ok((storage, logs()?));
    }
    let target = open_existing(Path::new(&arguments.file), request.caching)?;
    let logs = logs()?;
    logs.refuse(target.file())?;
    let storage = TimedStorage::real(target, run.interrupt)?;
    Ok((storage, logs))
}

fn require_record(name: &str, bytes: u64) -> Result<(), ClassicError> {
    if bytes >= RECORD {
        return Ok(());
    }
    let text = format!("{name}: not one record of {RECORD} bytes fits it");
    Err(ClassicError::Usage(text))
}

/// The user's number, or a seed that includes the time of day, so that no two users draw the same
/// and none repeats its draws. Other draws start after the largest possible user number.
fn seed_of(arguments: &ReadArguments, now: &jiff::Zoned) -> u64 {
    let user = u64::from(arguments.user) + (arguments.draw << u32::BITS);
    if !arguments.mode.draws_new_records() {
        return user;
    }
    let seconds = u64::from(seconds_of_day(time_of_day(now)));
    let milliseconds = u64::try_from(now.millisecond()).unwrap_or(0);
    let of_day = (seconds * 1000 + milliseconds) % DAY_MS;
    user.wrapping_mul(DAY_MS).wrapping_add(of_day)
}

struct User<'a, 'b> {
    arguments: &'a ReadArguments,
    run: &'a mut ProgramRun<'b>,
    script: UserStreams,
    storage: TimedStorage<'b>,
    memory: Vec<u8>,
}

impl User<'_, '_> {
    /// Allocates memory, and reports what is done.
    fn begin(&mut self, memory: u64, seed: u64, logs: &mut OpenLogs) -> Result<(), ClassicError> {
        let heading = RunHeading {
            timestamp: self.storage.timestamp(),
        };
        self.run.console.line(&heading.line());
        let begun = self.storage.now();
        self.take_memory(memory)?;
        let at = self.storage.now();
        let mut lines = String::new();
        if self.arguments.memory_kb > 0 {
            let allocated = Allocated {
                user: self.arguments.user,
                time: self.storage.time_of_day(at),
                seconds: at.since(begun).as_secs_f64(),
                kilobytes: self.arguments.memory_kb,
            };
            lines = format!("{}\n", allocated.line());
        }
        let bytes = self.storage.bytes();
        let profile = ReadProfile {
            user: self.arguments.user,
            transactions: self.arguments.transactions,
            ios: self.arguments.ios,
            think_s: self.arguments.think_s,
            file: self.arguments.file.to_string(),
            megabytes: bytes as f64 / f64::from(1 << 20),
            records: bytes / RECORD,
            cpu_units: self.arguments.cpu_units,
            seed,
        };
        lines.push_str(&profile.lines());
        self.run.console.line(&format!("\n{lines}"));
        // One call, so that lines of other users cannot come between.
        logs.profile(&format!("{}\n\n{lines}", heading.line()))
    }

    fn take_memory(&mut self, bytes: u64) -> Result<(), ClassicError> {
        let too_much = || ClassicError::Usage(format!("{bytes} bytes of memory are not to be had"));
        let bytes = usize::try_from(bytes).map_err(|_| too_much())?;
        let reserved = self.memory.try_reserve_exact(bytes);
        reserved.map_err(|_| too_much())?;
        // Filled in parts: gigabytes take seconds, and a signal must not wait for them.
        while self.memory.len() < bytes {
            self.run.go_on("no transaction was done")?;
            let len = bytes.min(self.memory.len() + MEMORY_PART);
            self.memory.resize(len, 1);
            if bytes > MEMORY_PART {
                let percent = 100.0 * len as f64 / bytes as f64;
                let text = format!("taking memory: {percent:.0} %");
                self.run.console.progress(&text);
            }
        }
        Ok(())
    }

    /// Writes one byte per page, so that the system must allocate it.
    fn touch_memory(&mut self) {
        for page in self.memory.chunks_mut(PAGE_BYTES) {
            page[0] = page[0].wrapping_add(1);
        }
        std::hint::black_box(&mut self.memory);
    }

    fn make_transactions(
        &mut self,
        logs: &mut OpenLogs,
        summary: &mut ReadSummary,
    ) -> Result<(), ClassicError> {
        let begun = self.storage.now();
        for number in 1..=self.arguments.transactions {
            let step = self.script.step();
            self.think(step.think_s, number)?;
            let started = self.storage.now();
            let completed = self.transact(&step, started, number)?;
            let response_s = completed.since(started).as_secs_f64();
            summary.add(response_s, step.ios, completed.since(begun));
            let line = Transaction {
                user: self.arguments.user,
                time: self.storage.time_of_day(completed),
                think_s: step.think_s,
                response_s,
                load: step.load,
            }
            .line();
            logs.transaction(&line)?;
            self.run.console.line(&line);
        }
        Ok(())
    }

    fn think(&mut self, seconds: u32, number: u64) -> Result<(), ClassicError> {
        let span = Duration::from_secs(u64::from(seconds));
        let until = self.storage.now() + span;
        let is_long = self.storage.is_long(span);
        let console = &mut *self.run.console;
        self.storage.pass_time(until, &mut |left| {
            if is_long {
                let left = left.as_secs_f64().ceil();
                console.progress(&format!(
                    "thinking before transaction {number}: {left:.0} s left"
                ));
            }
        })
    }

    /// Equal parts of the CPU work before each I/O, from the start to the end.
    fn transact(
        &mut self,
        step: &ScriptStep,
        started: Instant,
        number: u64,
    ) -> Result<Instant, ClassicError> {
        let mut completed = started;
        if !self.memory.is_empty() {
            self.touch_memory();
            completed = self.storage.now();
        }
        let parts = step.ios.max(1);
        let (each, mut rest) = (step.cpu_ns / parts, step.cpu_ns % parts);
        let mut seen = 0;
        for part in 0..parts {
            let work = each + std::mem::take(&mut rest);
            if work > 0 {
                completed = self.storage.compute(work)?;
            }
            if part < step.ios {
                let record = self.script.record();
                completed = self.storage.read(record)?.completed;
            }
            let percent = 100 * (part + 1) / parts;
            if percent > seen && self.storage.is_long(completed.since(started)) {
                seen = percent;
                let text = format!("transaction {number}: {percent} % of its I/Os");
                self.run.console.progress(&text);
            }
            self.run.go_on(KEPT)?;
        }
        Ok(completed)
    }
}

/// What is left when a signal arrives within a transaction.
const KEPT: &str = "the transactions that were done are in the log";
