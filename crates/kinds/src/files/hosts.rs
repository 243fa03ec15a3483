//! File tests on several hosts. Every rank runs the same procedure on its own files and learns
//! after each pass how long all ranks took, so that all make the same decisions. What lies between
//! two passes each rank does by itself.

use std::collections::BTreeMap;

use drivers::free_space;
use lab::bench::BenchError;
use lab::hosts::{RankDirectory, Ranks};
use lab::laboratory::LaboratoryError;
use results::{FileHost, FilePass, Warning, WarningCode};
use units::{Duration, format_count, format_counted, format_duration_ns};
use verify::FileFindings;

use super::pass::KeptPass;
use super::run::{FilesRequest, OpenedSubjects, with_left};
use super::stonewall::walls_merged;
use super::subject::TestedFileSystem;

/// All hosts have opened their directory and can measure the same, or none goes on.
///
/// # Errors
/// When one cannot.
pub(super) fn agreed(
    ranks: &Ranks,
    request: &FilesRequest,
    opened: Result<OpenedSubjects, BenchError>,
) -> Result<OpenedSubjects, BenchError> {
    let (place, opened) = match opened {
        Ok(opened) => (place(request, &opened), Some(opened)),
        Err(error) => (Err(error), None),
    };
    let agreed = ranks.agree_on_place(place);
    match (agreed, opened) {
        (Ok(differences), Some(mut opened)) => {
            let notes = differences.into_iter();
            let notes = notes.map(|text| Warning::info(WarningCode::Hosts, text));
            opened.warnings.extend(notes);
            Ok(opened)
        }
        (Err(error), Some(mut opened)) => {
            let left = opened
                .subjects
                .iter_mut()
                .filter_map(TestedFileSystem::clean_up);
            Err(with_left(error, left.collect()))
        }
        (agreed, None) => Err(agreed.err().unwrap_or(BenchError::Served)),
    }
}

fn place(request: &FilesRequest, opened: &OpenedSubjects) -> Result<RankDirectory, BenchError> {
    let target = &opened.subjects[0].description;
    let space = free_space(target.path.as_ref()).map_err(LaboratoryError::from)?;
    let reserve = request.reserve.map_or(space.reserve, |reserve| reserve.0);
    let names: Vec<&str> = opened.states.iter().map(|state| state.name()).collect();
    let bytes = (
        request.needs().bytes,
        space.available.saturating_sub(reserve),
    );
    Ok(RankDirectory::of(target, bytes, names.join(", ")))
}

/// The other hosts, and how they kept up.
pub(super) struct PeerHosts {
    ranks: Ranks,
    passes: u32,
    /// What each rank did.
    work: Vec<RankWork>,
    /// The longest time from the first rank done to the last, nanoseconds.
    skew_ns: u64,
}

/// What a rank did in all passes.
#[derive(Clone, Copy, Debug, Default)]
struct RankWork {
    calls: u64,
    /// How long it was at work, nanoseconds.
    elapsed_ns: u64,
    /// CPU time of its clients, nanoseconds; `None` where nobody knows.
    cpu_ns: Option<u64>,
    /// Passes in which it was done first, and last.
    first_in: u32,
    last_in: u32,
    /// The sum over passes of the share that was over when it was done.
    busy: f64,
}

impl RankWork {
    fn calls_per_second(&self) -> f64 {
        self.calls as f64 / (self.elapsed_ns as f64 / 1e9).max(1e-9)
    }
}

/// A pass of one rank.
#[derive(Clone, Copy, Debug)]
struct RankPass {
    /// When it was done, after the instant at which all were to begin, nanoseconds.
    ended_ns: u64,
    elapsed_ns: u64,
    calls: u64,
    cpu_ns: Option<u64>,
}

impl RankPass {
    fn of((late_ns, kept): &(u64, KeptPass)) -> Self {
        let pass = &kept.pass;
        Self {
            ended_ns: late_ns + pass.elapsed_ns,
            elapsed_ns: pass.elapsed_ns,
            calls: pass.calls,
            cpu_ns: pass
                .cpu_user_ns
                .zip(pass.cpu_system_ns)
                .map(|(user, system)| user + system),
        }
    }
}

impl PeerHosts {
    pub(super) fn new(ranks: Ranks) -> Self {
        let none = RankWork {
            cpu_ns: Some(0),
            ..RankWork::default()
        };
        Self {
            work: vec![none; ranks.share().ranks as usize],
            passes: 0,
            skew_ns: 0,
            ranks,
        }
    }

    /// How much of the budget is spent: on all hosts what it is on rank 0.
    pub(super) fn agree_on_time(&self, own: Duration) -> Result<Duration, BenchError> {
        let spent = self.ranks.from_leader(&own.as_nanos())?;
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
        let prepared = self.ranks.beating(|| prepare(session));
        self.ranks.agree(prepared, |_| Ok(()))?;
        let late = self.ranks.begin_together()?;
        let found = self.ranks.beating(|| measure(session));
        let timed = found.map(|found| (late.as_nanos(), found));
        let machines = self.ranks.machines();
        let mut passes = Vec::new();
        let merged = self.ranks.agree(timed, |all: Vec<(u64, KeptPass)>| {
            passes = all.iter().map(RankPass::of).collect();
            Ok(merged(&all, &machines))
        })?;
        self.note(&passes);
        Ok(merged)
    }

