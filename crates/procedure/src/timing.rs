//! Timing of commands side by side: their order, when there are enough runs, and the conclusions.
//!
//! In each round every command runs once. Even rounds use the reverse order of the one before
//! (ABBA), so that steady drift of the machine favours none. `rounds` decides when there are enough
//! rounds, `repeats` examines the runs beyond their mean.

use random::{Purpose, Stream};
use results::{CommandComparison, TimedCommand, TimedRun, TimingVerdict, Warning, WarningCode};
use stats::{
    CONFIDENCE, Comparison, Difference, Estimate, PAIRS_MIN, RepeatsEnd, bears_conclusion,
    compare_pairs, geometric_mean_of_repeats, holm, mean_of_repeats, median, outliers,
    repeats_mean,
};
use units::Duration;

use crate::repeats::{self, TwoKinds};
use crate::rounds::{Rounds, RoundsEnd, RoundsRule, fits_another, time_needed};

/// Below this multiple of the shell's time, a command's time is mostly the shell's.
const SHELL_SHARE: f64 = 5.0;
/// Below this elapsed time, most of it is process creation, seconds.
const SHORT_S: f64 = 0.005;

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingStep {
    /// Run this command once.
    Run {
        /// Its index.
        command: usize,
        /// The round, from 1.
        round: u32,
    },
    /// Finished.
    Finish(RoundsEnd),
}

/// Chooses the next command.
#[derive(Clone, Debug)]
pub struct TimingProcedure {
    rounds: Rounds,
    seed: u64,
    /// Elapsed seconds and exit status of each command, by round.
    runs: Vec<Vec<(f64, i32)>>,
    order: Vec<usize>,
    /// How many of `order` have run.
    done: usize,
    round: u32,
}

impl TimingProcedure {
    /// A procedure for that many commands, at least one.
    pub fn new(commands: usize, rule: RoundsRule, seed: u64) -> Self {
        let mut procedure = Self {
            rounds: Rounds::new(rule),
            seed,
            runs: vec![Vec::new(); commands],
            order: (0..commands).collect(),
            done: 0,
            round: 1,
        };
        procedure.shuffle();
        procedure
    }

    /// The next step, `elapsed` after the first run began.
    pub fn next(&mut self, elapsed: Duration) -> TimingStep {
        if self.done == self.order.len() {
            if let Some(end) = self.end(elapsed) {
                return TimingStep::Finish(end);
            }
            self.round += 1;
            self.done = 0;
            if self.round.is_multiple_of(2) {
                self.order.reverse();
            } else {
                self.shuffle();
            }
        }
        TimingStep::Run {
            command: self.order[self.done],
            round: self.round,
        }
    }

    /// Minimum time of the required rounds, if it is certain to exceed the budget, `elapsed` after
    /// the first run began.
    pub fn time_needed(&self, elapsed: Duration) -> Option<Duration> {
        let rule = self.rounds.rule();
        let done = f64::from(self.round - 1) + self.done as f64 / self.order.len() as f64;
        let is_open = rule.rounds.is_none() && done >= 1.0;
        let least = f64::from(rule.rounds_min);
        let needed = time_needed(rule.budget, (done.min(least), elapsed), rule.rounds_min);
        needed.filter(|_| is_open && done < least)
    }

    /// Records the elapsed time and exit status of the requested run.
    pub fn record(&mut self, seconds: f64, exit: i32) {
        self.runs[self.order[self.done]].push((seconds, exit));
        self.done += 1;
    }

    /// Guaranteed progress, for a progress bar.
    pub fn progress(&self, elapsed: Duration) -> f64 {
        let steps = self.order.len() as f64;
        let done = f64::from(self.round - 1) + self.done as f64 / steps;
        let by_rounds = done / f64::from(self.rounds.next_look());
        let rule = self.rounds.rule();
        if rule.rounds.is_some() {
            return by_rounds.min(1.0);
        }
        let by_time = elapsed.as_secs_f64() / rule.budget.as_secs_f64();
        by_rounds.max(by_time).min(1.0)
    }

    fn end(&mut self, elapsed: Duration) -> Option<RoundsEnd> {
        let Self { rounds, runs, .. } = self;
        let RoundsRule {
            precision,
            budget,
            rounds_min,
            rounds: fixed,
            ..
        } = *rounds.rule();
        let may_end = fixed.is_none() && self.round >= rounds_min;
        if may_end && !fits_another(budget, self.round, elapsed) {
            return Some(RoundsEnd::Budget);
        }
        rounds.end(self.round, elapsed, || is_precise(runs, precision))
    }

    fn shuffle(&mut self) {
        let mut stream = Stream::new(self.seed, u64::from(self.round), Purpose::Order);
        stream.shuffle(&mut self.order);
    }
}

