//! Commands on several hosts: in each round every rank starts the same one at the same instant,
//! and the time that counts is that from the first start to the last end.

use lab::bench::BenchError;
use lab::hosts::Ranks;
use lab::laboratory::with_causes;
use results::{TimedRun, TimingHost, Warning, WarningCode};
use units::{Duration, format_counted, format_duration_ns};

use super::{CommandLine, TimingError};

/// What tells a command which rank runs it, and of how many.
const RANK: &str = "SEEKSTONE_RANK";
const RANKS: &str = "SEEKSTONE_RANKS";

/// The ranks, and what each took.
pub(super) struct TimingRanks {
    ranks: Ranks,
    /// By command, then by rank.
    times: Vec<Vec<RankTimes>>,
    /// From the first rank done to the last, by command: the sum over its runs and the longest,
    /// seconds.
    spread_s: Vec<(f64, f64)>,
}

/// What one rank took for a command.
#[derive(Clone, Copy, Debug, Default)]
struct RankTimes {
    runs: u32,
    sum_s: f64,
    first_in: u32,
    last_in: u32,
}

/// When a rank began after the common instant, nanoseconds, and its run.
type RankRun = (u64, TimedRun);

impl TimingRanks {
    pub fn new(ranks: Ranks, commands: usize) -> Self {
        let count = ranks.share().ranks as usize;
        Self {
            times: vec![vec![RankTimes::default(); count]; commands],
            spread_s: vec![(0.0, 0.0); commands],
            ranks,
        }
    }

    /// What commands find in their environment.
    pub fn variables(ranks: Option<&Ranks>) -> Vec<(String, String)> {
        let Some(share) = ranks.map(Ranks::share) else {
            return Vec::new();
        };
        let pair = |name: &str, value: u32| (name.to_owned(), value.to_string());
        vec![pair(RANK, share.rank), pair(RANKS, share.ranks)]
    }

    /// How long it has taken so far: what it is on rank 0.
    pub fn agree_on_time(&self, own: Duration) -> Result<Duration, TimingError> {
        Ok(Duration(self.ranks.from_leader(&own.as_nanos())?))
    }

    /// One command on all ranks, which `prepare` for it each.
    pub fn run(
        &mut self,
        command: usize,
        prepare: impl FnOnce() -> Result<(), TimingError>,
        run: impl FnOnce() -> Result<TimedRun, TimingError>,
    ) -> Result<TimedRun, TimingError> {
        agreed(Some(&self.ranks), self.ranks.beating(prepare))?;
        let late = self.ranks.begin_together()?;
        let ran = self.ranks.beating(run);
        let mut all = Vec::new();
        let answer = match &ran {
            Ok(ran) => Ok((late.as_nanos(), *ran)),
            Err(error) => Err(reason(error)),
        };
        let merged = self.ranks.agree(answer, |runs: Vec<RankRun>| {
            let merged = merged(&runs);
            all = runs;
            Ok(merged)
        });
        self.note(command, &all);
        own_or_agreed(&self.ranks, merged, ran)
    }

    fn note(&mut self, command: usize, runs: &[RankRun]) {
        let ends = || runs.iter().map(ended_s);
        let (first, last) = (
            ends().fold(f64::INFINITY, f64::min),
            ends().fold(0.0, f64::max),
        );
        if runs.is_empty() {
            return;
        }
        let (sum, longest) = &mut self.spread_s[command];
        *sum += last - first;
        *longest = longest.max(last - first);
        for (times, run) in self.times[command].iter_mut().zip(runs) {
            times.runs += 1;
            times.sum_s += run.1.real_s;
            times.first_in += u32::from(ended_s(run) <= first);
            times.last_in += u32::from(ended_s(run) >= last);
        }
    }

    /// What each rank took for each command, in a row each.
    pub fn hosts(&self, commands: &[CommandLine]) -> Vec<TimingHost> {
        let of_command = |(line, times): (&CommandLine, &Vec<RankTimes>)| {
            let row = |(rank, times): (u32, &RankTimes)| TimingHost {
                command: line.name.clone(),
                rank,
                host: self.ranks.host(rank).unwrap_or_default(),
                runs: times.runs,
                real_s: times.sum_s / f64::from(times.runs.max(1)),
                first_in: times.first_in,
                last_in: times.last_in,
            };
            let ranks = (0..).zip(times).filter(|it| it.1.runs > 0);
            ranks.map(row).collect::<Vec<_>>()
        };
        commands
            .iter()
            .zip(&self.times)
            .flat_map(of_command)
            .collect()
    }

