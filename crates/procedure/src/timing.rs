//! Commands side by side: in which order they run, when there are enough runs, and what the runs
//! show.
//!
//! In each round every command runs once; an even round takes them in the reverse order of the one
//! before (ABBA), so that a machine that slows down steadily favours none. It ends on precision,
//! never on a verdict: who stops as soon as a difference shows always finds one. An interval
//! that is narrow by luck would end it, too, so that the first look that finds it narrow enough
//! only calls for a quarter of rounds more. With 4.2 % of noise in a pair and 2 % asked for, the
//! interval then covers in .946 of 3,000 simulated runs; without that, from five rounds on, in
//! .913.

use random::{Purpose, Stream};
use results::{CommandComparison, TimedCommand, TimedRun, Warning};
use stats::{
    CONFIDENCE, Comparison, Difference, Estimate, PAIRS_MIN, compare_pairs, holm, median, outliers,
    replicate_mean,
};
use units::Duration;

/// Rounds before the first look at the precision.
const FIRST_LOOK: u32 = 10;
/// From one look to the next the number of rounds grows by this.
const LOOK_FACTOR: f64 = 1.25;
/// Below this many times what the shell takes a command's time is mostly the shell's.
const SHELL_SHARE: f64 = 5.0;
/// Below this elapsed time starting a process is most of it, seconds.
const SHORT_S: f64 = 0.005;

/// When there are enough rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimingRule {
    /// Exactly so many rounds; until precise when absent.
    pub rounds: Option<u32>,
    /// The fewest, whatever they take.
    pub rounds_min: u32,
    /// The most.
    pub rounds_max: u32,
    /// Relative half-width wanted: of the mean of one command, of the ratios of several.
    pub precision: f64,
    /// No round begins after it, once the fewest are done.
    pub budget: Duration,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingStep {
    /// Run this command once.
    Run {
        /// Its position.
        command: usize,
        /// The round, from 1.
        round: u32,
    },
    /// It is over.
    Finish(TimingEnd),
}

/// Why it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimingEnd {
    /// The rounds that were asked for, or the most, are done.
    Rounds,
    /// The figures are as precise as wanted.
    Precise,
    /// Time is up.
    Budget,
}

impl TimingEnd {
    /// As in the JSON form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Precise => "precise",
            Self::Budget => "budget",
        }
    }
}

/// Says which command runs next.
#[derive(Clone, Debug)]
pub struct TimingProcedure {
    rule: TimingRule,
    seed: u64,
    /// Elapsed seconds of each command, by round.
    seconds: Vec<Vec<f64>>,
    order: Vec<usize>,
    /// How many of `order` have run.
    done: usize,
    round: u32,
    next_look: u32,
    /// A look has found it precise.
    was_precise: bool,
}

impl TimingProcedure {
    /// For so many commands, at least one.
    #[must_use]
    pub fn new(commands: usize, rule: TimingRule, seed: u64) -> Self {
        let mut procedure = Self {
            rule,
            seed,
            seconds: vec![Vec::new(); commands],
            order: (0..commands).collect(),
            done: 0,
            round: 1,
            next_look: rule.rounds_min.max(FIRST_LOOK),
            was_precise: false,
        };
        procedure.shuffle();
        procedure
    }

    /// What to do next, so long after the first run began.
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

    /// The run that was asked for took so long.
    pub fn record(&mut self, seconds: f64) {
        self.seconds[self.order[self.done]].push(seconds);
        self.done += 1;
    }

    /// The share of the work that is surely done, for a progress bar.
    #[must_use]
    pub fn progress(&self, elapsed: Duration) -> f64 {
        let steps = self.order.len() as f64;
        let done = f64::from(self.round - 1) + self.done as f64 / steps;
        let by_rounds = done / f64::from(self.rule.rounds.unwrap_or(self.next_look).max(1));
        if self.rule.rounds.is_some() {
            return by_rounds.min(1.0);
        }
        let by_time = elapsed.as_secs_f64() / self.rule.budget.as_secs_f64();
        by_rounds.max(by_time).min(1.0)
    }

    fn end(&mut self, elapsed: Duration) -> Option<TimingEnd> {
        if self.round >= self.rule.rounds.unwrap_or(self.rule.rounds_max) {
            return Some(TimingEnd::Rounds);
        }
        if self.rule.rounds.is_some() || self.round < self.rule.rounds_min {
            return None;
        }
        if self.round >= self.next_look {
            let next = (f64::from(self.round) * LOOK_FACTOR).ceil() as u32;
            self.next_look = next.max(self.round + 1);
            if self.was_precise {
                return Some(TimingEnd::Precise);
            }
            self.was_precise = self.is_precise();
        }
        (elapsed >= self.rule.budget).then_some(TimingEnd::Budget)
    }

