//! Several of the programs on one simulated machine, started by batch files of the documents.

mod figures;
mod script;

pub use figures::{TogetherFigures, TogetherRow, rows, together_table};
pub use script::{ClassicProgram, ScriptLine, script_lines};

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use drivers::Caching;
use engine::Activity;
use sim::SimSpec;
use units::{Duration, Instant};
use workload::CPU_UNIT_NS;

use crate::diskmbps::Finished;
use crate::diskrand::DiskrandArguments;
use crate::run::shared::{ProgramSlot, SharedMachine, SlotKind};
use crate::run::{
    ClassicError, DiskMbps, JobStart, LogPlace, ProgramRun, ReadSummary, UserRequest, WriteRequest,
    run_diskmbps, run_user, run_write,
};
use host::interrupt::Interrupt;

/// Maximum number of concurrent programs, each with a thread.
pub const PROGRAMS_MAX: usize = 1000;

/// Programs on the hosts of one machine.
#[derive(Clone, Debug)]
pub struct Together {
    /// The machine.
    pub model: SimSpec,
    /// Seed of all random draws.
    pub seed: u64,
    /// Initial files, with their sizes.
    pub files: Vec<(String, u64)>,
    /// Batches of the hosts.
    pub batches: Vec<HostBatch>,
    /// Length of a unit of CPU work, if not the definition's.
    pub cpu_unit: Option<Duration>,
    /// Initial time of the machine's clock.
    pub clock: jiff::Zoned,
    /// Whether the programs write their logs.
    pub logs: LogPlace,
}

/// A batch of programs on a host.
#[derive(Clone, Debug)]
pub struct HostBatch {
    /// Name of the host in reports.
    pub host: String,
    pub place: HostPlace,
    /// Its lines.
    pub lines: Vec<ScriptLine>,
}

/// Where a batch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPlace {
    /// On the machine or, if it has a server, on a client of it.
    Client,
    /// On the server shared by the clients.
    Server,
}

/// A finished program.
#[derive(Debug)]
pub struct ProgramEnd {
    /// Its host.
    pub host: String,
    /// Its command line.
    pub words: String,
    /// Whether others ran concurrently.
    pub launch: ProgramLaunch,
    /// Start, on the machine's clock.
    pub begun: Instant,
    pub ended: Instant,
    /// Work of the host's processors and storage: before and after.
    pub activity: [Activity; 2],
    /// The same of the server, if the host is a client.
    pub of_server: Option<[Activity; 2]>,
    /// Its result, or why it failed.
    pub result: Result<ProgramOutput, ClassicError>,
}

/// How a program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramLaunch {
    /// The batch waited for its end.
    Waited,
    /// With `start`: the batch continued at once.
    Started,
}

/// Output of a program.
#[derive(Clone, Debug)]
pub enum ProgramOutput {
    /// It performed transactions.
    User {
        /// The command line.
        arguments: crate::diskrand::ReadArguments,
        /// Its response times.
        summary: ReadSummary,
    },
    /// It wrote and read a file of records.
    Records,
    /// It transferred data sequentially.
    Passes(Vec<Finished>),
    /// It removed a file.
    Erased,
}

/// Receives each line of a program, with its host.
pub type OnLine<'a> = &'a (dyn Fn(&str, &str) + Sync);

/// Runs the batches concurrently until the last program has ended. Programs are returned in the
/// order of their ends.
///
/// # Errors
/// If the machine is not possible as requested. Failures of a program are its result.
pub fn run_together(
    together: &Together,
    interrupt: &Interrupt,
    on_line: OnLine<'_>,
) -> Result<Vec<ProgramEnd>, ClassicError> {
    let clients: Vec<&str> = hosts_at(together, HostPlace::Client);
    let has_server = together
        .batches
        .iter()
        .any(|it| it.place == HostPlace::Server);
    let spec = &together.model;
    // A machine with a server has two hosts, whichever of them runs programs.
    let has_two = spec.driver_of_site(together.seed, 1, 1).is_some();
    let is_site = has_server || clients.len() > 1 || has_two;
    let machine = Arc::new(SharedMachine::new(
        spec,
        is_site.then_some(clients.len()),
        together.seed,
        together.clock.clone(),
    )?);
    for (name, bytes) in &together.files {
        machine.add_file(name, *bytes)?;
    }
    let unit_of = |place| {
        let defined = match place {
            HostPlace::Client => spec.cpu_unit(),
            HostPlace::Server => spec.cpu_unit_of_server(),
        };
        let unit = together.cpu_unit.or(defined);
        unit.unwrap_or(Duration::from_nanos(CPU_UNIT_NS))
    };
    let ended = Mutex::new(Vec::new());
    let batches: Vec<BatchRun<'_>> = together
        .batches
        .iter()
        .map(|batch| BatchRun {
            batch,
            cpu_unit: unit_of(batch.place),
            logs: together.logs,
            interrupt,
            on_line,
            ended: &ended,
        })
        .collect();
    std::thread::scope(|scope| {
        let slots: Vec<ProgramSlot> = batches
            .iter()
            .map(|it| {
                let client = clients.iter().position(|host| *host == it.batch.host);
                // A machine without a server is itself the first host, as the server is.
                let host = match it.batch.place {
                    HostPlace::Client if is_site => client.map_or(0, |client| client + 1),
                    HostPlace::Client | HostPlace::Server => 0,
                };
                machine.take_slot(SlotKind::Batch, host)
            })
            .collect();
        for (batch, slot) in batches.iter().zip(slots) {
            scope.spawn(move || batch.run(&slot, scope));
        }
        machine.begin();
    });
    Ok(ended.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Initial time of a machine's clock: a typed date and time, or the current one.
///
/// # Errors
/// If it is not a date and time.
pub fn clock_from(typed: Option<&str>) -> Result<jiff::Zoned, String> {
    let Some(text) = typed else {
        return Ok(jiff::Zoned::now());
    };
    let date: Result<jiff::civil::DateTime, _> = text.parse();
    let zoned = date.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC));
    zoned.map_err(|error| {
        format!("--clock {text}: {error}; use a date and a time, such as 1997-07-07T12:53:44")
    })
}

