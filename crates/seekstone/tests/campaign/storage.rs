//! Storage that breaks under each command: full, read-only, failing, cut short, or gone. The
//! command ends by itself, and what is the user's stays.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::bounded::{Bounded, run};
use crate::cases::{Case, FILES, MEASURING, RUN, TRANSACTIONS, TRANSFER, TRIAL};
use crate::place::Place;
use crate::scaled;
use crate::support::storage::{FileSystem, Loop, fill};
use crate::support::{Scratch, skipped};
use crate::table::Table;

/// Long enough to be broken while it runs.
const LONG: Case = Case {
    name: "trial, long",
    args: &[
        "trial",
        "--duration",
        "2s",
        "--size",
        "4MiB",
        "--writes",
        "100%",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..TRIAL
};

/// What is broken: every day the first, all of them in full.
fn broken_cases() -> Vec<&'static Case> {
    const ALL: [&Case; 6] = [&LONG, &RUN, &TRANSFER, &FILES, &TRANSACTIONS, &MEASURING[3]];
    ALL[..scaled(1, ALL.len())].to_vec()
}

/// Start a command and wait until its first file is there, or it has ended.
fn begun(case: &Case, place: &Place) -> Bounded {
    let running = Bounded::start(place.command(case.args));
    let has_files = |path: &PathBuf| fs::read_dir(path).is_ok_and(|it| it.count() > 1);
    running.await_that(|| place.left().iter().any(has_files));
    running
}

/// A case on a file system of its own, which something befalls.
fn befallen(test: &str, case: &Case, what: fn(&Place)) -> Option<Vec<String>> {
    let scratch = Scratch::new();
    let made = FileSystem::ext4(test, &scratch, 64, &["-m", "0"])?;
    made.remount("errors=remount-ro");
    let place = Place::on(made, scratch, case);
    let running = begun(case, &place);
    what(&place);
    let mut faults: Vec<String> = running.end().fault(&[0, 1, 3]).into_iter().collect();
    faults.extend(recovered(&place));
    Some(faults)
}

/// When the file system is sound again, `clean` removes the rest.
fn recovered(place: &Place) -> Vec<String> {
    let is_read_only = fs::write(place.work.join("recovered"), "").is_err();
    if is_read_only {
        let made = place.mounted();
        made.unmount();
        made.repair();
        if !made.mount("recovered", "rw") {
            return vec!["it cannot be mounted again".to_owned()];
        }
    } else {
        fs::remove_file(place.work.join("recovered")).expect("removal");
    }
    let _ = fs::remove_file(place.work.join("fill"));
    let mut faults: Vec<String> = place.clean().fault(&[0]).into_iter().collect();
    faults.extend(place.changes());
    faults
}

#[track_caller]
fn befall_all(test: &str, name: &str, what: fn(&Place)) {
    let mut table = Table::new("storage");
    for case in broken_cases() {
        let mut faults = Vec::new();
        let tries = scaled(1, 5);
        for _ in 0..tries {
            let Some(found) = befallen(test, case, what) else {
                return;
            };
            faults.extend(found);
        }
        table.row(case.name, &format!("{name}: {tries} runs"), &faults);
    }
    table.finish();
}

#[test]
fn a_disk_that_others_fill_ends_a_command_in_order() {
    let test = "a_disk_that_others_fill_ends_a_command_in_order";
    befall_all(test, "ENOSPC", |place| fill(&place.work));
}

#[test]
fn a_file_system_that_turns_read_only_ends_a_command_in_order() {
    let test = "a_file_system_that_turns_read_only_ends_a_command_in_order";
    befall_all(test, "EROFS", |place| {
        let device = place.mounted().device.as_ref().expect("a device");
        let trigger = Path::new("/sys/fs/ext4").join(device.name());
        // Where the kernel has no such file, nothing happens.
        let _ = fs::write(trigger.join("trigger_fs_error"), "1");
    });
}

#[test]
fn a_directory_that_others_remove_ends_a_command_in_order() {
    let test = "a_directory_that_others_remove_ends_a_command_in_order";
    befall_all(test, "directory removed", |place| {
        for path in place.left() {
            // It may go by itself at the same time.
            let _ = fs::remove_dir_all(path);
        }
    });
}

#[test]
fn a_remount_for_reading_only_ends_a_command_in_order() {
    let test = "a_remount_for_reading_only_ends_a_command_in_order";
    befall_all(test, "remount ro, tried", |place| {
        let mut command = std::process::Command::new("mount");
        command.args(["-o", "remount,ro"]).arg(&place.work);
        command.current_dir("/");
        // The kernel refuses while a file is open for writing.
        let _ = run(command);
    });
}

/// Below the file system, its device ends.
#[test]
fn a_disk_that_is_cut_short_ends_a_command_in_order() {
    let test = "a_disk_that_is_cut_short_ends_a_command_in_order";
    let mut table = Table::new("storage");
    for case in broken_cases() {
        let scratch = Scratch::new();
        let Some(made) = FileSystem::ext4(test, &scratch, 64, &["-m", "0"]) else {
            return;
        };
        let place = Place::on(made, scratch, case);
        let running = begun(case, &place);
        cut(place.mounted().device.as_ref().expect("a device"));
        let fault = running.end().fault(&[0, 1, 3]);
        let faults: Vec<String> = fault.into_iter().collect();
        table.row(case.name, "EIO: 1 run", &faults);
    }
    table.finish();
}

/// A device is smaller all at once.
fn cut(device: &Loop) {
    let image = OpenOptions::new().write(true).open(&device.image);
    let is_cut = image.and_then(|image| image.set_len(1 << 20));
    is_cut.expect("a shorter image");
    let mut command = std::process::Command::new("losetup");
    command.arg("-c").arg(&device.device);
    let _ = run(command);
}

#[test]
fn a_device_that_goes_away_ends_a_command_in_order() {
    let test = "a_device_that_goes_away_ends_a_command_in_order";
    let mut table = Table::new("storage");
    for (name, what) in [("cut", cut as fn(&Loop)), ("detached", detach)] {
        let (scratch, other) = (Scratch::new(), Scratch::new());
        let (Some(device), Some(neighbour)) =
            (Loop::new(test, &scratch, 16), Loop::new(test, &other, 2))
        else {
            return skipped(test, "there are no loop devices");
        };
        let beside = neighbour.content();
        let args = [
            "trial",
            device.path(),
            "--duration",
            "500ms",
            "--writes",
            "100%",
            "--overwrite",
            "--no-save",
        ];
        let place = Place::new(&TRIAL);
        let running = Bounded::start(place.command(&args));
        let before = fs::read(&device.image).expect("the image");
        running.await_that(|| fs::read(&device.image).expect("the image") != before);
        what(&device);
        let mut faults: Vec<String> = running.end().fault(&[0, 1, 3]).into_iter().collect();
        faults.extend(place.changes());
        if neighbour.content() != beside {
            faults.push("another device was written".to_owned());
        }
        table.row("trial of a device", &format!("{name}: 1 run"), &faults);
    }
    table.finish();
}

/// The kernel keeps it until its last user is gone.
fn detach(device: &Loop) {
    let mut command = std::process::Command::new("losetup");
    command.arg("-d").arg(&device.device);
    let _ = run(command);
}