    /// How far the ends of ranks lay apart, a note for each command.
    pub fn notes(&self, commands: &[CommandLine]) -> Vec<Warning> {
        let hosts = format_counted(self.ranks.machines().len() as u64, "host");
        let ranks = self.ranks.share().ranks;
        let note = |(line, (times, (sum, longest))): (
            &CommandLine,
            (&Vec<RankTimes>, &(f64, f64)),
        )| {
            let runs = times.first().map_or(0, |it| it.runs);
            let last = (0..).zip(times).max_by_key(|it| it.1.last_in)?;
            let text = format!(
                "{hosts}, {ranks} ranks: {} ended {} apart on average, at most {}; {} was last in \
                 {} of {}. Its time is that from the first start to the last end.",
                line.name,
                format_duration_ns(sum * 1e9 / f64::from(runs.max(1))),
                format_duration_ns(longest * 1e9),
                self.ranks.name(last.0),
                last.1.last_in,
                format_counted(runs.into(), "run"),
            );
            (runs > 0).then(|| Warning::info(WarningCode::Hosts, text))
        };
        let commands = commands.iter().zip(self.times.iter().zip(&self.spread_s));
        commands.filter_map(note).collect()
    }
}

/// When a rank was done, after the common instant, seconds.
fn ended_s((late_ns, run): &RankRun) -> f64 {
    *late_ns as f64 / 1e9 + run.real_s
}

/// A run of all ranks: from the first start to the last end, with what all of them took.
fn merged(all: &[RankRun]) -> TimedRun {
    let began = all.iter().map(|it| it.0 as f64 / 1e9);
    let began = began.fold(f64::INFINITY, f64::min);
    let ended = all.iter().map(ended_s).fold(0.0, f64::max);
    let sum = |of: fn(&TimedRun) -> f64| all.iter().map(|it| of(&it.1)).sum();
    let bytes = |of: fn(&TimedRun) -> u64| all.iter().map(|it| of(&it.1)).sum();
    let exits = all.iter().map(|it| it.1.exit);
    TimedRun {
        round: all[0].1.round,
        real_s: ended - began,
        user_s: sum(|it| it.user_s),
        system_s: sum(|it| it.system_s),
        read_bytes: bytes(|it| it.read_bytes),
        written_bytes: bytes(|it| it.written_bytes),
        memory_bytes: all.iter().filter_map(|it| it.1.memory_bytes).max(),
        exit: exits.into_iter().find(|exit| *exit != 0).unwrap_or(0),
    }
}

/// Why this rank cannot go on, as it tells the others.
fn reason(error: &TimingError) -> BenchError {
    match error {
        TimingError::NoDirectory(_) | TimingError::Inspect(_) => {
            BenchError::Usage(with_causes(error))
        }
        _ => BenchError::Refused(with_causes(error)),
    }
}

/// What all agreed on, or why not: in its own words where it failed on rank 0.
fn own_or_agreed<T, U>(
    ranks: &Ranks,
    agreed: Result<T, BenchError>,
    own: Result<U, TimingError>,
) -> Result<T, TimingError> {
    match (agreed, own) {
        (Ok(agreed), _) => Ok(agreed),
        (Err(_), Err(own)) if ranks.leads() => Err(own),
        (Err(error), _) => Err(error.into()),
    }
}

/// Go on if all ranks can.
pub(super) fn agreed<T>(
    ranks: Option<&Ranks>,
    own: Result<T, TimingError>,
) -> Result<T, TimingError> {
    let Some(ranks) = ranks else {
        return own;
    };
    let answer = own.as_ref().map(drop).map_err(reason);
    match (ranks.agree(answer, |_| Ok(())), own) {
        (Ok(()), own) => own,
        (agreed, own) => own_or_agreed(ranks, agreed, own).and(Err(BenchError::Served.into())),
    }
}

/// Part from the others: rank 0 goes on with what was timed.
pub(super) fn parted(ranks: Option<&Ranks>) -> Result<(), TimingError> {
    let Some(ranks) = ranks else {
        return Ok(());
    };
    let parted = ranks.part_with("");
    match ranks.leads() {
        true => Ok(()),
        false => Err(parted.err().unwrap_or(BenchError::Served).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(real_s: f64, exit: i32, memory_bytes: Option<u64>) -> TimedRun {
        TimedRun {
            round: 3,
            real_s,
            user_s: real_s / 2.0,
            system_s: 0.5,
            read_bytes: 10,
            written_bytes: 20,
            memory_bytes,
            exit,
        }
    }

    #[test]
    fn a_run_of_all_ranks_lasts_from_the_first_start_to_the_last_end() {
        let all = [
            (2_000_000, run(2.0, 0, Some(7))),
            (1_000_000, run(3.0, 4, None)),
            (500_000_000, run(1.0, 0, Some(9))),
        ];
        let found = merged(&all);
        assert!((found.real_s - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.user_s - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.system_s - 1.5).abs() < 1e-9, "{found:?}");
        assert_eq!((found.read_bytes, found.written_bytes), (30, 60));
        assert_eq!((found.memory_bytes, found.exit), (Some(9), 4));
        assert_eq!(found.round, 3);
    }
}