/// Whether runs with a non-zero exit status count: if none succeeds, that is how the command ends.
/// Otherwise a failed run did something else, and usually less.
fn do_failures_count(mut exits: impl Iterator<Item = i32>) -> bool {
    exits.all(|exit| exit != 0)
}

/// Whether the mean of one command, or the ratio of each further one to the first, is known to
/// `precision`.
fn is_precise(runs: &[Vec<(f64, i32)>], precision: f64) -> bool {
    let is_narrow = |half: Option<f64>| half.is_some_and(|half| half <= precision);
    let counted = |runs: &Vec<(f64, i32)>| -> Vec<Option<f64>> {
        let failures_count = do_failures_count(runs.iter().map(|run| run.1));
        let runs = runs.iter();
        runs.map(|run| (run.1 == 0 || failures_count).then_some(run.0))
            .collect()
    };
    let counted: Vec<_> = runs.iter().map(counted).collect();
    let (first, others) = counted.split_first().expect("one command at least");
    if others.is_empty() {
        let first: Vec<f64> = first.iter().copied().flatten().collect();
        return is_narrow(repeats_mean(&first).map(|mean| mean.relative_half_width()));
    }
    others.iter().all(|other| {
        let pairs = other.iter().zip(first);
        let pairs = pairs.filter_map(|(one, first)| one.zip(*first));
        let logs: Vec<f64> = pairs.map(|(one, first)| (one / first).ln()).collect();
        is_narrow(repeats_mean(&logs).map(|ratio| (ratio.high - ratio.value).exp_m1()))
    })
}

/// Means, outliers and warnings of one command.
pub fn summarise_command(
    name: String,
    command: String,
    runs: Vec<TimedRun>,
    shell_s: Option<f64>,
    end: RepeatsEnd,
) -> TimedCommand {
    let counted: Vec<TimedRun> = counted_runs(&runs).copied().collect();
    let of = |field: fn(&TimedRun) -> f64| counted.iter().map(field).collect::<Vec<f64>>();
    let real = of(|run| run.real_s);
    let kinds = TwoKinds::of(&real);
    // With two groups, neither counts as outliers.
    let far = kinds.map_or_else(|| outliers(&real), |_| Vec::new());
    let outliers: Vec<u32> = far.iter().map(|&at| counted[at].round).collect();
    let mut warnings = Vec::new();
    warn_of_exits(&mut warnings, &runs);
    warn_of_short_times(&mut warnings, median(&real), shell_s);
    if outliers.first() == Some(&1) {
        warnings.push(
            Warning::warn(
                WarningCode::FirstRunDiffers,
                "The first counted run is far from the others: it filled caches.",
            )
            .advise("Use more --warm-ups, or --cold."),
        );
    }
    warnings.extend(repeats::drift(&real).map(drifted));
    for warning in &mut warnings {
        warning.cause = format!("{name}: {}", warning.cause);
    }
    warnings.extend(kinds.map(|it| it.warning(&name)));
    TimedCommand {
        name,
        command,
        real_s: mean(&real, end),
        user_s: mean(&of(|run| run.user_s), end),
        system_s: mean(&of(|run| run.system_s), end),
        outliers,
        warnings,
        runs,
    }
}

/// The runs in the mean: those that succeeded, or all if none did.
fn counted_runs(runs: &[TimedRun]) -> impl Iterator<Item = &TimedRun> {
    let failures_count = do_failures_count(runs.iter().map(|run| run.exit));
    runs.iter()
        .filter(move |run| run.exit == 0 || failures_count)
}

fn drifted(change: f64) -> Warning {
    let word = if change > 0.0 { "longer" } else { "less" };
    Warning::warn(
        WarningCode::Drift,
        format!(
            "Its later runs took {:.0} % {word} than its earlier ones. The mean holds for the time \
             of the measurement only.",
            100.0 * change.abs()
        ),
    )
    .advise("Use more --warm-ups, or find out what else uses the machine.")
}

/// The mean of times; a single one has no interval.
fn mean(seconds: &[f64], end: RepeatsEnd) -> Option<Estimate> {
    if let [only] = seconds {
        return Some(Estimate {
            low: 0.0,
            high: f64::INFINITY,
            ..Estimate::exact(*only, 1.0)
        });
    }
    mean_of_repeats(seconds, end)
}

