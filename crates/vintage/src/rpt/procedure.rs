//! One workload: the next number of control threads, and the result at each level.
//!
//! Source: the RPT manual of 1995, "Measurements". Its text gives the levels as `(rsmax - nl)/3`
//! and so on; its sample report (19, 29, 40, 50 ms) shows that `nl + k (rsmax - nl)/3` is meant.

use crate::rpt::doubts::{self, Senders};
use crate::rpt::sums::{Calculation, Converging, Sums, ThreadMessage};

/// Levels of a transaction workload, that without load included.
pub const LEVELS: usize = 4;

/// Rules of a workload's procedure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Threads of a batch workload; zero for a transaction workload.
    pub nthreads: u32,
    /// Maximum number of threads.
    pub threads_max: u32,
    /// Minimum no-load response time, milliseconds.
    pub rsmin: f64,
    /// The last level, milliseconds.
    pub rsmax: f64,
    /// Messages of a first sum.
    pub dnmin: u32,
    /// Messages of the longest sum.
    pub dnmax: u32,
    /// Factor within which a mean must be known.
    pub dlmax: f64,
}

/// Result at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelResult {
    /// Place of the level, from zero.
    pub level: usize,
    /// Response time, load and RABmarks at it.
    pub calculation: Calculation,
    pub sums: Sums,
    /// Position between the previous number of threads (0) and the current one (1).
    pub part: f64,
}

/// Actions requested by the procedure.
#[derive(Clone, Debug, PartialEq)]
pub enum ProcedureAction {
    /// Start the control thread of that number.
    Add(u32),
    /// Stop the control thread of that number.
    Shed(u32),
    /// Messages were summed up.
    Summed {
        sums: Sums,
        /// The factor within which their mean is known.
        factor: f64,
    },
    /// A mean is not precise enough, and no more messages may be collected.
    NotConverged {
        threads: u32,
        /// Messages collected.
        messages: f64,
        /// Messages that would suffice.
        necessary: f64,
    },
    /// A level was determined.
    Level(LevelResult),
    /// A note for the reader of the results.
    Note {
        /// Threads at the time.
        threads: u32,
        text: String,
    },
    /// The workload is finished; all threads were stopped.
    Done,
}

/// Purpose of the current number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LevelPurpose {
    /// A batch workload, or the first thread of a transaction workload.
    First,
    /// To check whether the next level is reached: no convergence.
    Scout,
    /// To have a converged result below the level.
    Below,
    /// To have a converged result above the level.
    Above,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LevelPhase {
    Idle,
    Discarding { left: u32 },
    Collecting { since: f64, wanted: u32 },
    Done,
}

/// State of one workload's procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    rules: Rules,
    phase: LevelPhase,
    purpose: LevelPurpose,
    threads: u32,
    sums: Sums,
    /// The converged result with fewer threads.
    before: Option<Sums>,
    /// Response times of the levels, once the no-load time is known; milliseconds.
    levels: Vec<f64>,
    next_level: usize,
    /// Number of threads to restart after a stop.
    suspended: Option<u32>,
    /// Threads that sent messages of the current sum.
    heard: Senders,
    /// Actions not returned yet.
    actions: Vec<ProcedureAction>,
}

impl Procedure {
    /// A procedure that has not started.
    pub fn new(rules: Rules) -> Self {
        assert!(
            rules.dnmin >= 1 && rules.threads_max >= 1,
            "a sum has a message, a workload a thread"
        );
        Self {
            rules,
            phase: LevelPhase::Idle,
            purpose: LevelPurpose::First,
            threads: 0,
            sums: Sums::default(),
            before: None,
            levels: Vec::new(),
            next_level: 0,
            suspended: None,
            heard: Senders::default(),
            actions: Vec::new(),
        }
    }

    /// Active threads.
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// Sums so far of the present number of threads.
    pub const fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Starts the first thread, or all of a batch workload.
    pub fn begin(&mut self) -> Vec<ProcedureAction> {
        let first = self.rules.nthreads.max(1);
        self.grow_to(first);
        self.measure(LevelPurpose::First);
        std::mem::take(&mut self.actions)
    }

