//! Times commands side by side: `seekstone time`.

mod hosts;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use procedure::{
    RoundsEnd, RoundsRule, TimingProcedure, TimingStep, compare_commands, summarise_command,
};
use results::{Run, Setup, Status, TargetDescription, TimedRun, Timing};
use stats::median;
use units::{Bytes, Duration};

use crate::stage::{Show, Stage};
use host::environment;
use host::inspect::{InspectError, inspect};
use host::interrupt::Interrupt;
use host::keeper::Keeper;
use host::process::{
    DROP_CACHES, FinishedCommand, ProcessError, ProcessSpec, drop_all_caches, quoted, run_process,
    shown,
};
use lab::bench::BenchError;
use lab::cells::{Cells, Killed};
use lab::hosts::Ranks;

use self::hosts::{TimingRanks, agreed, parted};

/// Runs of an empty command that show what the shell itself takes.
const SHELL_RUNS: usize = 9;

/// A command and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// Its name in tables.
    pub name: String,
    /// As the user wrote it.
    pub shown: String,
    /// The program and its arguments.
    pub words: Vec<String>,
    is_of_shell: bool,
}

impl CommandLine {
    /// A text for the shell.
    #[must_use]
    pub fn of_shell(text: &str) -> Self {
        Self {
            name: text.to_owned(),
            shown: text.to_owned(),
            words: shell(text),
            is_of_shell: true,
        }
    }

    /// A program and its arguments, started without a shell.
    #[must_use]
    pub fn of_program(words: &[String]) -> Self {
        Self {
            name: quoted(words),
            shown: quoted(words),
            words: words.to_vec(),
            is_of_shell: false,
        }
    }
}

/// What is timed, and how.
#[derive(Clone, Debug)]
pub struct TimingRequest {
    /// The commands, one at least; the others are compared with the first.
    pub commands: Vec<CommandLine>,
    /// For the shell before each run.
    pub prepare: Option<String>,
    /// For the shell after each run.
    pub conclude: Option<String>,
    /// Where they run.
    pub directory: PathBuf,
    /// Their standard input; empty when absent.
    pub input: Option<PathBuf>,
    /// Whether their output is let through.
    pub shows_output: bool,
    /// Whether it goes on when a run fails; else the first one ends it all.
    pub goes_on_after_failures: bool,
    /// A run that takes longer is ended, and all with it.
    pub time_limit: Duration,
    /// Runs of each before the first that counts.
    pub warm_ups: u32,
    /// Whether the system's caches are dropped before each run.
    pub is_cold: bool,
    /// Differences below this share are of no interest.
    pub margin: f64,
    /// When there are enough rounds.
    pub rule: RoundsRule,
    /// Seed of the order.
    pub seed: u64,
    /// What the run records of all this.
    pub setup: Setup,
    /// Where what is measured is kept, against a kill.
    pub cells: Cells,
    /// The hosts that run each command together, where there are several.
    pub ranks: Option<Ranks>,
}

/// Why nothing was timed, or why it ended early.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// The directory cannot be used.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The directory is none.
    #[error("{0} is not a directory: commands run in one")]
    NoDirectory(String),
    /// A command did not come to its end.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The run is only told, and nothing more was kept of it.
    #[error(transparent)]
    Killed(#[from] Killed),
    /// Several hosts cannot go on together.
    #[error(transparent)]
    Hosts(#[from] BenchError),
    /// A command ended with another status than 0.
    #[error("{command} failed: {status}{printed}{hint}")]
    Failed {
        command: String,
        /// How it ended.
        status: String,
        /// The end of its standard error, in words.
        printed: String,
        /// What to do.
        hint: &'static str,
    },
    /// The fewest rounds do not fit.
    #[error(
        "--budget {budget}: {rounds} rounds need about {needed}. Use --budget {:.0}s, or --runs N",
        needed.as_secs_f64().ceil()
    )]
    TooShort {
        budget: Duration,
        /// The fewest.
        rounds: u32,
        /// What they take.
        needed: Duration,
    },
    /// Caches cannot be dropped.
    #[error("cannot write to {DROP_CACHES}: {0}; dropping the system's caches is for root")]
    Caches(io::Error),
}