fn warn_of_short_times(warnings: &mut Vec<Warning>, median_s: f64, shell_s: Option<f64>) {
    if let Some(shell) = shell_s.filter(|shell| median_s < SHELL_SHARE * shell) {
        warnings.push(Warning::warn(
            WarningCode::MostlyShell,
            format!(
                "Half of its runs take less than {:.2} ms, and the shell alone takes about {:.2} \
                 ms.",
                1e3 * median_s,
                1e3 * shell
            ),
        ).advise("Put the program after -- instead, to start it without a shell."));
    } else if median_s < SHORT_S {
        warnings.push(
            Warning::info(
                WarningCode::MostlyStart,
                "It takes less than 5 ms, much of which is the start of a process.",
            )
            .advise("Let it do its work several times per run."),
        );
    }
}

fn warn_of_exits(warnings: &mut Vec<Warning>, runs: &[TimedRun]) {
    let failed = runs.iter().filter(|run| run.exit != 0).count();
    let what = match failed == runs.len() {
        true => "and count, since none succeeded",
        false => {
            "and do not count. No difference is concluded from the others, which may be those that \
             take longest or least"
        }
    };
    if failed > 0 {
        warnings.push(Warning::warn(
            WarningCode::FailedRuns,
            format!(
                "{failed} of {} runs ended with a non-zero exit status, {what}.",
                runs.len()
            ),
        ));
    }
}

/// Makes the means of several commands geometric, over the rounds that all of them ran: the ratio
/// of two means is then that of the comparison. Times that include a zero keep their mean.
pub fn make_means_geometric(commands: &mut [TimedCommand], end: RepeatsEnd) {
    let last = last_round_of_all(commands).filter(|_| commands.len() > 1);
    for command in commands.iter_mut() {
        let counted = counted_runs(&command.runs).filter(|it| Some(it.round) <= last);
        let counted: Vec<TimedRun> = counted.copied().collect();
        let of = |field: fn(&TimedRun) -> f64| {
            geometric_mean_of_repeats(&counted.iter().map(field).collect::<Vec<f64>>(), end)
        };
        command.real_s = of(|run| run.real_s).or(command.real_s);
        command.user_s = of(|run| run.user_s).or(command.user_s);
        command.system_s = of(|run| run.system_s).or(command.system_s);
    }
}

/// The last round that every command ran.
fn last_round_of_all(commands: &[TimedCommand]) -> Option<u32> {
    let last = commands.iter().map(|it| it.runs.last().map(|it| it.round));
    last.min().flatten()
}

/// Compares each further command with the first, over rounds that all ran. Claims are corrected
/// for their number (Holm).
///
/// Commands without a positive time, or with fewer than two rounds, are left out.
pub fn compare_commands(commands: &[TimedCommand], margin: f64) -> Vec<CommandComparison> {
    let Some((first, others)) = commands.split_first() else {
        return Vec::new();
    };
    let last = last_round_of_all(commands);
    let found: Vec<(&TimedCommand, Comparison)> = others
        .iter()
        .filter_map(|other| {
            let pairs = pairs(other, first, last);
            Some((other, compare_pairs(&pairs, CONFIDENCE)?))
        })
        .collect();
    let p_values: Vec<f64> = found.iter().map(|(_, found)| found.p_value).collect();
    let adjusted = holm(&p_values);
    found
        .into_iter()
        .zip(adjusted)
        .map(|((other, found), p_value)| CommandComparison {
            name: other.name.clone(),
            reference: first.name.clone(),
            ratio: found.ratio,
            p_value,
            pairs: found.pairs as u32,
            verdict: match has_left_out(first) || has_left_out(other) {
                true => TimingVerdict::RunsFailed,
                false => verdict(&found, p_value, margin),
            },
        })
        .collect()
}

/// Whether failed runs are missing from the mean: the remaining ones may be biased.
fn has_left_out(command: &TimedCommand) -> bool {
    counted_runs(&command.runs).count() < command.runs.len()
}

/// A difference is claimed only if it is also significant after the correction.
fn verdict(found: &Comparison, p_value: f64, margin: f64) -> TimingVerdict {
    if !bears_conclusion(found.pairs) {
        return TimingVerdict::TooFew;
    }
    let survives = p_value <= 1.0 - CONFIDENCE;
    match found.difference(margin) {
        Difference::Larger if survives => TimingVerdict::Slower,
        Difference::Smaller if survives => TimingVerdict::Faster,
        Difference::Equivalent => TimingVerdict::Equivalent,
        _ => TimingVerdict::NotShown,
    }
}

fn pairs(other: &TimedCommand, first: &TimedCommand, last: Option<u32>) -> Vec<(f64, f64)> {
    let of_round = |round: u32| counted_runs(&first.runs).find(|run| run.round == round);
    counted_runs(&other.runs)
        .filter(|run| Some(run.round) <= last)
        .filter_map(|run| Some((run.real_s, of_round(run.round)?.real_s)))
        .collect()
}

/// Default number of rounds: the fewest from which a difference can be claimed.
pub const ROUNDS_MIN: u32 = PAIRS_MIN as u32;

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
