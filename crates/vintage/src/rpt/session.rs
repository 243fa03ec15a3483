//! A whole test: workload after workload, run after run, with what an operator may ask at any time.
//!
//! Told messages with their times; says which control threads to start and stop, and what to write.

use results::Mode;
use results::live::Command;

use crate::rpt::log::{Block, Entry, Row, mode_name, not_converged};
use crate::rpt::plan::Plan;
use crate::rpt::procedure::{Found, Procedure, Rules, Said};
use crate::rpt::sums::{Calculation, Message, Sums};

/// What the session wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A workload begins: its data file comes into play.
    Begin {
        /// Number of the workload.
        workload: usize,
    },
    /// Start control thread `thread`.
    Start {
        /// Its number.
        thread: u32,
    },
    /// Stop control thread `thread`.
    Stop {
        /// Its number.
        thread: u32,
    },
    /// Write into the log.
    Log(Entry),
    /// Write into the report.
    Report(Entry),
    /// Everything is done.
    Finished,
}

/// Whether something is being measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waiting for a start.
    Stopped,
    /// Measuring.
    Execute,
    /// Done.
    Finished,
}

/// The figures of one number of threads, for a display.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Glance {
    pub sums: Sums,
    /// What follows from them.
    pub calculation: Calculation,
}

/// A test in progress.
#[derive(Clone, Debug)]
pub struct Session {
    plan: Plan,
    procedure: Procedure,
    state: State,
    mode: Mode,
    verbose: u8,
    run: u32,
    workload: usize,
    block: Block,
    /// Results of workloads of one kind that were finished one after the other, and whether a
    /// warning was given for them.
    group: Vec<(Block, bool)>,
    /// Whether a warning was given for the present workload.
    is_doubted: bool,
    is_group_batch: bool,
    message: Option<Message>,
    now: Option<Glance>,
    last: Option<Glance>,
    response: Option<Glance>,
    /// Every sum of the present workload with its factor.
    looks: Vec<(Sums, f64)>,
    /// The latest results of each workload.
    results: Vec<Option<Block>>,
}

