//! File tests on several hosts. Every rank runs the same procedure on its own files and learns
//! after each pass how long all ranks took, so that all make the same decisions. What lies between
//! two passes each rank does by itself.

use std::collections::BTreeMap;

use drivers::free_space;
use lab::bench::BenchError;
use lab::hosts::{HostClaims, RankPart, RankRounds, Ranks, TargetClaim, opened_on_all};
use lab::laboratory::LaboratoryError;
use results::environment::TargetKind;
use results::{FilePass, RankShare, TargetDescription, Warning, WarningCode};
use units::format_count;
use verify::FileFindings;

use super::pass::KeptPass;
use super::run::{FilesRequest, OpenedSubjects};
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
    let (mut opened, differences) = opened_on_all(
        opened,
        |opened| claims(request, opened),
        |claims| ranks.agree_on_claims(claims, unlike),
        |mut opened, error| {
            let subjects = opened.subjects.iter_mut();
            error.with_left(subjects.filter_map(TestedFileSystem::clean_up))
        },
    )?;
    let notes = differences.into_iter();
    let notes = notes.map(|text| Warning::info(WarningCode::Hosts, text));
    opened.warnings.extend(notes);
    Ok(opened)
}

/// What this host means to do: to make files in a directory, for the states that it can have.
fn claims(request: &FilesRequest, opened: &OpenedSubjects) -> Result<HostClaims, BenchError> {
    let target = &opened.subjects[0].description;
    refuse_other_than_directory(target)?;
    let space = free_space(target.path.as_ref()).map_err(LaboratoryError::from)?;
    let reserve = request.bench.reserve.map_or(space.reserve, |it| it.0);
    let left = space.available.saturating_sub(reserve);
    let names: Vec<&str> = opened.states.iter().map(|state| state.name()).collect();
    Ok(HostClaims {
        plan: names.join(", "),
        places: vec![TargetClaim::of(target, request.needs().bytes, left)],
    })
}

fn refuse_other_than_directory(target: &TargetDescription) -> Result<(), BenchError> {
    match target.kind {
        TargetKind::Directory => Ok(()),
        _ => Err(BenchError::Usage(format!(
            "{} is no directory: on several hosts files are made, each rank's in a directory of \
             its own. Name a directory, or start one rank",
            target.path
        ))),
    }
}

fn unlike(here: &str, (there, leader): (&str, &str)) -> String {
    format!(
        "{here} can be measured there, and {there} on {leader}. Name what all hosts can do \
         (--state)"
    )
}

/// What a rank did of a pass.
pub(super) fn part((late_ns, kept): &(u64, KeptPass)) -> RankPart {
    let pass = &kept.pass;
    let cpu = pass.cpu_user_ns.zip(pass.cpu_system_ns);
    RankPart {
        ended_ns: late_ns + pass.elapsed_ns,
        elapsed_ns: pass.elapsed_ns,
        amount: pass.calls,
        cpu_ns: cpu.map(|(user, system)| user + system),
    }
}

/// What all ranks find when each reads back what it wrote; none begins before all have written.
///
/// # Errors
/// When a file cannot be read anywhere.
pub(super) fn read_back(
    ranks: &Ranks,
    read: impl FnOnce() -> Result<FileFindings, BenchError>,
) -> Result<FileFindings, BenchError> {
    let found = ranks.beating(read);
    ranks.agree(found, |all: Vec<FileFindings>| {
        let mut sum = FileFindings::default();
        all.iter().for_each(|found| sum.merge(found));
        Ok(sum)
    })
}

/// Who held the others up, in a note.
pub(super) fn words(rounds: &RankRounds) -> Option<Warning> {
    let shares = rounds.shares();
    let by_rate =
        |one: &&RankShare, other: &&RankShare| one.per_second.total_cmp(&other.per_second);
    let (slow, fast) = (
        shares.iter().min_by(by_rate)?,
        shares.iter().max_by(by_rate)?,
    );
    let [slow, fast] = [slow, fast].map(|it| {
        let (name, rate) = (rounds.ranks().name(it.rank), format_count(it.per_second));
        format!("{name} with {rate} calls/s")
    });
    let first_done = shares.iter().map(|it| it.busy_share);
    let first_done = 100.0 * first_done.fold(f64::INFINITY, f64::min);
    rounds.note_of("pass", |last, times, [_, most]| {
        format!(
            "{last} was done last in {times}. The quickest rank was done after {first_done:.0} % \
             of a pass. From the first rank done to the last, it took {most} at most. Slowest: \
             {slow}. Fastest: {fast}. A pass lasts until the last rank is done."
        )
    })
}

/// A pass of all ranks: what each did is added, and it lasted from the first call to the last. What
/// the kernel counted of a device is that of its machine, whichever rank asked.
pub(super) fn merged(all: &[(u64, KeptPass)], machines: &[Vec<u32>]) -> KeptPass {
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

    #[test]
    fn what_one_host_cannot_do_is_said() {
        let text = unlike("as-is, cold", ("as-is", "rank 0"));
        let begins = "as-is, cold can be measured there, and as-is on rank 0";
        assert!(text.starts_with(begins), "{text}");
        let file = TargetDescription {
            kind: TargetKind::File,
            ..TargetDescription::simulated("/a", "/a", None)
        };
        let error = refuse_other_than_directory(&file).expect_err("a file");
        assert!(
            error.to_string().starts_with("/a is no directory"),
            "{error}"
        );
    }
}
