//! A whole test: workload after workload, run after run, with commands of an operator at any time.
//! Receives messages with their times; requests control threads to be started and stopped, and
//! lines to be written.

mod live;

pub use live::live;

use results::Mode;
use results::live::LiveCommand;

use crate::rpt::log::{Block, LevelRow, LogEntry, mode_name, not_converged};
use crate::rpt::plan::TestPlan;
use crate::rpt::procedure::{LevelResult, Procedure, ProcedureAction, Rules};
use crate::rpt::sums::{Calculation, Sums, ThreadMessage};

/// A request of the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A workload starts, with its data file.
    Begin {
        /// Number of the workload.
        workload: usize,
    },
    /// Start the control thread of that number.
    Start(u32),
    /// Stop the control thread of that number.
    Stop(u32),
    /// Write into the log.
    Log(LogEntry),
    /// Write into the report.
    Report(LogEntry),
    /// Everything is finished.
    Finished,
}

/// State of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Waiting for a start.
    Stopped,
    /// Measuring.
    Execute,
    /// Done.
    Finished,
}

/// Figures of one number of threads, for a display.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Glance {
    sums: Sums,
    /// The calculation from them.
    calculation: Calculation,
}

/// A test in progress.
#[derive(Clone, Debug)]
pub struct RptSession {
    plan: TestPlan,
    procedure: Procedure,
    state: SessionState,
    mode: Mode,
    verbose: u8,
    run: u32,
    workload: usize,
    block: Block,
    /// Results of finished workloads of one kind in a row, each with whether it had a warning.
    group: Vec<(Block, bool)>,
    /// Whether there was a warning about the current workload.
    is_doubted: bool,
    is_group_batch: bool,
    message: Option<ThreadMessage>,
    /// Latest sums of the current number of threads.
    now: Option<Glance>,
    /// The same of the previous number.
    last: Option<Glance>,
    /// Latest level.
    response: Option<Glance>,
    /// All sums of each workload's latest measurement, with their factors.
    looks: Vec<Vec<(Sums, f64)>>,
    /// Answer to the operator's latest key, if it had no effect.
    told: Option<&'static str>,
    /// The latest results of each workload.
    results: Vec<Option<Block>>,
    /// Requests not returned yet.
    acts: Vec<Act>,
}

impl RptSession {
    /// A session before its first workload.
    pub fn new(plan: TestPlan) -> Self {
        assert!(!plan.workloads.is_empty(), "a test has a workload");
        let count = plan.workloads.len();
        let mut this = Self {
            procedure: Procedure::new(rules(&plan, 0)),
            state: SessionState::Stopped,
            mode: plan.mode,
            verbose: plan.verbose,
            run: 1,
            workload: 0,
            block: Block::default(),
            group: Vec::new(),
            is_doubted: false,
            is_group_batch: plan.workloads[0].is_batch(),
            message: None,
            now: None,
            last: None,
            response: None,
            looks: vec![Vec::new(); count],
            told: None,
            results: vec![None; count],
            acts: Vec::new(),
            plan,
        };
        this.block = this.empty_block();
        this
    }

    pub const fn plan(&self) -> &TestPlan {
        &self.plan
    }

    /// Whether something is being measured.
    pub const fn state(&self) -> SessionState {
        self.state
    }

    /// Verbosity, 0 to 2.
    pub const fn verbose(&self) -> u8 {
        self.verbose
    }

    /// Number of the cycle, from one, and of the workload, from zero.
    pub const fn position(&self) -> (u32, usize) {
        (self.run, self.workload)
    }

    /// Active threads.
    pub const fn threads(&self) -> u32 {
        self.procedure.threads()
    }

