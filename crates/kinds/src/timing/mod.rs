//! Times commands side by side: `seekstone time`.

mod hosts;

use std::path::{Path, PathBuf};

use engine::Clock as _;
use procedure::{
    RoundsEnd, RoundsRule, TimingProcedure, TimingStep, compare_commands, make_means_geometric,
    summarise_command,
};
use results::{RankShare, Run, Setup, Status, TargetDescription, TimedRun, Timing, Warning};
use stats::median;
use sys::MonotonicClock;
use units::{Bytes, Duration, Instant};

use crate::session::{self, MeasurementSession, Result};
use crate::stage::{RunPlan, Show, Stage};
use host::inspect::inspect;
use host::interrupt::Interrupt;
use host::keeper::Keeper;
use host::process::{
    DROP_CACHES, FinishedCommand, ProcessError, ProcessSpec, drop_all_caches, quoted, run_process,
    shown,
};
use lab::bench::{BenchError, BenchRequest};
use lab::hosts::{RankRounds, Ranks};
use lab::laboratory::with_causes;

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
    pub fn of_shell(text: &str) -> Self {
        Self {
            name: text.to_owned(),
            shown: text.to_owned(),
            words: shell(text),
            is_of_shell: true,
        }
    }

    /// A program and its arguments, started without a shell.
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
    /// The directory by its name, the seed of the order, and the hosts that run each command
    /// together, where there are several.
    pub bench: BenchRequest,
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
}

/// Time commands.
///
/// # Errors
/// When no run was completed. What was measured before something went wrong is a partial run.
pub fn time_commands(
    request: &TimingRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<Run> {
    let ranks = request.bench.ranks.as_ref();
    let target = Ranks::on_all(ranks, directory_of(request))?;
    let each = |ranks: &Ranks| vec![ranks.clone(); request.commands.len()];
    let rounds = ranks.map_or_else(Vec::new, each).into_iter();
    session::carry_out(TimingSession {
        request,
        interrupt,
        show,
        target,
        clock: MonotonicClock::start(),
        runs: vec![Vec::new(); request.commands.len()],
        ended_by: "stopped",
        shell_s: None,
        variables: hosts::variables(ranks),
        rank_rounds: rounds.map(RankRounds::new).collect(),
        keeper: ranks.and_then(|_| Keeper::start().ok()),
    })
}

/// The directory in which commands run.
fn directory_of(request: &TimingRequest) -> Result<TargetDescription> {
    let (target, _) = inspect(&request.directory)?;
    if request.directory.is_dir() {
        return Ok(target);
    }
    Err(BenchError::Refused(format!(
        "{} is not a directory: commands run in one",
        request.directory.display()
    )))
}

struct TimingSession<'a> {
    request: &'a TimingRequest,
    interrupt: &'a Interrupt,
    show: Show<'a>,
    target: TargetDescription,
    clock: MonotonicClock,
    runs: Vec<Vec<TimedRun>>,
    ended_by: &'static str,
    shell_s: Option<f64>,
    /// What commands find in their environment.
    variables: Vec<(String, String)>,
    /// The ranks by command, where there are several.
    rank_rounds: Vec<RankRounds>,
    /// Ends what a rank runs that is killed: its launcher does not know of it.
    keeper: Option<Keeper>,
}