    /// What all ranks find when each reads back what it wrote; none begins before all have written.
    ///
    /// # Errors
    /// When a file cannot be read anywhere.
    pub(super) fn read_back(
        &self,
        read: impl FnOnce() -> Result<FileFindings, BenchError>,
    ) -> Result<FileFindings, BenchError> {
        let found = self.ranks.beating(read);
        self.ranks.agree(found, |all: Vec<FileFindings>| {
            let mut sum = FileFindings::default();
            all.iter().for_each(|found| sum.merge(found));
            Ok(sum)
        })
    }

    fn note(&mut self, passes: &[RankPass]) {
        let ends = || passes.iter().map(|it| it.ended_ns);
        let (Some(first), Some(last)) = (ends().min(), ends().max()) else {
            return;
        };
        self.passes += 1;
        self.skew_ns = self.skew_ns.max(last - first);
        for (work, pass) in self.work.iter_mut().zip(passes) {
            work.calls += pass.calls;
            work.elapsed_ns += pass.elapsed_ns;
            work.cpu_ns = work.cpu_ns.zip(pass.cpu_ns).map(|(sum, more)| sum + more);
            work.first_in += u32::from(pass.ended_ns == first);
            work.last_in += u32::from(pass.ended_ns == last);
            work.busy += pass.ended_ns as f64 / (last as f64).max(1.0);
        }
    }

    /// What each rank did, in a row each. Empty on other ranks than 0, which do not know.
    pub(super) fn hosts(&self) -> Vec<FileHost> {
        if self.passes == 0 {
            return Vec::new();
        }
        let row = |(rank, work): (u32, &RankWork)| FileHost {
            rank,
            host: self.ranks.host(rank).unwrap_or_default(),
            calls: work.calls,
            calls_per_second: work.calls_per_second(),
            first_in: work.first_in,
            last_in: work.last_in,
            busy_share: work.busy / f64::from(self.passes),
            processors_used: work
                .cpu_ns
                .map(|cpu| cpu as f64 / (work.elapsed_ns as f64).max(1.0)),
        };
        (0..).zip(&self.work).map(row).collect()
    }

    /// Part from the others; what could not be removed, a warning each. On other ranks than 0 that
    /// is the end.
    ///
    /// # Errors
    /// [`BenchError::Served`] on other ranks than 0, or why the others are silent.
    pub(super) fn part(&self, left: &[Warning]) -> Result<Vec<Warning>, BenchError> {
        let texts: Vec<String> = left.iter().map(Warning::text).collect();
        let parted = self.ranks.part_with(&texts.join("; "));
        if !self.ranks.leads() {
            return Err(parted.err().unwrap_or(BenchError::Served));
        }
        let texts = parted.unwrap_or_else(|error| vec![error.reason()]);
        let warning = |text| Warning::warn(WarningCode::LeftBehind, text);
        Ok(texts.into_iter().map(warning).collect())
    }

    /// Who held the others up, in a note.
    pub(super) fn words(&self) -> Option<Warning> {
        if self.passes == 0 {
            return None;
        }
        let ranks = || (0..).zip(&self.work);
        let last = ranks().max_by_key(|it| it.1.last_in)?;
        let by_rate = |one: &(u32, &RankWork), other: &(u32, &RankWork)| {
            one.1
                .calls_per_second()
                .total_cmp(&other.1.calls_per_second())
        };
        let (slow, fast) = (ranks().min_by(by_rate)?, ranks().max_by(by_rate)?);
        let first_done = self
            .work
            .iter()
            .map(|it| it.busy)
            .fold(f64::INFINITY, f64::min);
        let text = format!(
            "{}, {} ranks: {} was done last in {} of {}; when a pass was over on the quickest \
             rank, {:.0} % of its time had gone by, and from the first rank done to the last it \
             took {} at most. Slowest: {} with {} calls/s; fastest: {} with {} calls/s. A pass \
             lasts until the last rank is done.",
            format_counted(self.ranks.machines().len() as u64, "host"),
            self.ranks.share().ranks,
            self.ranks.name(last.0),
            last.1.last_in,
            format_counted(u64::from(self.passes), "pass"),
            100.0 * first_done / f64::from(self.passes),
            format_duration_ns(self.skew_ns as f64),
            self.ranks.name(slow.0),
            format_count(slow.1.calls_per_second()),
            self.ranks.name(fast.0),
            format_count(fast.1.calls_per_second()),
        );
        Some(Warning::info(WarningCode::Hosts, text))
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
        items: known(|it| it.items),
        stonewall: {
            let walls = all
                .iter()
                .map(|(late, it)| Some((*late, it.pass.stonewall?)));
            let walls: Option<Vec<_>> = walls.collect();
            walls.and_then(|walls| walls_merged(&walls))
        },
    };
    let mut times = BTreeMap::new();
    for (kind, found) in all.iter().flat_map(|(_, it)| &it.times) {
        let sum: &mut stats::Histogram = times.entry(*kind).or_default();
        sum.merge(found);
    }
    let found = FileFindings::default();
    KeptPass { pass, times, found }
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
                items: None,
                stonewall: None,
            },
            times: BTreeMap::from([(FileOpKind::Create, times)]),
            found: FileFindings::default(),
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
        let KeptPass { pass, times, .. } = merged(&all, &machines);
        assert_eq!(pass.elapsed_ns, 1_500);
        assert_eq!((pass.calls, pass.bytes), (60, 60 * 512));
        assert_eq!((pass.cpu_user_ns, pass.cpu_system_ns), (Some(60), None));
        assert_eq!((pass.device_reads, pass.device_writes), (Some(13), None));
        assert_eq!(times[&FileOpKind::Create].len(), 60);
    }
}