    /// Executes a command of the operator.
    pub fn command(&mut self, command: LiveCommand, at: f64) -> Vec<Act> {
        if self.state == SessionState::Finished && command != LiveCommand::NextVerbosity {
            self.told = command.when_finished();
            return Vec::new();
        }
        let mut note = |text: String| self.acts.push(Act::Log(LogEntry::Event { at, text }));
        match command {
            LiveCommand::NextMode => {
                self.mode = self.mode.next();
                note(format!("mode {}", mode_name(self.mode)));
            }
            LiveCommand::NextVerbosity => self.verbose = (self.verbose + 1) % 3,
            LiveCommand::StartStop => {
                let stops = self.state == SessionState::Execute;
                note(if stops { "stopped" } else { "started" }.into());
                self.start_or_stop(at);
            }
            LiveCommand::Restart => {
                note(format!("workload {} begins again", self.workload));
                self.begin_again(self.workload, at);
            }
            LiveCommand::NextWorkload => {
                self.group.clear();
                let next = (self.workload + 1) % self.plan.workloads.len();
                note(format!("workload {next} is next"));
                self.begin_again(next, at);
            }
            LiveCommand::Quit => {
                note("end".into());
                let actions = self.procedure.abandon();
                self.carry_out(actions, at);
                self.finish();
            }
        }
        std::mem::take(&mut self.acts)
    }

    /// Adds a message received at `at`.
    pub fn take(&mut self, message: &ThreadMessage, at: f64) -> Vec<Act> {
        if self.state != SessionState::Execute {
            return Vec::new();
        }
        if self.verbose == 2 {
            self.log(LogEntry::Message(*message));
        }
        self.message = Some(*message);
        let actions = self.procedure.take(message, at);
        self.carry_out(actions, at);
        std::mem::take(&mut self.acts)
    }

    fn start_or_stop(&mut self, at: f64) {
        if self.state == SessionState::Execute {
            self.state = SessionState::Stopped;
            let actions = self.procedure.suspend();
            return self.carry_out(actions, at);
        }
        self.state = SessionState::Execute;
        self.launch(at);
    }

    /// Leaves the current workload and starts another one with its initial threads.
    fn begin_again(&mut self, workload: usize, at: f64) {
        let actions = self.procedure.abandon();
        self.carry_out(actions, at);
        self.set_up(workload);
        if self.state == SessionState::Execute {
            self.launch(at);
        }
    }

    fn set_up(&mut self, workload: usize) {
        self.workload = workload;
        self.procedure = Procedure::new(rules(&self.plan, workload));
        self.block = self.empty_block();
        self.looks[workload].clear();
        self.is_doubted = false;
        (self.message, self.now, self.last) = (None, None, None);
    }

    /// Starts the current workload, or resumes it after a stop.
    fn launch(&mut self, at: f64) {
        self.acts.push(Act::Begin {
            workload: self.workload,
        });
        let mut actions = self.procedure.resume();
        if actions.is_empty() {
            actions = self.procedure.begin();
        }
        self.carry_out(actions, at);
    }

    fn empty_block(&self) -> Block {
        Block {
            workload: self.workload,
            name: self.plan.workloads[self.workload].name.clone(),
            ..Block::default()
        }
    }

    fn carry_out(&mut self, actions: Vec<ProcedureAction>, at: f64) {
        let workload = self.workload;
        for action in actions {
            match action {
                ProcedureAction::Add(thread) => {
                    self.acts.push(Act::Start(thread));
                    self.log(LogEntry::Active(at, thread, workload));
                }
                ProcedureAction::Shed(thread) => {
                    self.acts.push(Act::Stop(thread));
                    self.log(LogEntry::Inactive(at, thread, workload));
                }
                ProcedureAction::Summed { sums, factor } => self.summed(at, sums, factor),
                ProcedureAction::NotConverged {
                    threads,
                    messages,
                    necessary,
                } => {
                    let warning = self.warning(threads, not_converged(messages, necessary));
                    self.log(warning);
                }
                ProcedureAction::Note { threads, text } => {
                    self.is_doubted = true;
                    self.log_and_report(self.warning(threads, text));
                }
                ProcedureAction::Level(found) => self.found(at, &found),
                ProcedureAction::Done => self.done(at),
            }
        }
    }

    fn warning(&self, threads: u32, text: String) -> LogEntry {
        LogEntry::Warning {
            run: self.run,
            workload: self.workload,
            threads,
            text,
        }
    }

