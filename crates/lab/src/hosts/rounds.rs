//! Rounds that all ranks start together, each doing its part, and when each finished.

use results::{RankShare, Warning, WarningCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use units::{Duration, format_counted, format_duration_ns};

use super::ranks::Ranks;
use crate::bench::BenchError;

/// The ranks of a run, with their results so far.
pub struct RankRounds {
    ranks: Ranks,
    rounds: u32,
    /// By rank.
    work: Vec<RankWork>,
    /// Time from the first rank's end to the last, nanoseconds: the maximum, and the sum over all
    /// rounds.
    apart_max_ns: u64,
    apart_sum_ns: u64,
}

/// Results of a rank over all rounds.
#[derive(Clone, Copy, Debug, Default)]
struct RankWork {
    amount: u64,
    elapsed_ns: u64,
    cpu_ns: Option<u64>,
    first_in: u32,
    last_in: u32,
    /// Sum over rounds of the share of the round until it finished.
    busy: f64,
}

/// Result of a rank in a round.
#[derive(Clone, Copy, Debug)]
pub struct RankPart {
    /// End, from the common start, nanoseconds.
    pub ended_ns: u64,
    pub elapsed_ns: u64,
    /// Calls or bytes.
    pub amount: u64,
    pub cpu_ns: Option<u64>,
}

impl RankRounds {
    /// Ranks before the first round.
    pub fn new(ranks: Ranks) -> Self {
        let none = RankWork {
            cpu_ns: Some(0),
            ..RankWork::default()
        };
        Self {
            work: vec![none; ranks.share().ranks as usize],
            rounds: 0,
            apart_max_ns: 0,
            apart_sum_ns: 0,
            ranks,
        }
    }

    pub const fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Time so far, by rank 0's clock on all ranks.
    ///
    /// # Errors
    /// If rank 0 does not respond.
    pub fn agree_on_time(&self, own: Duration) -> Result<Duration, BenchError> {
        Ok(Duration(self.ranks.from_leader(&own.as_nanos())?))
    }

    /// A round of all ranks, which each starts with `prepare`. `sum` combines their results, each
    /// preceded by its lateness in nanoseconds, grouped by machine.
    ///
    /// # Errors
    /// If it failed anywhere.
    pub fn round<S, T, U>(
        &mut self,
        on: &mut S,
        prepare: impl FnOnce(&mut S) -> Result<(), BenchError>,
        carry_out: impl FnOnce(&mut S) -> Result<T, BenchError>,
        sum: impl FnOnce(&[(u64, T)], &[Vec<u32>]) -> (U, Vec<RankPart>),
    ) -> Result<U, BenchError>
    where
        T: Serialize + DeserializeOwned,
        U: Serialize + DeserializeOwned,
    {
        let prepared = self.ranks.beating(|| prepare(on));
        self.ranks.if_all_can(prepared)?;
        let late = self.ranks.begin_together()?;
        let found = self.ranks.beating(|| carry_out(on));
        let timed = found.map(|found| (late.as_nanos(), found));
        let machines = self.ranks.machines();
        let mut parts = Vec::new();
        let summed = self.ranks.agree(timed, |all: Vec<(u64, T)>| {
            let (summed, found) = sum(&all, &machines);
            parts = found;
            Ok(summed)
        })?;
        self.note(&parts);
        Ok(summed)
    }

    fn note(&mut self, parts: &[RankPart]) {
        let ends = || parts.iter().map(|it| it.ended_ns);
        let (Some(first), Some(last)) = (ends().min(), ends().max()) else {
            return;
        };
        self.rounds += 1;
        self.apart_max_ns = self.apart_max_ns.max(last - first);
        self.apart_sum_ns += last - first;
        for (work, part) in self.work.iter_mut().zip(parts) {
            work.amount += part.amount;
            work.elapsed_ns += part.elapsed_ns;
            work.cpu_ns = work.cpu_ns.zip(part.cpu_ns).map(|(sum, more)| sum + more);
            work.first_in += u32::from(part.ended_ns == first);
            work.last_in += u32::from(part.ended_ns == last);
            work.busy += part.ended_ns as f64 / (last as f64).max(1.0);
        }
    }

    /// Results of each rank. Empty on ranks other than 0.
    pub fn shares(&self) -> Vec<RankShare> {
        let rounds = f64::from(self.rounds);
        let share = |(rank, work): (u32, &RankWork)| {
            let seconds = work.elapsed_ns as f64 / 1e9;
            let at_work = seconds.max(1e-9);
            RankShare {
                command: String::new(),
                rank,
                host: self.ranks.host(rank).unwrap_or_default(),
                rounds: self.rounds,
                amount: work.amount,
                per_second: work.amount as f64 / at_work,
                mean_s: seconds / rounds,
                first_in: work.first_in,
                last_in: work.last_in,
                busy_share: work.busy / rounds,
                processors_used: work.cpu_ns.map(|cpu| cpu as f64 / 1e9 / at_work),
            }
        };
        let ranks = (0..).zip(&self.work).filter(|_| self.rounds > 0);
        ranks.map(share).collect()
    }

    /// A note for the run: the number of hosts, and what `words` says of the rank that was last
    /// most often (with the number of rounds) and of the mean and maximum time between first and
    /// last. `what` is the name of a round.
    pub fn note_of(
        &self,
        what: &str,
        words: impl FnOnce(&str, &str, [String; 2]) -> String,
    ) -> Option<Warning> {
        let (rank, last) = (0..).zip(&self.work).max_by_key(|it| it.1.last_in)?;
        let hosts = format_counted(self.ranks.machines().len() as u64, "host");
        let times = format!(
            "{} of {}",
            last.last_in,
            format_counted(self.rounds.into(), what)
        );
        let mean_ns = self.apart_sum_ns as f64 / f64::from(self.rounds.max(1));
        let apart = [mean_ns, self.apart_max_ns as f64].map(format_duration_ns);
        let said = words(&self.ranks.name(rank), &times, apart);
        let text = format!("{hosts}, {} ranks: {said}", self.ranks.share().ranks);
        (self.rounds > 0).then(|| Warning::info(WarningCode::Hosts, text))
    }
}

impl Ranks {
    /// Parts from the others, with a warning for each file that could not be removed. Ranks other
    /// than 0 end here.
    ///
    /// # Errors
    /// [`BenchError::Served`] on other ranks than 0, or why the others do not respond.
    pub fn part_from(ranks: Option<&Self>, left: &[Warning]) -> Result<Vec<Warning>, BenchError> {
        let Some(ranks) = ranks else {
            return Ok(Vec::new());
        };
        let texts: Vec<String> = left.iter().map(Warning::text).collect();
        let parted = ranks.part_with(&texts.join("; "));
        if !ranks.leads() {
            return Err(parted.err().unwrap_or(BenchError::Served));
        }
        let texts = parted.unwrap_or_else(|error| vec![error.reason()]);
        let warning = |text| Warning::warn(WarningCode::LeftBehind, text);
        Ok(texts.into_iter().map(warning).collect())
    }

    /// Continues with this rank's value if all ranks can, if there are several.
    ///
    /// # Errors
    /// Those of [`Ranks::agree`].
    pub fn on_all<T>(ranks: Option<&Self>, own: Result<T, BenchError>) -> Result<T, BenchError> {
        match ranks {
            Some(ranks) => ranks.if_all_can(own),
            None => own,
        }
    }
}

/// Continues with the opened target if all ranks can, or abandons it with `abandon`. They `agree`
/// on their reports.
///
/// # Errors
/// If a rank could not open its target, or they do not agree.
pub fn opened_on_all<O, T, U>(
    opened: Result<O, BenchError>,
    say: impl FnOnce(&O) -> Result<T, BenchError>,
    agree: impl FnOnce(Result<T, BenchError>) -> Result<U, BenchError>,
    abandon: impl FnOnce(O, BenchError) -> BenchError,
) -> Result<(O, U), BenchError> {
    let (said, opened) = match opened {
        Ok(opened) => (say(&opened), Some(opened)),
        Err(error) => (Err(error), None),
    };
    match (agree(said), opened) {
        (Ok(agreed), Some(opened)) => Ok((opened, agreed)),
        (Err(error), Some(opened)) => Err(abandon(opened, error)),
        (agreed, None) => Err(agreed.err().unwrap_or(BenchError::Served)),
    }
}