/// The hosts of a kind, each once.
fn hosts_at(together: &Together, place: HostPlace) -> Vec<&str> {
    let mut hosts: Vec<&str> = Vec::new();
    for batch in together.batches.iter().filter(|it| it.place == place) {
        if !hosts.contains(&batch.host.as_str()) {
            hosts.push(&batch.host);
        }
    }
    hosts
}

/// A running batch.
struct BatchRun<'a> {
    batch: &'a HostBatch,
    cpu_unit: Duration,
    logs: LogPlace,
    interrupt: &'a Interrupt,
    on_line: OnLine<'a>,
    ended: &'a Mutex<Vec<ProgramEnd>>,
}

impl BatchRun<'_> {
    /// Runs line after line. If the machine failed, each program ended with the reason.
    fn run<'scope>(&'scope self, slot: &ProgramSlot, scope: &'scope Scope<'scope, '_>) {
        if slot.take_turn().is_err() {
            return;
        }
        for line in &self.batch.lines {
            if self.interrupt.is_raised().is_some() {
                return;
            }
            match line {
                ScriptLine::Pause => {
                    if slot.pause().is_err() {
                        return;
                    }
                }
                ScriptLine::Run(program) => self.perform(program, slot, ProgramLaunch::Waited),
                ScriptLine::Start(program) => {
                    let own = slot.machine().take_slot(SlotKind::Program, slot.host());
                    scope.spawn(move || {
                        if own.take_turn().is_ok() {
                            self.perform(program, &own, ProgramLaunch::Started);
                        }
                    });
                }
            }
        }
    }

    fn perform(&self, program: &ClassicProgram, slot: &ProgramSlot, launch: ProgramLaunch) {
        let look = || slot.machine().activities();
        let (begun, before) = (slot.now(), look());
        let result = self.result(program, slot);
        let after = look();
        let of_host = |host: usize| {
            [&before, &after].map(|hosts| hosts.get(host).cloned().unwrap_or_default())
        };
        let ended = ProgramEnd {
            host: self.batch.host.clone(),
            words: program.words.clone(),
            launch,
            begun,
            ended: slot.now(),
            activity: of_host(slot.host()),
            of_server: (slot.host() > 0).then(|| of_host(0)),
            result,
        };
        let mut all = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(ended);
    }

    fn result(
        &self,
        program: &ClassicProgram,
        slot: &ProgramSlot,
    ) -> Result<ProgramOutput, ClassicError> {
        let run = &mut ProgramRun {
            interrupt: self.interrupt,
            console: &mut |line: &str| (self.on_line)(&self.batch.host, line),
            logs: self.logs,
            slot: Some(slot),
        };
        match &program.what {
            script::BatchProgram::DiskMbps(arguments) => {
                let start = JobStart::in_slot(slot, arguments.letter)?;
                let job = DiskMbps::new(arguments.clone(), start);
                run_diskmbps(&job, run).map(ProgramOutput::Passes)
            }
            script::BatchProgram::DiskRand(DiskrandArguments::Erase { file }) => {
                slot.machine().remove_file(file.as_str())?;
                Ok(ProgramOutput::Erased)
            }
            script::BatchProgram::DiskRand(DiskrandArguments::Write(arguments)) => {
                let request = WriteRequest {
                    arguments: arguments.clone(),
                    caching: Caching::Buffered,
                    reserve: None,
                };
                run_write(&request, run).map(|()| ProgramOutput::Records)
            }
            script::BatchProgram::DiskRand(DiskrandArguments::Read(arguments)) => {
                let request = UserRequest {
                    arguments: arguments.clone(),
                    caching: Caching::Buffered,
                    cpu_unit: self.cpu_unit,
                };
                let outcome = run_user(&request, run)?;
                outcome.ended?;
                Ok(ProgramOutput::User {
                    arguments: request.arguments,
                    summary: outcome.summary,
                })
            }
        }
    }
}
