//! Kills at random instants, and at the calls that create, commit and remove: the archive stays
//! whole, each run is there or is not, `clean` removes all that was left, and nothing of the user's
//! is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::bounded::{Bounded, run};
use crate::cases::{self, Case};
use crate::place::{Place, leave_a_killed_run};
use crate::support::{PROGRAM, is_installed};
use crate::table::Table;
use crate::{random, scaled};
use rustix::process::Signal;

/// How many kills of each command the full campaign makes, if not the usual number.
const KILLS: &str = "SEEKSTONE_FAULTS_KILLS";
/// With all commands, five thousand kills.
const KILLS_USUAL: u32 = 174;

fn kills_wanted(case: &Case) -> u32 {
    let given = std::env::var(KILLS).ok();
    let full = given.map_or(KILLS_USUAL, |number| number.parse().expect("a number"));
    scaled(if case.span_ms > 150 { 1 } else { 3 }, full)
}

/// Calls that create, commit and remove: at one of them every other kill falls.
const CALLS: [&str; 7] = [
    "fsync,fdatasync",
    "unlinkat,unlink,rmdir",
    "openat2",
    "mkdirat,mkdir,linkat",
    "renameat,renameat2,rename",
    "pwrite64,ftruncate",
    "flock,fallocate,fsetxattr",
];

