//! File tests on several hosts. Every rank runs the same procedure on its own files and learns
//! after each pass how long all ranks took, so that all make the same decisions. What lies between
//! two passes each rank does by itself.

use std::collections::BTreeMap;

use drivers::free_space;
use lab::bench::BenchError;
use lab::hosts::{Party, Place};
use lab::laboratory::LaboratoryError;
use results::{FilePass, Warning, WarningCode};
use units::{Duration, format_count, format_counted, format_duration_ns};

use super::pass::KeptPass;
use super::subject::Subject;
use super::{FilesRequest, Opened};

/// All hosts have opened their directory and can measure the same, or none goes on.
///
/// # Errors
/// When one cannot.
pub(super) fn agreed(
    party: &Party,
    request: &FilesRequest,
    opened: Result<Opened, BenchError>,
) -> Result<Opened, BenchError> {
    let (place, opened) = match opened {
        Ok(opened) => (place(request, &opened), Some(opened)),
        Err(error) => (Err(error), None),
    };
    let agreed = party.agree_on_place(place);
    match (agreed, opened) {
        (Ok(differences), Some(mut opened)) => {
            let notes = differences.into_iter();
            let notes = notes.map(|text| Warning::note(WarningCode::Hosts, text));
            opened.warnings.extend(notes);
            Ok(opened)
        }
        (Err(error), Some(mut opened)) => {
            let left = opened.subjects.iter_mut().filter_map(Subject::clean_up);
            Err(super::with_left(error, left.collect()))
        }
        (agreed, None) => Err(agreed.err().unwrap_or(BenchError::Served)),
    }
}

fn place(request: &FilesRequest, opened: &Opened) -> Result<Place, BenchError> {
    let target = &opened.subjects[0].description;
    let space = free_space(target.path.as_ref()).map_err(LaboratoryError::from)?;
    let reserve = request.reserve.map_or(space.reserve, |reserve| reserve.0);
    let names: Vec<&str> = opened.states.iter().map(|state| state.name()).collect();
    let bytes = (
        request.needs().bytes,
        space.available.saturating_sub(reserve),
    );
    Ok(Place::of(target, bytes, names.join(", ")))
}

/// The other hosts, and how they kept up.
pub(super) struct Company {
    party: Party,
    /// In how many passes each rank was last.
    last: Vec<u32>,
    /// The sum over passes of the share that was over when the first rank was done.
    first_done: f64,
    /// Calls of each rank, and how long it took for them, nanoseconds.
    work: Vec<(u64, u64)>,
    /// The longest time from the first rank done to the last, nanoseconds.
    skew_ns: u64,
}

impl Company {
    pub(super) fn new(party: Party) -> Self {
        Self {
            last: vec![0; party.share().ranks as usize],
            work: vec![(0, 0); party.share().ranks as usize],
            skew_ns: 0,
            party,
            first_done: 0.0,
        }
    }

    /// How much of the budget is spent: on all hosts what it is on rank 0.
    pub(super) fn agree_on_time(&self, own: Duration) -> Result<Duration, BenchError> {
        let spent = self.party.from_leader(own.as_nanos())?;
        Ok(Duration::from_nanos(spent))
    }

    /// A pass of all hosts, which `prepare` for it each.
    ///
    /// # Errors
    /// When it failed anywhere.
    pub(super) fn measure<S>(
        &mut self,
        session: &mut S,
        prepare: impl FnOnce(&mut S) -> Result<(), BenchError>,
        measure: impl FnOnce(&mut S) -> Result<KeptPass, BenchError>,
    ) -> Result<KeptPass, BenchError> {
        let prepared = self.party.beating(|| prepare(session));
        self.party.agree(prepared, |_| Ok(()))?;
        let late = self.party.begin_together()?;
        let found = self.party.beating(|| measure(session));
        let told = found.map(|found| (late.as_nanos(), found));
        let machines = self.party.machines();
        let mut passes = Vec::new();
        let merged = self.party.agree(told, |all: Vec<(u64, KeptPass)>| {
            let each = all.iter();
            let each = each.map(|(late, it)| (*late, it.pass.calls, it.pass.elapsed_ns));
            passes = each.collect();
            Ok(merged(&all, &machines))
        })?;
        self.note(&passes);
        Ok(merged)
    }

    /// Note by how much each rank was late for a pass, its calls, and how long they took.
    fn note(&mut self, passes: &[(u64, u64, u64)]) {
        let ends: Vec<u64> = passes.iter().map(|(late, _, took)| late + took).collect();
        for (work, (_, calls, took)) in self.work.iter_mut().zip(passes) {
            work.0 += calls;
            work.1 += took;
        }
        let last = (0..ends.len()).max_by_key(|rank| ends[*rank]);
        let first = ends.iter().min();
        if let (Some(last), Some(first)) = (last, first) {
            self.last[last] += 1;
            self.skew_ns = self.skew_ns.max(ends[last] - first);
            self.first_done += *first as f64 / (ends[last] as f64).max(1.0);
        }
    }