    fn is_precise(&self) -> bool {
        let is_narrow = |estimate: Option<Estimate>| {
            estimate.is_some_and(|it| it.relative_half_width() <= self.rule.precision)
        };
        let (first, others) = self.seconds.split_first().expect("one command at least");
        if others.is_empty() {
            return is_narrow(replicate_mean(first, CONFIDENCE));
        }
        others.iter().all(|other| {
            let pairs: Vec<(f64, f64)> = other.iter().copied().zip(first.iter().copied()).collect();
            is_narrow(compare_pairs(&pairs, CONFIDENCE).map(|found| found.ratio))
        })
    }

    fn shuffle(&mut self) {
        let mut stream = Stream::new(self.seed, u64::from(self.round), Purpose::Order);
        for last in (1..self.order.len()).rev() {
            self.order
                .swap(last, stream.below(last as u64 + 1) as usize);
        }
    }
}

/// Means, outliers and doubts of one command.
#[must_use]
pub fn summarise_command(
    name: String,
    command: String,
    runs: Vec<TimedRun>,
    shell_s: Option<f64>,
) -> TimedCommand {
    let of = |field: fn(&TimedRun) -> f64| runs.iter().map(field).collect::<Vec<f64>>();
    let real = of(|run| run.real_s);
    let outliers: Vec<u32> = outliers(&real).iter().map(|&at| runs[at].round).collect();
    let mut warnings = Vec::new();
    warn_of_exits(&mut warnings, &runs);
    warn_of_short_times(&mut warnings, median(&real), shell_s);
    if outliers.first() == Some(&1) {
        warnings.push(Warning::doubt(
            "first-run-differs",
            "The first run that counted lies far from the others: caches were filled by it. Ask \
             for more --warm-ups, or for --cold.",
        ));
    }
    for warning in &mut warnings {
        warning.text = format!("{name}: {}", warning.text);
    }
    TimedCommand {
        name,
        command,
        real_s: mean(&real),
        user_s: mean(&of(|run| run.user_s)),
        system_s: mean(&of(|run| run.system_s)),
        outliers,
        warnings,
        runs,
    }
}

/// The mean of times, which are never below zero; a single one says nothing about others.
fn mean(seconds: &[f64]) -> Option<Estimate> {
    if let [only] = seconds {
        return Some(Estimate {
            low: 0.0,
            high: f64::INFINITY,
            ..Estimate::exact(*only, 1.0)
        });
    }
    let found = replicate_mean(seconds, CONFIDENCE)?;
    Some(Estimate {
        low: found.low.max(0.0),
        ..found
    })
}

fn warn_of_short_times(warnings: &mut Vec<Warning>, median_s: f64, shell_s: Option<f64>) {
    if let Some(shell) = shell_s.filter(|shell| median_s < SHELL_SHARE * shell) {
        warnings.push(Warning::doubt(
            "mostly-shell",
            format!(
                "Half of its runs take less than {:.2} ms, and the shell alone takes about {:.2} \
                 ms. Give the program after -- instead, which starts it without a shell.",
                1e3 * median_s,
                1e3 * shell
            ),
        ));
    } else if median_s < SHORT_S {
        warnings.push(Warning::note(
            "mostly-start",
            "It takes less than 5 ms, much of which is the start of a process. Let it do its work \
             several times.",
        ));
    }
}

fn warn_of_exits(warnings: &mut Vec<Warning>, runs: &[TimedRun]) {
    let failed = runs.iter().filter(|run| run.exit != 0).count();
    if failed > 0 {
        warnings.push(Warning::doubt(
            "failed-runs",
            format!(
                "{failed} of {} runs ended with an exit status other than 0, and count.",
                runs.len()
            ),
        ));
    }
}

/// Each further command beside the first, by the rounds that hold both; a family of claims, of
/// which each is corrected for the number of them (Holm).
///
/// A command without a positive time, or with fewer than two rounds, is left out.
#[must_use]
pub fn compare_commands(commands: &[TimedCommand], margin: f64) -> Vec<CommandComparison> {
    let Some((first, others)) = commands.split_first() else {
        return Vec::new();
    };
    let found: Vec<(&TimedCommand, Comparison)> = others
        .iter()
        .filter_map(|other| Some((other, compare_pairs(&pairs(other, first), CONFIDENCE)?)))
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
            verdict: verdict(&found, p_value, margin).to_owned(),
        })
        .collect()
}

/// A difference is claimed only if it survives the correction as well.
fn verdict(found: &Comparison, p_value: f64, margin: f64) -> &'static str {
    if found.pairs < PAIRS_MIN {
        return "too-few";
    }
    let survives = p_value <= 1.0 - CONFIDENCE;
    match found.difference(margin) {
        Difference::Larger if survives => "slower",
        Difference::Smaller if survives => "faster",
        Difference::Equivalent => "equivalent",
        _ => "not-shown",
    }
}

fn pairs(other: &TimedCommand, first: &TimedCommand) -> Vec<(f64, f64)> {
    let of_round = |round: u32| first.runs.iter().find(|run| run.round == round);
    other
        .runs
        .iter()
        .filter_map(|run| Some((run.real_s, of_round(run.round)?.real_s)))
        .collect()
}

/// Rounds where nothing else is asked for: the fewest from which a difference is claimed.
pub const ROUNDS_MIN: u32 = PAIRS_MIN as u32;

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