/// Time commands.
///
/// # Errors
/// When no run was completed. What was measured before something went wrong is a partial run.
pub fn time_commands(
    request: &TimingRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run, TimingError> {
    let environment = environment::capture();
    let ranks = request.ranks.as_ref();
    let target = agreed(ranks, directory_of(request))?;
    let rank_times = ranks.map(|it| TimingRanks::new(it.clone(), request.commands.len()));
    let mut session = TimingSession {
        request,
        interrupt,
        show,
        begun: Instant::now(),
        runs: vec![Vec::new(); request.commands.len()],
        shell_s: None,
        variables: TimingRanks::variables(ranks),
        rank_times,
        keeper: ranks.and_then(|_| Keeper::start().ok()),
    };
    let ended = session.measure();
    parted(ranks)?;
    let elapsed: Duration = session.begun.elapsed().into();
    let (status, ended_by) = match ended {
        Ok(end) => (Status::Complete, end.name()),
        Err(error) if session.runs.iter().all(Vec::is_empty) => return Err(error),
        Err(error) => {
            let reason = error.to_string();
            (Status::Partial { reason }, "stopped")
        }
    };
    let rank_times = session.rank_times.as_ref();
    let warnings = rank_times.map_or_else(Vec::new, |it| it.notes(&request.commands));
    let found = session.found(ended_by);
    Ok(Run {
        status,
        elapsed_ns: elapsed.as_nanos(),
        tables: found.tables(),
        findings: found.findings(),
        warnings,
        row_warnings: found.row_warnings(),
        ..Run::empty(request.setup.clone(), environment, target)
    })
}

/// The directory in which commands run.
fn directory_of(request: &TimingRequest) -> Result<TargetDescription, TimingError> {
    let (target, _) = inspect(&request.directory)?;
    if !request.directory.is_dir() {
        let name = request.directory.display().to_string();
        return Err(TimingError::NoDirectory(name));
    }
    Ok(target)
}

struct TimingSession<'a> {
    request: &'a TimingRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    begun: Instant,
    runs: Vec<Vec<TimedRun>>,
    shell_s: Option<f64>,
    /// What commands find in their environment.
    variables: Vec<(String, String)>,
    /// The ranks, where there are several.
    rank_times: Option<TimingRanks>,
    /// Ends what a rank runs that is killed: its launcher does not know of it.
    keeper: Option<Keeper>,
}

