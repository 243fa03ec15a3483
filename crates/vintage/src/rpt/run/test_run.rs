//! Runs a whole test of `rpt`.

use std::time::Duration as StdDuration;

use crate::rpt::log::LogEntry;
use crate::rpt::{
    Act, RptSession, SessionState, TestPlan, ThreadMessage, Workload, durations_differ,
};
use results::live::LiveCommand;
use sys::MonotonicClock;
use units::Instant;
use workload::ConstraintError;

use host::interrupt::Interrupt;

use super::data_file::{DataAccess, DataRequest, Filling, RptDataFile, open_data};
use super::messages::{Detail, ThreadReport};
use super::output_files::OutputFiles;
use super::rig::{Failure, Rig, RigOptions};
use crate::run::ClassicError;

/// Interval for checking keys while nothing is measured.
const IDLE: StdDuration = StdDuration::from_millis(50);

/// How a test is run.
#[derive(Clone, Debug)]
pub struct TestRequest {
    pub access: DataAccess,
    /// Whether the test starts by itself.
    pub starts: bool,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEnding {
    /// Complete.
    Finished,
    /// Quit by the operator.
    Quit,
    /// A signal arrived.
    Interrupted {
        /// Its name.
        signal: &'static str,
    },
}

/// Observes a test and may give commands.
pub trait Operator {
    /// A data file is being created: bytes written, and total.
    fn filling(&mut self, _done: u64, _all: u64) {}

    /// A note, as a sentence.
    fn note(&mut self, _text: &str) {}

    /// An entry of the log, with the current verbosity.
    fn entry(&mut self, entry: &LogEntry, verbose: u8);

    /// A message of a control thread, with the current verbosity.
    fn message(&mut self, _message: &ThreadMessage, _verbose: u8) {}

    /// Called often, to observe the test and give a command.
    fn look(&mut self, _session: &RptSession, _elapsed_s: f64) -> Option<LiveCommand> {
        None
    }

    /// Whether the display stays when everything is finished.
    fn stays(&self) -> bool {
        false
    }
}

/// Runs `plan` under `operator`. `files` are created once the data files are ready.
///
/// # Errors
/// If a data file cannot be used, an I/O fails, or an output file cannot be written.
pub fn run_test(
    plan: TestPlan,
    request: &TestRequest,
    files: impl FnOnce() -> Result<OutputFiles, ClassicError>,
    interrupt: &Interrupt,
    operator: &mut dyn Operator,
) -> Result<TestEnding, ClassicError> {
    let data = open_all(&plan, request, interrupt, operator)?;
    for note in data.iter().flat_map(|file| &file.notes) {
        operator.note(note);
    }
    let mut files = files()?;
    for doubt in doubts_of(&plan, &data) {
        operator.note(&doubt);
        files.log(&format!("warning: {doubt}"))?;
    }
    for kept in files.kept() {
        operator.note(&format!("results of an earlier test are now in {kept}"));
    }
    let options = RigOptions {
        threads_max: plan.rules.threads_max,
        io_bytes: io_bytes_max(&plan),
        seed: request.access.seed,
        driver: request.access.driver,
        detail: Detail::Messages,
    };
    let mut test = RunningTest {
        session: RptSession::new(plan),
        data,
        options,
        clock: MonotonicClock::start(),
        begun: None,
        rig: None,
        files,
        operator,
    };
    let ending = test.run(request, interrupt);
    let closed = test.rig.as_mut().map_or(Ok(()), Rig::close);
    let ended = ending.and_then(|ending| closed.map(|()| ending));
    if let Err(error) = &ended {
        let text = lab::laboratory::with_causes(error);
        // The error is reported to the user in any case.
        let _ = test.files.log(&format!("error: {text}"));
    }
    ended
}

/// The manual's warnings about each workload on its data file, and about all together.
fn doubts_of(plan: &TestPlan, data: &[RptDataFile]) -> Vec<String> {
    let of_file = |workload: &Workload| {
        let file = data.iter().find(|file| file.name == workload.data_file)?;
        Some(workload.doubts(file.bytes, file.cache_bytes()))
    };
    let workloads = plan.workloads.iter();
    let mut doubts: Vec<String> = workloads.filter_map(of_file).flatten().collect();
    doubts.extend(durations_differ(&plan.workloads));
    doubts
}

fn io_bytes_max(plan: &TestPlan) -> u32 {
    let kinds = plan.workloads.iter().flat_map(|workload| &workload.types);
    kinds.map(|kind| kind.io_size).max().unwrap_or(0)
}

/// Opens every data file of a workload, checked against all workloads that use it.
fn open_all(
    plan: &TestPlan,
    request: &TestRequest,
    interrupt: &Interrupt,
    operator: &mut dyn Operator,
) -> Result<Vec<RptDataFile>, ClassicError> {
    let mut names: Vec<&str> = Vec::new();
    for workload in &plan.workloads {
        if !names.contains(&workload.data_file.as_str()) {
            names.push(&workload.data_file);
        }
    }
    let mut data = Vec::new();
    for name in names {
        let users: Vec<&Workload> = plan
            .workloads
            .iter()
            .filter(|workload| workload.data_file == name)
            .collect();
        let kinds = || users.iter().flat_map(|workload| &workload.types);
        let size = users.iter().filter_map(|workload| workload.data_size).max();
        let wanted = DataRequest {
            name: name.into(),
            size: size.filter(|&size| size > 0),
            writes: kinds().any(|kind| kind.writes > 0),
            access: &request.access,
            unit: kinds().fold(1 << 30, common_unit),
        };
        let fits = |bytes: u64| {
            for workload in &users {
                let checked = workload.check_size(bytes);
                checked.map_err(|errors| format!("{}: {}", workload.name, all_of(&errors)))?;
            }
            Ok(())
        };
        let filling: Filling<'_> = &mut |done, all| operator.filling(done, all);
        data.push(open_data(&wanted, &fits, interrupt, filling)?);
    }
    Ok(data)
}

/// All violations, in one line.
pub(super) fn all_of(errors: &[ConstraintError]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// The largest power of two, up to `unit`, that divides all offsets and sizes of a type.
pub(super) fn common_unit(unit: u64, kind: &workload::ThreadType) -> u64 {
    let offset = match kind.placement {
        workload::Placement::Packed => 0,
        workload::Placement::Offset(offset) => offset,
    };
    let bits = u64::from(kind.io_size) | kind.block | offset | unit;
    1 << bits.trailing_zeros()
}

/// A running test.
struct RunningTest<'a> {
    session: RptSession,
    data: Vec<RptDataFile>,
    options: RigOptions,
    clock: MonotonicClock,
    /// The engine's clock at the start.
    begun: Option<Instant>,
    rig: Option<Rig>,
    files: OutputFiles,
    operator: &'a mut dyn Operator,
}

impl RunningTest<'_> {
    fn run(
        &mut self,
        request: &TestRequest,
        interrupt: &Interrupt,
    ) -> Result<TestEnding, ClassicError> {
        if request.starts {
            self.command(LiveCommand::StartStop)?;
        }
        loop {
            if let Some(signal) = interrupt.is_raised() {
                self.command(LiveCommand::Quit)?;
                let signal = signal.name;
                return Ok(TestEnding::Interrupted { signal });
            }
            let elapsed = self.elapsed();
            let was_finished = self.session.state() == SessionState::Finished;
            if let Some(command) = self.operator.look(&self.session, elapsed) {
                if command == LiveCommand::Quit {
                    self.command(command)?;
                    return Ok(if was_finished {
                        TestEnding::Finished
                    } else {
                        TestEnding::Quit
                    });
                }
                self.command(command)?;
            }
            match self.session.state() {
                SessionState::Execute => self.slice()?,
                SessionState::Finished if !self.operator.stays() => {
                    return Ok(TestEnding::Finished);
                }
                SessionState::Stopped | SessionState::Finished => std::thread::sleep(IDLE),
            }
        }
    }