    /// Part from the others; what could not be removed, a warning each. On other ranks than 0 that
    /// is the end.
    ///
    /// # Errors
    /// [`BenchError::Served`] on other ranks than 0, or why the others are silent.
    pub(super) fn part(&self, left: &[Warning]) -> Result<Vec<Warning>, BenchError> {
        let texts: Vec<String> = left.iter().map(Warning::text).collect();
        let parted = self.party.part_with(&texts.join("; "));
        if !self.party.leads() {
            return Err(parted.err().unwrap_or(BenchError::Served));
        }
        let texts = parted.unwrap_or_else(|error| vec![error.reason()]);
        let warning = |text| Warning::doubt(WarningCode::LeftBehind, text);
        Ok(texts.into_iter().map(warning).collect())
    }

    /// Who held the others up, in a note.
    pub(super) fn words(&self) -> Option<Warning> {
        let passes: u32 = self.last.iter().sum();
        let slowest = (0..).zip(&self.last).max_by_key(|it| it.1)?;
        if passes == 0 {
            return None;
        }
        let rate = |rank: &usize| {
            let (calls, ns) = self.work[*rank];
            calls as f64 / (ns as f64 / 1e9).max(1e-9)
        };
        let by_rate = |one: &usize, other: &usize| rate(one).total_cmp(&rate(other));
        let ranks = 0..self.work.len();
        let (slow, fast) = (ranks.clone().min_by(by_rate)?, ranks.max_by(by_rate)?);
        let text = format!(
            "{}, {} ranks: {} was done last in {} of {}; when a pass was over on the first rank, \
             {:.0} % of its time had gone by, and the last was done {} later at most. Slowest: \
             {} with {} calls/s; fastest: {} with {} calls/s. A pass lasts until the last rank is \
             done.",
            format_counted(self.party.machines().len() as u64, "host"),
            self.party.share().ranks,
            self.party.name(slowest.0),
            slowest.1,
            format_counted(u64::from(passes), "pass"),
            100.0 * self.first_done / f64::from(passes),
            format_duration_ns(self.skew_ns as f64),
            self.party.name(slow as u32),
            format_count(rate(&slow)),
            self.party.name(fast as u32),
            format_count(rate(&fast)),
        );
        Some(Warning::note(WarningCode::Hosts, text))
    }
}

/// A pass of all ranks: what each did is added, and it lasted from the first call to the last. What
/// the kernel counted of a device is that of its machine, whichever rank asked.
fn merged(all: &[(u64, KeptPass)], machines: &[Vec<u32>]) -> KeptPass {
    let began = all.iter().map(|(late, _)| *late).min().unwrap_or(0);
    let ended = all.iter().map(|(late, it)| late + it.pass.elapsed_ns).max();
    let sum = |of: fn(&FilePass) -> u64| all.iter().map(|(_, it)| of(&it.pass)).sum();
    let known = |of: fn(&FilePass) -> Option<u64>| -> Option<u64> {
        all.iter().map(|(_, it)| of(&it.pass)).sum()
    };
    let counted = |of: fn(&FilePass) -> Option<u64>| -> Option<u64> {
        let of_machine = |ranks: &Vec<u32>| {
            let each = ranks.iter().map(|rank| of(&all[*rank as usize].1.pass));
            each.collect::<Option<Vec<u64>>>()?.into_iter().max()
        };
        machines.iter().map(of_machine).sum()
    };
    let pass = FilePass {
        number: all[0].1.pass.number,
        is_warm_up: all[0].1.pass.is_warm_up,
        elapsed_ns: ended.unwrap_or(0) - began,
        calls: sum(|it| it.calls),
        bytes: sum(|it| it.bytes),
        cpu_user_ns: known(|it| it.cpu_user_ns),
        cpu_system_ns: known(|it| it.cpu_system_ns),
        device_reads: counted(|it| it.device_reads),
        device_writes: counted(|it| it.device_writes),
    };
    let mut times = BTreeMap::new();
    for (kind, found) in all.iter().flat_map(|(_, it)| &it.times) {
        let sum: &mut stats::Histogram = times.entry(*kind).or_default();
        sum.merge(found);
    }
    KeptPass { pass, times }
}

#[cfg(test)]
mod tests {
    use stats::Histogram;
    use workload::FileOpKind;

    use super::*;

    fn pass(elapsed_ns: u64, calls: u64, reads: u64) -> KeptPass {
        let mut times = Histogram::new();
        (0..calls).for_each(|call| times.record(1000 + call));
        KeptPass {
            pass: FilePass {
                number: 3,
                is_warm_up: false,
                elapsed_ns,
                calls,
                bytes: calls * 512,
                cpu_user_ns: Some(calls),
                cpu_system_ns: None,
                device_reads: Some(reads),
                device_writes: None,
            },
            times: BTreeMap::from([(FileOpKind::Create, times)]),
        }
    }

    /// Two ranks of one machine see one device; the third has one of its own.
    #[test]
    fn a_pass_of_three_ranks_is_what_all_did_until_the_last_was_done() {
        let all = vec![
            (50, pass(1_000, 10, 7)),
            (20, pass(1_500, 20, 9)),
            (90, pass(1_000, 30, 4)),
        ];
        let machines = [vec![0, 1], vec![2]];
        let KeptPass { pass, times } = merged(&all, &machines);
        assert_eq!(pass.elapsed_ns, 1_500);
        assert_eq!((pass.calls, pass.bytes), (60, 60 * 512));
        assert_eq!((pass.cpu_user_ns, pass.cpu_system_ns), (Some(60), None));
        assert_eq!((pass.device_reads, pass.device_writes), (Some(13), None));
        assert_eq!(times[&FileOpKind::Create].len(), 60);
    }
}