impl TimingSession<'_> {
    fn measure(&mut self) -> Result<RoundsEnd, TimingError> {
        let cells = &self.request.cells;
        let shell = cells.result("shell", || self.measure_shell());
        let ranks = self.request.ranks.as_ref();
        self.shell_s = agreed(ranks, shell)?;
        if !cells.is_replay_only() {
            let warmed = match ranks {
                Some(ranks) => ranks.beating(|| self.warm_up()),
                None => self.warm_up(),
            };
            agreed(ranks, warmed)?;
        }
        let commands = self.request.commands.len();
        let mut procedure = TimingProcedure::new(commands, self.request.rule, self.request.seed);
        let first = Instant::now();
        let mut replayed = Duration::ZERO;
        loop {
            let elapsed = replayed + first.elapsed().into();
            let elapsed = match &self.rank_times {
                Some(rank_times) => rank_times.agree_on_time(elapsed)?,
                None => elapsed,
            };
            if let Some(needed) = procedure.time_needed(elapsed)
                && self.request.setup.is_given("budget")
            {
                self.runs.iter_mut().for_each(Vec::clear);
                let budget = self.request.rule.budget;
                let rounds = self.request.rule.rounds_min;
                return Err(TimingError::TooShort {
                    budget,
                    rounds,
                    needed,
                });
            }
            match procedure.next(elapsed) {
                TimingStep::Finish(end) => return Ok(end),
                TimingStep::Run { command, round } => {
                    let line = &self.request.commands[command];
                    let title = format!("round {round}: {}", line.name);
                    self.show_progress(&title, procedure.progress(elapsed), elapsed);
                    let begun = Instant::now();
                    let of = format!("{command}, {title}");
                    let mut rank_times = self.rank_times.take();
                    let ran = cells.result(&of, || -> Result<_, TimingError> {
                        let run = match &mut rank_times {
                            None => self.before().and_then(|()| self.run(line, round)),
                            Some(rank_times) => {
                                rank_times.run(command, || self.before(), || self.run(line, round))
                            }
                        };
                        let took: Duration = begun.elapsed().into();
                        Ok((run?, took))
                    });
                    self.rank_times = rank_times;
                    let (run, took) = ran?;
                    replayed += took.saturating_sub(begun.elapsed().into());
                    procedure.record(run.real_s, run.exit);
                    self.runs[command].push(run);
                }
            }
        }
    }

    /// Runs before the first that counts.
    fn warm_up(&mut self) -> Result<(), TimingError> {
        for _ in 0..self.request.warm_ups {
            for command in &self.request.commands {
                self.show_progress(&format!("warm-up: {}", command.name), 0.0, Duration::ZERO);
                self.before()?;
                self.run(command, 0)?;
            }
        }
        Ok(())
    }

    /// What the shell takes when it has nothing to do: part of the time of each of its commands.
    fn measure_shell(&self) -> Result<Option<f64>, TimingError> {
        if !self.request.commands.iter().any(|it| it.is_of_shell) {
            return Ok(None);
        }
        let words = shell("");
        let mut seconds = Vec::new();
        for _ in 0..SHELL_RUNS {
            let ended = run_process(&self.spec(&words), self.interrupt)?;
            seconds.push(ended.elapsed.as_secs_f64());
        }
        Ok(Some(median(&seconds)))
    }

    /// What goes before a run.
    fn before(&self) -> Result<(), TimingError> {
        if let Some(text) = &self.request.prepare {
            self.beside(text)?;
        }
        if self.request.is_cold {
            drop_all_caches().map_err(TimingError::Caches)?;
        }
        Ok(())
    }

    /// One run with what goes after it.
    fn run(&self, command: &CommandLine, round: u32) -> Result<TimedRun, TimingError> {
        let ended = run_process(&self.spec(&command.words), self.interrupt)?;
        if let Some(text) = &self.request.conclude {
            self.beside(text)?;
        }
        let is_fine = ended.reaped.status.success() || self.request.goes_on_after_failures;
        let hint = "; --ignore-failure goes on";
        if is_fine {
            Ok(timed(round, &ended))
        } else {
            Err(failed(&command.words, &ended, hint))
        }
    }

    /// A command that does not count, but must work.
    fn beside(&self, text: &str) -> Result<(), TimingError> {
        let words = shell(text);
        let spec = ProcessSpec {
            input: None,
            ..self.spec(&words)
        };
        let ended = run_process(&spec, self.interrupt)?;
        if ended.reaped.status.success() {
            Ok(())
        } else {
            Err(failed(&words, &ended, ""))
        }
    }

    fn spec<'s>(&'s self, words: &'s [String]) -> ProcessSpec<'s> {
        ProcessSpec {
            words,
            variables: &self.variables,
            directory: &self.request.directory,
            input: self.request.input.as_deref().map(Path::new),
            shows_output: self.request.shows_output,
            time_limit: self.request.time_limit,
            keeper: self.keeper.as_ref(),
        }
    }

    fn show_progress(&mut self, title: &str, done: f64, elapsed: Duration) {
        let left = self.request.rule.budget.saturating_sub(elapsed);
        (self.show)(&Stage {
            title,
            done,
            elapsed: self.begun.elapsed().into(),
            left,
            glimpse: None,
        });
    }

    fn found(self, ended_by: &str) -> Timing {
        let commands: Vec<_> = self
            .request
            .commands
            .iter()
            .zip(self.runs)
            .map(|(line, runs)| {
                let shell_s = self.shell_s.filter(|_| line.is_of_shell);
                summarise_command(line.name.clone(), line.shown.clone(), runs, shell_s)
            })
            .collect();
        let rank_times = self.rank_times.as_ref();
        let hosts = rank_times.map_or_else(Vec::new, |it| it.hosts(&self.request.commands));
        Timing {
            hosts,
            comparisons: compare_commands(&commands, self.request.margin),
            commands,
            warm_ups: self.request.warm_ups,
            is_cold: self.request.is_cold,
            margin: self.request.margin,
            ended_by: ended_by.to_owned(),
            shell_s: self.shell_s,
        }
    }
}

fn shell(text: &str) -> Vec<String> {
    ["/bin/sh", "-c", text].map(String::from).to_vec()
}

fn timed(round: u32, ended: &FinishedCommand) -> TimedRun {
    let reaped = &ended.reaped;
    TimedRun {
        round,
        real_s: ended.elapsed.as_secs_f64(),
        user_s: reaped.user.as_secs_f64(),
        system_s: reaped.system.as_secs_f64(),
        read_bytes: reaped.read.as_u64(),
        written_bytes: reaped.written.as_u64(),
        memory_bytes: reaped.resident_max.map(Bytes::as_u64),
        exit: exit_of(reaped.status),
    }
}

/// The exit status as shells give it: 128 and the number of the signal that ended it.
fn exit_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal().map(|number| 128 + number);
    status.code().or(signal).unwrap_or(-1)
}

fn failed(words: &[String], ended: &FinishedCommand, hint: &'static str) -> TimingError {
    TimingError::Failed {
        command: shown(words),
        status: ended.reaped.status.to_string(),
        printed: ended.printed.clone(),
        hint,
    }
}