    fn summed(&mut self, at: f64, sums: Sums, factor: f64) {
        let calculation = sums.calculation();
        self.looks[self.workload].push((sums, factor));
        let number = self.block.rows.len();
        self.log(LogEntry::Sum {
            at,
            number,
            sums,
            factor,
        });
        self.log(LogEntry::Calculation(at, number + 1, calculation));
        if self.now.is_some_and(|now| now.sums.threads != sums.threads) {
            self.last = self.now;
        }
        self.now = Some(Glance { sums, calculation });
    }

    fn found(&mut self, at: f64, found: &LevelResult) {
        let (number, calculation) = (found.level + 1, found.calculation);
        self.log(LogEntry::Calculation(at, number, calculation));
        self.log(LogEntry::Interpolation {
            at,
            number,
            sums: found.sums,
            part: found.part,
        });
        let block = &mut self.block;
        block.run = self.run;
        block.mode = self.mode;
        block.at = at;
        block.rows.push(LevelRow {
            level: found.level,
            response_ms: calculation.response_ms,
            load: calculation.load,
        });
        block.rabmark_r += calculation.rabmark_r;
        block.rabmark_s = calculation.rabmark_n;
        self.response = Some(Glance {
            sums: found.sums,
            calculation,
        });
        self.results[self.workload] = Some(self.block.clone());
        self.log(LogEntry::Results(self.block.clone()));
    }

    /// Reports the finished workload, and continues with the next.
    fn done(&mut self, at: f64) {
        let count = self.plan.workloads.len();
        let is_batch = self.plan.workloads[self.workload].is_batch();
        if is_batch != self.is_group_batch {
            self.group.clear();
        }
        self.is_group_batch = is_batch;
        if !self.block.rows.is_empty() {
            self.acts
                .push(Act::Report(LogEntry::Results(self.block.clone())));
            self.group.push((self.block.clone(), self.is_doubted));
        }
        let next = self.workload + 1;
        let is_last = next == count;
        if is_last || self.plan.workloads[next].is_batch() != is_batch {
            self.average();
        }
        let run = self.run + u32::from(is_last);
        if is_last && !self.mode.is_endless() && run > self.plan.nruns {
            return self.finish();
        }
        self.run = run;
        self.set_up(next % count);
        self.launch(at);
    }

    /// Only workloads that were run as a group have an average.
    fn average(&mut self) {
        let group = std::mem::take(&mut self.group);
        if group.len() < 2 {
            return;
        }
        let mean = |of: fn(&Block) -> f64| {
            group.iter().map(|(block, _)| of(block)).sum::<f64>() / group.len() as f64
        };
        let average = LogEntry::Average {
            count: group.len(),
            rabmark_r: mean(|it| it.rabmark_r),
            rabmark_s: mean(|it| it.rabmark_s),
            remark: remark(&group),
        };
        self.log_and_report(average);
    }

    fn log(&mut self, entry: LogEntry) {
        self.acts.push(Act::Log(entry));
    }

    fn log_and_report(&mut self, entry: LogEntry) {
        self.log(entry.clone());
        self.acts.push(Act::Report(entry));
    }

    fn finish(&mut self) {
        self.state = SessionState::Finished;
        self.acts.push(Act::Finished);
    }
}

/// Why the average is not a single number; empty if it is.
fn remark(group: &[(Block, bool)]) -> String {
    let mut remarks = Vec::new();
    let mut modes: Vec<String> = group.iter().map(|it| mode_name(it.0.mode)).collect();
    modes.dedup();
    if modes.len() > 1 {
        remarks.push(format!("modes {}", modes.join(", ")));
    }
    let doubted = group.iter().filter(|it| it.1).count();
    if doubted > 0 {
        let count = group.len();
        remarks.push(format!("{doubted} of {count} in doubt, see the warnings"));
    }
    remarks.join("; ")
}

fn rules(plan: &TestPlan, workload: usize) -> Rules {
    Rules {
        nthreads: plan.workloads[workload].nthreads,
        ..plan.rules
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