    /// Stops all threads, to resume later with as many.
    pub fn suspend(&mut self) -> Vec<ProcedureAction> {
        if self.suspended.is_none() {
            self.suspended = Some(self.threads);
            self.shrink_to(0);
        }
        std::mem::take(&mut self.actions)
    }

    /// Resumes after a stop. The current collection starts again.
    pub fn resume(&mut self) -> Vec<ProcedureAction> {
        if let Some(threads) = self.suspended.take() {
            if threads == 0 && self.phase == LevelPhase::Idle {
                return self.begin();
            }
            self.grow_to(threads);
            self.measure(self.purpose);
        }
        std::mem::take(&mut self.actions)
    }

    /// Stops all threads for good.
    pub fn abandon(&mut self) -> Vec<ProcedureAction> {
        self.shrink_to(0);
        self.phase = LevelPhase::Done;
        std::mem::take(&mut self.actions)
    }

    /// Adds a message received at `at` (seconds).
    pub fn take(&mut self, message: &ThreadMessage, at: f64) -> Vec<ProcedureAction> {
        match self.phase {
            LevelPhase::Idle | LevelPhase::Done => {}
            LevelPhase::Discarding { left } if left > 1 => {
                self.phase = LevelPhase::Discarding { left: left - 1 };
            }
            LevelPhase::Discarding { .. } => {
                self.sums = Sums::of_threads(self.threads);
                self.heard = Senders::of(self.threads);
                let wanted = match self.rules.nthreads {
                    0 => self.rules.dnmin,
                    threads => doubts::whole_rounds(self.rules.dnmin, threads),
                };
                self.phase = LevelPhase::Collecting { since: at, wanted };
            }
            LevelPhase::Collecting { since, wanted } => {
                self.sums.add(message);
                self.heard.note_report(message.thread);
                self.sums.total = at - since;
                if self.sums.messages >= f64::from(wanted) {
                    self.look(since, wanted);
                }
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// The required number of messages is there.
    fn look(&mut self, since: f64, wanted: u32) {
        let converging = if self.rules.nthreads > 0 {
            Converging::Total
        } else {
            Converging::Response
        };
        let (sums, factor) = (self.sums, self.sums.factor(converging));
        self.actions.push(ProcedureAction::Summed { sums, factor });
        if self.purpose != LevelPurpose::Scout && factor > self.rules.dlmax {
            if let Some(wanted) = wanted
                .checked_mul(2)
                .filter(|&more| more <= self.rules.dnmax)
            {
                self.phase = LevelPhase::Collecting { since, wanted };
                return;
            }
            self.actions.push(ProcedureAction::NotConverged {
                threads: self.threads,
                messages: sums.messages,
                necessary: sums.messages_necessary(factor, self.rules.dlmax),
            });
        }
        match self.purpose {
            LevelPurpose::First if self.rules.nthreads > 0 => {
                let silent = doubts::silent(&self.heard);
                self.note(doubts::edges(&sums, &self.heard));
                self.note(silent);
                self.found(sums.calculation(), sums, 1.0);
                self.finish();
            }
            LevelPurpose::First => self.without_load(),
            LevelPurpose::Scout => self.scouted(),
            LevelPurpose::Below => self.below(),
            LevelPurpose::Above => self.above(),
        }
    }

    fn note(&mut self, text: Option<String>) {
        let threads = self.threads;
        self.actions
            .extend(text.map(|text| ProcedureAction::Note { threads, text }));
    }

    /// The no-load response time determines the levels.
    fn without_load(&mut self) {
        let response = self.sums.calculation().response_ms;
        let (lowest, rsmax) = (response.max(self.rules.rsmin), self.rules.rsmax);
        self.levels = vec![lowest];
        if lowest < rsmax {
            self.levels
                .extend((1..LEVELS).map(|k| lowest + k as f64 * (rsmax - lowest) / 3.0));
        } else {
            let text = format!(
                "the response time without load is {response:.4} ms, and Rsmax {rsmax} ms: there \
                 are no further levels"
            );
            self.note(Some(text));
        }
        self.before = Some(self.sums);
        if response >= lowest {
            self.found(self.sums.calculation(), self.sums, 1.0);
        }
        self.go_on();
    }

    /// Continues with one more thread to find the next level.
    fn go_on(&mut self) {
        let Some(&level) = self.levels.get(self.next_level) else {
            return self.finish();
        };
        if self.threads >= self.rules.threads_max {
            return self.not_reached(level);
        }
        self.grow_to(self.threads + 1);
        self.measure(LevelPurpose::Scout);
    }

    fn scouted(&mut self) {
        if self.sums.calculation().response_ms > self.levels[self.next_level] {
            self.shrink_to(self.threads.saturating_sub(2).max(1));
            self.measure(LevelPurpose::Below);
        } else {
            self.go_on();
        }
    }

    fn below(&mut self) {
        let level = self.levels[self.next_level];
        if self.sums.calculation().response_ms >= level {
            if self.threads > 1 {
                self.shrink_to(self.threads.saturating_sub(2).max(1));
                return self.measure(LevelPurpose::Below);
            }
            let text = format!(
                "one thread alone now exceeds the level of {level:.4} ms: its result stands for \
                 the level"
            );
            self.note(Some(text));
            self.found(self.sums.calculation(), self.sums, 1.0);
            self.before = Some(self.sums);
            return self.go_on();
        }
        self.before = Some(self.sums);
        self.grow_to(self.threads + 1);
        self.measure(LevelPurpose::Above);
    }

    fn above(&mut self) {
        let now = self.sums.calculation();
        let before = self.before.unwrap_or(self.sums);
        let earlier = before.calculation();
        // One step up can pass several levels.
        while let Some(&level) = self.levels.get(self.next_level) {
            if now.response_ms < level {
                break;
            }
            let part = (level - earlier.response_ms) / (now.response_ms - earlier.response_ms);
            let part = if part.is_finite() {
                part.clamp(0.0, 1.0)
            } else {
                1.0
            };
            let calculation = Calculation::between(&earlier, &now, part);
            let sums = Sums::between(&before, &self.sums, part);
            self.found(calculation, sums, part);
        }
        let is_bounded = self
            .levels
            .get(self.next_level)
            .is_none_or(|_| matches!(self.actions.last(), Some(ProcedureAction::Level(_))));
        self.before = Some(self.sums);
        if is_bounded {
            return self.go_on();
        }
        let level = self.levels[self.next_level];
        if self.threads >= self.rules.threads_max {
            return self.not_reached(level);
        }
        self.grow_to(self.threads + 1);
        self.measure(LevelPurpose::Above);
    }

    fn not_reached(&mut self, level: f64) {
        let text = format!(
            "the level of {level:.4} ms was not reached: {} threads wait {:.4} ms, and \
             MaxActualThreads allows no more; seekstone rab adds threads until it is",
            self.threads,
            self.sums.calculation().response_ms
        );
        self.note(Some(text));
        self.finish();
    }

    fn found(&mut self, calculation: Calculation, sums: Sums, part: f64) {
        let doubt = doubts::outstanding(&calculation, sums.threads, self.rules.dlmax);
        self.note(doubt);
        let level = self.next_level;
        self.next_level += 1;
        self.actions.push(ProcedureAction::Level(LevelResult {
            level,
            calculation,
            sums,
            part,
        }));
    }

    fn finish(&mut self) {
        self.shrink_to(0);
        self.phase = LevelPhase::Done;
        self.actions.push(ProcedureAction::Done);
    }

    /// Measures the current number of threads once it is steady.
    fn measure(&mut self, purpose: LevelPurpose) {
        self.purpose = purpose;
        self.phase = LevelPhase::Discarding {
            left: self.threads + 1,
        };
    }

    fn grow_to(&mut self, threads: u32) {
        let added = (self.threads..threads).map(ProcedureAction::Add);
        self.actions.extend(added);
        self.threads = threads;
    }

    fn shrink_to(&mut self, threads: u32) {
        let shed = (threads..self.threads).rev().map(ProcedureAction::Shed);
        self.actions.extend(shed);
        self.threads = self.threads.min(threads);
    }
}

#[cfg(test)]
#[path = "procedure_tests.rs"]
mod tests;
