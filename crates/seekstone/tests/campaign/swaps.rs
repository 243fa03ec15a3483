//! Races, tested by swapping: whatever a command makes is replaced while it works, by a rename, a
//! hard link, a symbolic link, an exchange or a bind mount of something precious. The command may
//! fail, with a sentence. What is precious stays, unaltered.
//!
//! Between a check of a name and its removal lies a moment that POSIX cannot close; it counts here
//! like any other.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bounded::{Bounded, Outcome};
use crate::cases::{self, Case};
use crate::place::{Place, leave_a_killed_run};
use crate::support;
use crate::support::skipped;
use crate::support::storage::FileSystem;
use crate::swapper::{Means, Swapper};
use crate::table::Table;
use crate::{random, scaled};

/// Every command that writes, the quick ones first.
const WRITING: [&Case; 24] = [
    &cases::TRIAL,
    &cases::TRIAL_BUFFERED,
    &cases::TRANSFER,
    &cases::TRANSACTIONS,
    &cases::FILES,
    &cases::METADATA,
    &cases::STUDIES[0],
    &cases::STUDIES[1],
    &cases::STUDIES[2],
    &cases::STUDIES[3],
    &cases::STUDIES[4],
    &cases::STUDIES[5],
    &cases::TRANSACT,
    &cases::TRANSACT_AGAIN,
    &cases::RPT,
    &cases::DISKMBPS,
    &cases::DISKRAND,
    &cases::OUTPUTS,
    &cases::PICTURE,
    &cases::EXPORT,
    &cases::RANDOM,
    &cases::RAB,
    &cases::RUN,
    &cases::CLEAN,
];

/// How many swaps of each means the full campaign makes of each command, if not the usual number.
const SWAPS: &str = "SEEKSTONE_FAULTS_SWAPS";
/// With five means, a thousand swaps of each command.
const SWAPS_USUAL: u32 = 200;

fn swaps_wanted() -> u32 {
    let given = std::env::var(SWAPS).ok();
    given.map_or(SWAPS_USUAL, |number| number.parse().expect("a number"))
}

/// What came of the swaps of one command by one means.
#[derive(Default)]
struct Tried {
    swaps: u32,
    runs: u64,
    /// Swaps that fell between the look and the removal of a file whose removal is measured: the
    /// moment that docs/safety.md says no program can close.
    unclosable: u32,
    faults: Vec<String>,
}

/// One in so many swaps may fall into that moment.
const UNCLOSABLE_PART: u32 = 20;

/// Whether a file was lost under the name of one in a tree of `files`, whose removal is measured.
fn is_unclosable(case: &Case, fault: &str) -> bool {
    let place = fault.split_once(" was deleted; it had been put at work/.seekstone-");
    let in_tree = place.and_then(|(_, place)| place.split_once("/t"));
    case.name == cases::FILES.name && in_tree.is_some_and(|(_, name)| name.contains('/'))
}

impl Tried {
    fn add(&mut self, case: &Case, means: Means) {
        let place = Place::new(case);
        if case.name == cases::CLEAN.name {
            leave_a_killed_run(&place);
        }
        let random = random(case.name, self.runs);
        self.runs += 1;
        self.add_run(case, &place, Swapper::new(&place, means, random));
    }

    /// What was tried, in words; too many files lost in the unclosable moment are a fault.
    fn row(&mut self, means: Means) -> String {
        let Self { swaps, runs, .. } = *self;
        let tried = format!("{}: {swaps} swaps, {runs} runs", means.name());
        match self.unclosable {
            0 => return tried,
            lost if lost * UNCLOSABLE_PART > swaps => {
                let fault = format!("{lost} files lost in the moment before a measured removal");
                self.faults.push(fault);
            }
            _ => {}
        }
        format!("{tried}, {} in the moment", self.unclosable)
    }

    fn add_run(&mut self, case: &Case, place: &Place, swapper: Swapper<'_>) {
        let (outcome, swapper) = swapped(case, place, swapper);
        self.swaps += swapper.swaps;
        let mut faults = swapper.faults();
        faults.extend(place.harm());
        faults.extend(outcome.fault(&[0, 1, 2, 3]));
        let all = faults.len();
        faults.retain(|fault| !is_unclosable(case, fault));
        self.unclosable += (all - faults.len()) as u32;
        let run = self.runs;
        let said = faults
            .into_iter()
            .map(|fault| format!("run {run}: {fault}"));
        self.faults.extend(said);
    }
}