impl Session {
    /// A session at rest before its first workload.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        assert!(!plan.workloads.is_empty(), "a test has a workload");
        let results = vec![None; plan.workloads.len()];
        let mut this = Self {
            procedure: Procedure::new(rules(&plan, 0)),
            state: State::Stopped,
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
            looks: Vec::new(),
            results,
            plan,
        };
        this.block = this.empty_block();
        this
    }

    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether something is being measured.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// The mode that results are stamped with.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Verbosity, 0 to 2.
    #[must_use]
    pub const fn verbose(&self) -> u8 {
        self.verbose
    }

    /// Number of the run, from one, and of the workload, from zero.
    #[must_use]
    pub const fn position(&self) -> (u32, usize) {
        (self.run, self.workload)
    }

    /// Active threads.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.procedure.threads()
    }

    /// The latest sums of the present and the former number of threads, and the latest level.
    #[must_use]
    pub const fn glances(&self) -> [Option<Glance>; 3] {
        [self.now, self.last, self.response]
    }

    /// The latest message, with the number of messages in the present sum.
    #[must_use]
    pub fn message(&self) -> Option<(Message, u64)> {
        let count = self.procedure.sums().messages as u64;
        self.message.map(|message| (message, count))
    }

    /// Every sum of the present workload with the factor to within which its mean is known.
    #[must_use]
    pub fn looks(&self) -> &[(Sums, f64)] {
        &self.looks
    }

    /// The latest results of each workload.
    #[must_use]
    pub fn results(&self) -> &[Option<Block>] {
        &self.results
    }

    /// Do what the operator asks for.
    pub fn command(&mut self, command: Command, at: f64) -> Vec<Act> {
        let mut acts = Vec::new();
        let is_over = self.state == State::Finished;
        let mut note = |text: String| acts.push(Act::Log(Entry::Event { at, text }));
        match command {
            Command::NextMode => {
                self.mode = self.mode.next();
                note(format!("mode {}", mode_name(self.mode)));
            }
            Command::NextVerbosity => self.verbose = (self.verbose + 1) % 3,
            _ if is_over => {}
            Command::StartStop => {
                let stops = self.state == State::Execute;
                note(if stops { "stopped" } else { "started" }.into());
                self.start_or_stop(at, &mut acts);
            }
            Command::Restart => {
                note(format!("workload {} begins again", self.workload));
                self.begin_again(self.workload, at, &mut acts);
            }
            Command::NextWorkload => {
                self.group.clear();
                let next = (self.workload + 1) % self.plan.workloads.len();
                note(format!("workload {next} is next"));
                self.begin_again(next, at, &mut acts);
            }
            Command::Quit => {
                note("end".into());
                let said = self.procedure.abandon();
                self.carry_out(said, at, &mut acts);
                self.finish(&mut acts);
            }
        }
        acts
    }

    /// Take a message that came at `at`.
    pub fn take(&mut self, message: &Message, at: f64) -> Vec<Act> {
        let mut acts = Vec::new();
        if self.state != State::Execute {
            return acts;
        }
        if self.verbose == 2 {
            acts.push(Act::Log(Entry::Message(*message)));
        }
        self.message = Some(*message);
        let said = self.procedure.take(message, at);
        self.carry_out(said, at, &mut acts);
        acts
    }

    fn start_or_stop(&mut self, at: f64, acts: &mut Vec<Act>) {
        if self.state == State::Execute {
            self.state = State::Stopped;
            let said = self.procedure.suspend();
            return self.carry_out(said, at, acts);
        }
        self.state = State::Execute;
        self.launch(at, acts);
    }

    /// Leave the present workload and begin that one with its initial threads.
    fn begin_again(&mut self, workload: usize, at: f64, acts: &mut Vec<Act>) {
        let said = self.procedure.abandon();
        self.carry_out(said, at, acts);
        self.set_up(workload);
        if self.state == State::Execute {
            self.launch(at, acts);
        }
    }

    fn set_up(&mut self, workload: usize) {
        self.workload = workload;
        self.procedure = Procedure::new(rules(&self.plan, workload));
        self.block = self.empty_block();
        self.looks.clear();
        self.is_doubted = false;
        (self.message, self.now, self.last) = (None, None, None);
    }

    /// Begin the present workload, or go on with it after a stop.
    fn launch(&mut self, at: f64, acts: &mut Vec<Act>) {
        acts.push(Act::Begin {
            workload: self.workload,
        });
        let mut said = self.procedure.resume();
        if said.is_empty() {
            said = self.procedure.begin();
        }
        self.carry_out(said, at, acts);
    }

    fn empty_block(&self) -> Block {
        Block {
            workload: self.workload,
            name: self.plan.workloads[self.workload].name.clone(),
            ..Block::default()
        }
    }

    fn carry_out(&mut self, said: Vec<Said>, at: f64, acts: &mut Vec<Act>) {
        let workload = self.workload;
        for said in said {
            match said {
                Said::Add { number: thread } => {
                    acts.push(Act::Start { thread });
                    acts.push(Act::Log(Entry::Active {
                        at,
                        thread,
                        workload,
                    }));
                }
                Said::Shed { number: thread } => {
                    acts.push(Act::Stop { thread });
                    acts.push(Act::Log(Entry::Inactive {
                        at,
                        thread,
                        workload,
                    }));
                }
                Said::Summed { sums, factor } => self.summed(at, sums, factor, acts),
                Said::NotConverged {
                    threads,
                    messages,
                    necessary,
                } => {
                    let warning = self.warning(threads, not_converged(messages, necessary));
                    acts.push(Act::Log(warning));
                }
                Said::Note { threads, text } => {
                    self.is_doubted = true;
                    let warning = self.warning(threads, text);
                    acts.push(Act::Log(warning.clone()));
                    acts.push(Act::Report(warning));
                }
                Said::Level(found) => self.found(at, &found, acts),
                Said::Done => self.done(at, acts),
            }
        }
    }

    fn warning(&self, threads: u32, text: String) -> Entry {
        Entry::Warning {
            run: self.run,
            workload: self.workload,
            threads,
            text,
        }
    }

    fn summed(&mut self, at: f64, sums: Sums, factor: f64, acts: &mut Vec<Act>) {
        let calculation = sums.calculation();
        self.looks.push((sums, factor));
        let number = self.block.rows.len();
        acts.push(Act::Log(Entry::Sum {
            at,
            number,
            sums,
            factor,
        }));
        acts.push(Act::Log(Entry::Calculation {
            at,
            number: number + 1,
            calculation,
        }));
        if self.now.is_some_and(|now| now.sums.threads != sums.threads) {
            self.last = self.now;
        }
        self.now = Some(Glance { sums, calculation });
    }

    fn found(&mut self, at: f64, found: &Found, acts: &mut Vec<Act>) {
        let (number, calculation) = (found.level + 1, found.calculation);
        acts.push(Act::Log(Entry::Calculation {
            at,
            number,
            calculation,
        }));
        acts.push(Act::Log(Entry::Interpolation {
            at,
            number,
            sums: found.sums,
            part: found.part,
        }));
        let block = &mut self.block;
        block.run = self.run;
        block.mode = self.mode;
        block.at = at;
        block.rows.push(Row {
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
        acts.push(Act::Log(Entry::Results(self.block.clone())));
    }

    /// The workload is done: report it, and go on to the next.
    fn done(&mut self, at: f64, acts: &mut Vec<Act>) {
        let count = self.plan.workloads.len();
        let is_batch = self.plan.workloads[self.workload].is_batch();
        if is_batch != self.is_group_batch {
            self.group.clear();
        }
        self.is_group_batch = is_batch;
        if !self.block.rows.is_empty() {
            acts.push(Act::Report(Entry::Results(self.block.clone())));
            self.group.push((self.block.clone(), self.is_doubted));
        }
        let next = self.workload + 1;
        let is_last = next == count;
        if is_last || self.plan.workloads[next].is_batch() != is_batch {
            self.average(acts);
        }
        let run = self.run + u32::from(is_last);
        if is_last && !self.mode.is_endless() && run > self.plan.nruns {
            return self.finish(acts);
        }
        self.run = run;
        self.set_up(next % count);
        self.launch(at, acts);
    }

    /// Only workloads that were run as a group have an average.
    fn average(&mut self, acts: &mut Vec<Act>) {
        let group = std::mem::take(&mut self.group);
        if group.len() < 2 {
            return;
        }
        let mean = |of: fn(&Block) -> f64| {
            group.iter().map(|(block, _)| of(block)).sum::<f64>() / group.len() as f64
        };
        let average = Entry::Average {
            count: group.len(),
            rabmark_r: mean(|it| it.rabmark_r),
            rabmark_s: mean(|it| it.rabmark_s),
            remark: remark(&group),
        };
        acts.push(Act::Log(average.clone()));
        acts.push(Act::Report(average));
    }

    fn finish(&mut self, acts: &mut Vec<Act>) {
        self.state = State::Finished;
        acts.push(Act::Finished);
    }
}

/// What makes an average of these no single number; nothing when it is one.
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

fn rules(plan: &Plan, workload: usize) -> Rules {
    Rules {
        nthreads: plan.workloads[workload].nthreads,
        threads_max: plan.threads_max,
        rsmin: plan.rsmin,
        rsmax: plan.rsmax,
        dnmin: plan.dnmin,
        dnmax: plan.dnmax,
        dlmax: plan.dlmax,
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