impl MeasurementSession for TimingSession<'_> {
    type Outcome = Run;

    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn plan(&self) -> RunPlan {
        let rule = &self.request.rule;
        let warm_up = (self.request.warm_ups > 0).then_some(("warm-up", None));
        let rounds = (
            "rounds",
            Some(rule.budget).filter(|_| rule.rounds.is_none()),
        );
        RunPlan {
            phases: warm_up.into_iter().chain([rounds]).collect(),
            budget: None,
        }
    }

    fn show(&mut self, stage: &Stage<'_>) {
        (self.show)(stage);
    }

    fn measure(&mut self) -> Result<()> {
        let ended = self.time_all()?;
        self.ended_by = ended.name();
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let commands = self.request.commands.iter().zip(&self.rank_rounds);
        let notes = commands.filter_map(|(line, rounds)| {
            rounds.note_of("run", |last, times, [mean, most]| {
                format!(
                    "{} ended {mean} apart on average, at most {most}, and {last} was last in \
                     {times}. Its time is that from the first start to the last end.",
                    line.name
                )
            })
        });
        notes.collect()
    }

    /// Nothing was made that a rank could have left behind.
    fn clean_up(&mut self) -> Result<Vec<Warning>> {
        Ranks::part_from(self.request.bench.ranks.as_ref(), &[])?;
        Ok(Vec::new())
    }

    fn recorded(&self, _: &Status) -> (Setup, TargetDescription) {
        (self.request.bench.setup.clone(), self.target.clone())
    }

    fn complete(self, run: Run) -> Run {
        let found = self.found();
        Run {
            tables: found.tables(),
            findings: found.findings(),
            row_warnings: found.row_warnings(),
            ..run
        }
    }
}