/// Run a command while somebody swaps.
fn swapped<'a>(case: &Case, place: &Place, swapper: Swapper<'a>) -> (Outcome, Swapper<'a>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work = scope.spawn(|| swapper.work(&is_over));
        let outcome = Bounded::start(place.command(case.args)).end();
        is_over.store(true, Ordering::Relaxed);
        (outcome, work.join().expect("somebody who swaps"))
    })
}

#[track_caller]
fn swap_all(means: Means) {
    let test = "swaps";
    if means == Means::Bind && !rustix::process::geteuid().is_root() {
        return skipped(test, "a bind mount needs root");
    }
    let mut table = Table::new("swaps");
    let (goal, runs_max) = (scaled(4, swaps_wanted()), scaled(1, swaps_wanted().into()));
    for (number, case) in WRITING.into_iter().enumerate() {
        // Every day half of them, without those that measure for a second.
        let is_todays = case.span_ms <= 200 && number % 2 == means as usize % 2;
        if !crate::is_full() && !is_todays {
            continue;
        }
        let mut tried = Tried::default();
        while tried.swaps < goal && tried.runs < runs_max {
            tried.add(case, means);
        }
        let row = tried.row(means);
        table.row(case.name, &row, &tried.faults);
    }
    table.finish();
}

#[test]
fn nothing_is_harmed_that_is_renamed_to_a_name_of_ours() {
    swap_all(Means::Rename);
}

#[test]
fn nothing_is_harmed_that_a_hard_link_gives_a_name_of_ours() {
    swap_all(Means::Link);
}

#[test]
fn nothing_is_harmed_that_a_symbolic_link_gives_a_name_of_ours() {
    swap_all(Means::Symlink);
}

#[test]
fn nothing_is_harmed_that_is_exchanged_with_what_is_ours() {
    swap_all(Means::Exchange);
}

#[test]
fn nothing_is_harmed_that_is_mounted_over_what_is_ours() {
    swap_all(Means::Bind);
}

/// A study that fills a file system has one of its own.
const FILL: Case = Case {
    name: "study: fill",
    args: &["study", "study.toml", "--target", ".", "-q"],
    ..cases::STUDY
};

#[test]
fn nothing_is_harmed_while_a_file_system_is_filled() {
    let test = "nothing_is_harmed_while_a_file_system_is_filled";
    let mut table = Table::new("swaps");
    let (goal, runs_max) = (scaled(4, swaps_wanted()), scaled(1, swaps_wanted().into()));
    for means in Means::ALL {
        let mut tried = Tried::default();
        while tried.swaps < goal && tried.runs < runs_max {
            let scratch = support::Scratch::new();
            let Some(made) = FileSystem::tmpfs(test, &scratch, 8) else {
                return;
            };
            let text = format!(
                "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"fill\"\ntarget = {:?}\n\
                 fill = \"to the last byte\"\n",
                made.root
            );
            fs::write(scratch.path("study.toml"), text).expect("a file");
            let place = Place::empty(made, scratch);
            let random = random(FILL.name, tried.runs);
            tried.runs += 1;
            tried.add_run(&FILL, &place, Swapper::new(&place, means, random));
        }
        let Tried { swaps, runs, .. } = tried;
        let text = format!("{}: {swaps} swaps, {runs} runs", means.name());
        table.row(FILL.name, &text, &tried.faults);
    }
    table.finish();
}

/// A study removed whatever lay at the name of its directory in the end, by its name alone.
#[test]
fn a_directory_in_the_place_of_a_studys_own_is_left_alone() {
    const MOVED: Case = Case {
        files: &[(
            "study.toml",
            "title = \"k\"\nreplicates = 1\nsetup = 'mv \"$SEEKSTONE_SCRATCH\" ../aside; \
             mv ../other \"$SEEKSTONE_SCRATCH\"'\n[measurement]\nkind = \"transfer\"\n\
             size = \"256KiB\"\n",
        )],
        ..cases::STUDY
    };
    let mut table = Table::new("swaps");
    let place = Place::new(&MOVED);
    let other = place.scratch.path("other");
    fs::create_dir(&other).expect("a directory");
    fs::write(other.join("precious"), "of the user").expect("a file");
    let held = fs::File::open(other.join("precious")).expect("the file");
    let outcome = Bounded::start(place.command(MOVED.args)).end();
    let mut faults: Vec<String> = outcome.fault(&[0, 1, 3]).into_iter().collect();
    faults.extend(place.harm());
    if held.metadata().expect("metadata").nlink() == 0 {
        faults.push("what lay in another directory of that name was deleted".to_owned());
    }
    table.row("study: set-up", "directory renamed: 1 run", &faults);
    table.finish();
}