/// Where a kill falls.
enum KillPoint {
    /// So long after the start.
    After(Duration),
    /// When one of these calls is made for that time.
    At(&'static str, u64),
}

impl KillPoint {
    /// One at random: at one of the calls, or at any time where there are none.
    fn draw(case: &Case, calls: &[(&'static str, u64)], random: &mut fastrand::Rng) -> Self {
        if let Some(&(call, most)) = random.choice(calls) {
            return Self::At(call, random.u64(1..=most));
        }
        // Most is made in the beginning.
        let share = random.f64().powi(2);
        Self::After(Duration::from_millis(case.span_ms).mul_f64(share))
    }
}

/// The calls that a command makes, and how often a thread makes one of them at most.
fn calls_made(case: &Case) -> Vec<(&'static str, u64)> {
    if !is_installed("strace") {
        return Vec::new();
    }
    let place = ready(case);
    let log = place.scratch.path("calls.log");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-o"])
        .arg(&log)
        .args(["-e", &CALLS.join(",")]);
    command.arg(PROGRAM).args(case.args);
    place.scratch.settle(&mut command);
    command.current_dir(&place.work);
    run(command);
    let text = fs::read_to_string(log).expect("a log");
    // A thread, and a call of it; one that was interrupted has a second line.
    let made = text.lines().filter_map(|line| {
        let (thread, call) = line.split_once(' ')?;
        Some((thread, call.trim_start().split_once('(')?.0))
    });
    let most = |calls: &&'static str| {
        // It is counted for each thread and call.
        let mut times = BTreeMap::<(&str, &str), u64>::new();
        for (thread, call) in made.clone() {
            if calls.split(',').any(|it| it == call) {
                *times.entry((thread, call)).or_default() += 1;
            }
        }
        Some((*calls, times.into_values().max()?))
    };
    CALLS.iter().filter_map(most).collect()
}

/// A place where there is something to do.
fn ready(case: &Case) -> Place {
    let place = Place::new(case);
    if case.name == cases::CLEAN.name {
        leave_a_killed_run(&place);
    }
    place
}

/// Kill a command; `false` when it was done before.
fn kill(case: &Case, place: &Place, point: &KillPoint) -> bool {
    let running = match *point {
        KillPoint::After(_) => Bounded::start(place.command(case.args)),
        KillPoint::At(calls, time) => Bounded::start(killed_at(case, place, (calls, time))),
    };
    if let KillPoint::After(instant) = point {
        if running.ends_within(*instant) {
            return false;
        }
        running.signal(Signal::KILL);
    }
    running.end().signal == Some(Signal::KILL.as_raw())
}

/// The command under a tracer that kills it at a call, and then itself.
fn killed_at(case: &Case, place: &Place, (calls, time): (&str, u64)) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null", "-e"]);
    command.arg(format!("trace={calls}")).arg("-e");
    command.arg(format!("inject={calls}:signal=KILL:when={time}"));
    command.arg(PROGRAM).args(case.args);
    place.scratch.settle(&mut command);
    command.current_dir(&place.work);
    command
}

/// Whether the archive is sound, and every run in it a whole document.
fn archive_faults(path: &Path) -> Vec<String> {
    if !path.exists() {
        return Vec::new();
    }
    let checked = rusqlite::Connection::open(path).and_then(|database| {
        database.query_row("pragma integrity_check", [], |row| row.get::<_, String>(0))
    });
    let mut faults = match checked {
        Ok(text) if text == "ok" => Vec::new(),
        Ok(text) => vec![format!("the archive is damaged: {text}")],
        Err(error) => vec![format!("the archive cannot be read: {error}")],
    };
    // It may have been killed before there was a table.
    if let Err(error) = every_run(path)
        && fs::metadata(path).is_ok_and(|found| found.len() > 0)
    {
        faults.push(format!("a run cannot be read: {error}"));
    }
    faults
}

fn every_run(path: &Path) -> Result<(), archive::ArchiveError> {
    let archive = archive::Archive::open_existing(path)?;
    for run in archive.list(1000)? {
        archive.load(run.id)?;
    }
    Ok(())
}

/// All that is wrong after a kill.
fn faults_after(place: &Place) -> Vec<String> {
    let mut faults = archive_faults(&place.scratch.archive());
    let own = place.work.join("new.db");
    faults.extend(archive_faults(&own));
    faults.extend(place.harm());
    faults.extend(place.clean().fault(&[0]));
    faults.extend(place.changes());
    faults
}

#[track_caller]
fn kill_each(cases: &[Case]) {
    let mut table = Table::new("kills");
    for case in cases {
        let wanted = kills_wanted(case);
        let calls = calls_made(case);
        let (mut kills, mut at_calls, mut tries) = (0, 0, 0);
        let mut faults = Vec::new();
        while kills < wanted && tries < 4 * u64::from(wanted) {
            let place = ready(case);
            let calls = if 2 * at_calls <= kills {
                &calls[..]
            } else {
                &[]
            };
            let point = KillPoint::draw(case, calls, &mut random(case.name, tries));
            tries += 1;
            if kill(case, &place, &point) {
                kills += 1;
                at_calls += u32::from(matches!(point, KillPoint::At(..)));
            }
            let found = faults_after(&place).into_iter();
            faults.extend(found.map(|fault| format!("try {tries}: {fault}")));
        }
        let tried = format!("{kills} kills, {at_calls} at calls, {tries} runs");
        table.row(case.name, &tried, &faults);
    }
    table.finish();
}

#[test]
fn a_kill_leaves_what_clean_removes_and_a_whole_archive() {
    kill_each(&cases::KILLED[..8]);
}

#[test]
fn a_kill_of_a_study_or_classic_program_leaves_what_is_known() {
    kill_each(&cases::KILLED[8..17]);
}

#[test]
fn a_kill_of_what_takes_rounds_leaves_what_is_known() {
    kill_each(&cases::KILLED[17..]);
}

/// Calls after which something has another name, or none.
const NAMING: [&str; 8] = [
    "mkdir",
    "mkdirat",
    "linkat",
    "renameat2",
    "unlinkat",
    "unlink",
    "rmdir",
    "flock",
];

/// Commands that make more of them make the last ones in the same way.
const NAMING_MAX: u64 = 40;

/// Between the two steps of a removal, `diskmbps` left a file that `clean` did not know: each call
/// that names or removes is met in turn.
#[test]
fn a_kill_at_any_call_that_names_or_removes_leaves_what_clean_removes() {
    let test = "a_kill_at_any_call_that_names_or_removes_leaves_what_clean_removes";
    if !is_installed("strace") {
        return crate::support::skipped(test, "there is no strace");
    }
    let mut table = Table::new("steps");
    let cases = [cases::DISKMBPS, cases::TRIAL, cases::REPLACED, cases::STUDY];
    let all = cases
        .iter()
        .chain(cases::KILLED.iter().filter(|_| crate::is_full()));
    for case in all {
        let (mut faults, mut kills) = (Vec::new(), 0);
        for call in NAMING {
            for number in 1..=NAMING_MAX {
                let place = ready(case);
                let is_killed = kill(case, &place, &KillPoint::At(call, number));
                let found = faults_after(&place).into_iter();
                faults.extend(found.map(|fault| format!("{call} {number}: {fault}")));
                if !is_killed {
                    break;
                }
                kills += 1;
            }
        }
        let tried = format!("{kills} kills, each at a call");
        table.row(case.name, &tried, &faults);
    }
    table.finish();
}

/// What a user puts into a directory that a killed run left may have a name that we give, and be as
/// private as ours. Then `clean` has to leave it, and say so.
#[test]
fn what_somebody_put_into_a_left_directory_stays() {
    let mut table = Table::new("kills");
    for (name, mode) in [
        ("a.txt", 0o644),
        ("f0000099", 0o644),
        ("cache", 0o644),
        ("f0000099", 0o600),
        ("cache", 0o600),
        ("t00000099/a0001", 0o600),
    ] {
        let mut faults = Vec::new();
        for _ in 0..scaled(1, 10) {
            faults.extend(planted(name, mode));
        }
        let case = format!("planted {name}");
        table.row(
            &case,
            &format!("mode {mode:o}, {} times", scaled(1, 10)),
            &faults,
        );
    }
    table.finish();
}

/// Kill a run once its file is there, put something beside that, and clean.
fn planted(name: &str, mode: u32) -> Vec<String> {
    let place = Place::new(&cases::TRIAL);
    leave_a_killed_run(&place);
    let left = place.left();
    let path = left.first().expect("a work directory").join(name);
    let parent = path.parent().expect("a directory");
    fs::create_dir_all(parent).expect("a directory");
    if parent != left[0] {
        fs::set_permissions(parent, fs::Permissions::from_mode(0o700)).expect("a mode");
    }
    fs::write(&path, "of the user").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    let mut faults: Vec<String> = place.clean().fault(&[0, 1]).into_iter().collect();
    if fs::read(&path).ok().as_deref() != Some(b"of the user") {
        faults.push(format!("{name} of mode {mode:o} was removed by clean"));
        return faults;
    }
    // Once it is moved away, the rest can go.
    fs::rename(&path, place.work.join("moved")).expect("a rename");
    if parent != left[0] {
        fs::remove_dir(parent).expect("an empty directory");
    }
    faults.extend(place.clean().fault(&[0]));
    fs::remove_file(place.work.join("moved")).expect("the moved file");
    faults.extend(place.changes());
    faults
}