impl TimingSession<'_> {
    fn time_all(&mut self) -> Result<RoundsEnd> {
        let cells = &self.request.bench.cells;
        let shell = cells.result("shell", || self.measure_shell());
        let ranks = self.request.bench.ranks.as_ref();
        self.shell_s = Ranks::on_all(ranks, shell)?;
        if !cells.is_replay_only() {
            let warmed = match ranks {
                Some(ranks) => ranks.beating(|| self.warm_up()),
                None => self.warm_up(),
            };
            Ranks::on_all(ranks, warmed)?;
        }
        let commands = self.request.commands.len();
        let mut procedure =
            TimingProcedure::new(commands, self.request.rule, self.request.bench.setup.seed);
        let first = self.now();
        let mut replayed = Duration::ZERO;
        loop {
            let elapsed = replayed + self.now().since(first);
            let elapsed = match self.rank_rounds.first() {
                Some(rounds) => rounds.agree_on_time(elapsed)?,
                None => elapsed,
            };
            self.refuse_short_time(procedure.time_needed(elapsed))?;
            let TimingStep::Run { command, round } = (match procedure.next(elapsed) {
                TimingStep::Finish(end) => return Ok(end),
                step => step,
            }) else {
                continue;
            };
            let title = format!("round {round}: {}", self.request.commands[command].name);
            self.show_progress(&title, procedure.progress(elapsed), elapsed);
            let begun = self.now();
            let of = format!("{command}, {title}");
            let (run, took) = cells.result(&of, || -> Result<_> {
                let run = self.run_on_all(command, round)?;
                Ok((run, self.now().since(begun)))
            })?;
            replayed += took.saturating_sub(self.now().since(begun));
            procedure.record(run.real_s, run.exit);
            self.runs[command].push(run);
        }
    }

    /// Before they exceed it: the fewest rounds take longer than the budget that was given.
    fn refuse_short_time(&mut self, needed: Option<Duration>) -> Result<()> {
        let is_given = self.request.bench.setup.is_given("budget");
        let Some(needed) = needed.filter(|_| is_given) else {
            return Ok(());
        };
        self.runs.iter_mut().for_each(Vec::clear);
        let (budget, rounds) = (self.request.rule.budget, self.request.rule.rounds_min);
        Err(BenchError::Usage(format!(
            "--budget {budget}: {rounds} rounds need about {needed}. Use --budget {:.0}s, or \
             --runs N",
            needed.as_secs_f64().ceil()
        )))
    }

    /// A command once, with what goes before it; on all ranks together, where there are several.
    fn run_on_all(&mut self, command: usize, round: u32) -> Result<TimedRun> {
        let line = &self.request.commands[command];
        let mut rounds = std::mem::take(&mut self.rank_rounds);
        let run = match rounds.get_mut(command) {
            None => self.before().and_then(|()| self.run(line, round)),
            Some(ranks) => ranks.round(
                self,
                |session| session.before(),
                |session| session.run(line, round),
                |all, _| (hosts::merged(all), all.iter().map(hosts::part).collect()),
            ),
        };
        self.rank_rounds = rounds;
        run
    }

    /// Runs before the first that counts.
    fn warm_up(&mut self) -> Result<()> {
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
    fn measure_shell(&self) -> Result<Option<f64>> {
        if !self.request.commands.iter().any(|it| it.is_of_shell) {
            return Ok(None);
        }
        let words = shell("");
        let mut seconds = Vec::new();
        for _ in 0..SHELL_RUNS {
            let ended = self.ended(&self.spec(&words))?;
            seconds.push(ended.elapsed.as_secs_f64());
        }
        Ok(Some(median(&seconds)))
    }

    /// What goes before a run.
    fn before(&self) -> Result<()> {
        if let Some(text) = &self.request.prepare {
            self.run_uncounted(text)?;
        }
        if self.request.is_cold {
            drop_all_caches().map_err(|error| {
                let text = format!("cannot write to {DROP_CACHES}: {error}");
                BenchError::Refused(format!("{text}. Dropping the system's caches is for root"))
            })?;
        }
        Ok(())
    }

    /// One run with what goes after it.
    fn run(&self, command: &CommandLine, round: u32) -> Result<TimedRun> {
        let ended = self.ended(&self.spec(&command.words))?;
        if let Some(text) = &self.request.conclude {
            self.run_uncounted(text)?;
        }
        let is_fine = ended.reaped.status.success() || self.request.goes_on_after_failures;
        let hint = ". --ignore-failure goes on";
        if is_fine {
            Ok(timed(round, &ended))
        } else {
            Err(failed(&command.words, &ended, hint))
        }
    }

    /// A command that does not count, but must work.
    fn run_uncounted(&self, text: &str) -> Result<()> {
        let words = shell(text);
        let spec = ProcessSpec {
            input: None,
            ..self.spec(&words)
        };
        let ended = self.ended(&spec)?;
        if ended.reaped.status.success() {
            Ok(())
        } else {
            Err(failed(&words, &ended, ""))
        }
    }

    fn ended(&self, spec: &ProcessSpec<'_>) -> Result<FinishedCommand> {
        run_process(spec, self.interrupt).map_err(|error| match error {
            ProcessError::Stopped { signal } => BenchError::Interrupted {
                signal: signal.into(),
            },
            other => BenchError::Refused(with_causes(&other)),
        })
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
        (self.show)(&Stage {
            title,
            done,
            elapsed: self.clock.now().since(Instant::START),
            left: Some(self.request.rule.budget.saturating_sub(elapsed)),
            ..Stage::default()
        });
    }

    fn found(self) -> Timing {
        let end = self.request.rule.end();
        let lines = self.request.commands.iter().zip(self.runs);
        let commands = lines.map(|(line, runs)| {
            let shell_s = self.shell_s.filter(|_| line.is_of_shell);
            summarise_command(line.name.clone(), line.shown.clone(), runs, shell_s, end)
        });
        let mut commands: Vec<_> = commands.collect();
        make_means_geometric(&mut commands, end);
        let lines = self.request.commands.iter().zip(&self.rank_rounds);
        let hosts = lines.flat_map(|(line, rounds)| {
            rounds.shares().into_iter().map(|share| RankShare {
                command: line.name.clone(),
                ..share
            })
        });
        Timing {
            hosts: hosts.collect(),
            comparisons: compare_commands(&commands, self.request.margin),
            commands,
            warm_ups: self.request.warm_ups,
            is_cold: self.request.is_cold,
            margin: self.request.margin,
            ended_by: self.ended_by.to_owned(),
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

fn failed(words: &[String], ended: &FinishedCommand, hint: &str) -> BenchError {
    let (command, status) = (shown(words), ended.reaped.status);
    let printed = &ended.printed;
    BenchError::Refused(format!("{command} failed: {status}{printed}{hint}"))
}