    fn elapsed(&self) -> f64 {
        match (&self.rig, self.begun) {
            (Some(rig), Some(begun)) => rig.now().since(begun).as_secs_f64(),
            _ => 0.0,
        }
    }

    fn command(&mut self, command: LiveCommand) -> Result<(), ClassicError> {
        let acts = self.session.command(command, self.elapsed());
        self.carry_out(acts)
    }

    fn slice(&mut self) -> Result<(), ClassicError> {
        let Some(rig) = &mut self.rig else {
            return Ok(());
        };
        let posted = rig.run_slice()?;
        for posted in posted {
            let Some(rig) = &self.rig else { break };
            let thread = rig.speaker(&posted);
            match posted.report {
                ThreadReport::Message(message) if thread.is_some() => {
                    let begun = self.begun.unwrap_or(posted.at);
                    let at = posted.at.since(begun).as_secs_f64();
                    self.operator.message(&message, self.session.verbose());
                    let acts = self.session.take(&message, at);
                    self.carry_out(acts)?;
                }
                ThreadReport::Message(_) | ThreadReport::Io(_) => {}
                report => {
                    let thread = thread.unwrap_or(0);
                    return Err(rig.failure(&Failure { thread, report }));
                }
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, acts: Vec<Act>) -> Result<(), ClassicError> {
        for act in acts {
            match act {
                Act::Begin { workload } => self.begin(workload)?,
                Act::Start(thread) => {
                    let (_, workload) = self.session.position();
                    let line = self.session.plan().workloads[workload].command_line(thread);
                    self.files.run(&line)?;
                    if let Some(rig) = &mut self.rig {
                        rig.start(thread)?;
                    }
                }
                Act::Stop(thread) => {
                    if let Some(rig) = &mut self.rig {
                        rig.stop(thread);
                    }
                }
                Act::Log(entry) => {
                    self.files.log(&entry.render())?;
                    self.operator.entry(&entry, self.session.verbose());
                }
                Act::Report(entry) => self.files.report(&entry.render())?,
                Act::Finished => {}
            }
        }
        Ok(())
    }

    /// Switches to the data file of a workload.
    fn begin(&mut self, workload: usize) -> Result<(), ClassicError> {
        let workload = &self.session.plan().workloads[workload];
        let mut files = self.data.iter();
        let data = files.find(|data| data.name == workload.data_file);
        let data = data.expect("every data file is open");
        let is_open = |rig: &Rig| rig.name == data.name;
        if !self.rig.as_ref().is_some_and(is_open) {
            let now = self.rig.as_ref().map_or(Instant::START, Rig::now);
            if let Some(rig) = &mut self.rig {
                rig.close()?;
            }
            let rig = Rig::open(data, self.clock, now, &self.options)?;
            for note in &rig.notes {
                self.operator.note(note);
            }
            self.begun.get_or_insert(rig.now());
            self.rig = Some(rig);
        }
        if let Some(rig) = &mut self.rig {
            rig.set_types(&workload.types);
        }
        Ok(())
    }
}
