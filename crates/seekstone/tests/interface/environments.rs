//! Where a container or a rescue system runs it: no home, a home that cannot be written, little
//! space, layers, no /proc. It measures, and says what it could not see.

use std::process::Command;

use crate::support::{PROGRAM, Scratch, finish, skipped};

/// What is prepared in a mount namespace of its own, how the program is called there, and what it
/// must say.
const PLACES: [(&str, &str, &str, &str); 6] = [
    (
        "a file system of 64 MiB",
        "mount -t tmpfs -o size=64M none target",
        "run target --budget 6s",
        "4 KiB files: remove",
    ),
    (
        "an overlay",
        "mkdir low up work && mount -t tmpfs none up && mkdir up/u up/w && \
         mount -t overlay none -o lowerdir=low,upperdir=up/u,workdir=up/w target",
        "trial target --duration 1s --size 8MiB",
        "overlay from",
    ),
    (
        "shared memory of a container",
        "mount -t tmpfs -o size=64M none /dev/shm",
        "trial /dev/shm --duration 1s --size 8MiB",
        "the target is in memory",
    ),
    (
        "a disk beside shared memory, which the warning names",
        "mount -t tmpfs -o size=64M none /dev/shm",
        "trial target /dev/shm --duration 1s --size 8MiB --reserve 1MiB",
        "/dev/shm: the target is in memory",
    ),
    (
        "a home that cannot be written",
        "mkdir home && mount -t tmpfs none home && mount -o remount,ro home && \
         export HOME=$PWD/home && unset XDG_DATA_HOME SEEKSTONE_ARCHIVE",
        "trial target --duration 1s --size 8MiB",
        "not archived",
    ),
    (
        "no /proc",
        "mount -t tmpfs none /proc",
        "trial target --duration 1s --size 8MiB",
        "could not look: /proc is not mounted",
    ),
];

#[test]
fn it_measures_wherever_it_runs() {
    let test = "it_measures_wherever_it_runs";
    let can_mount = Command::new("unshare").args(["-m", "true"]).status();
    if !can_mount.is_ok_and(|status| status.success()) {
        skipped(
            test,
            "unshare is missing, or may not make a mount namespace",
        );
        return;
    }
    for (place, before, words, expected) in PLACES {
        let scratch = Scratch::new();
        if place.starts_with("a disk") && scratch.is_in_memory() {
            skipped(test, "the files of tests are in memory");
            continue;
        }
        let target = scratch.target();
        let script = format!("{before} && exec {PROGRAM} {words} --all --quiet");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script]);
        scratch.settle(&mut command);
        let ended = finish(command);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(matches!(ended.code, Some(0 | 3)), "{place}: {ended:?}");
        assert!(said.contains(expected), "{place}: {said}");
        scratch.assert_clean(&target);
    }
}

#[test]
fn it_measures_without_a_home() {
    let scratch = Scratch::new();
    let mut command = Command::new(PROGRAM);
    command.args([
        "trial",
        "target",
        "--duration",
        "1s",
        "--size",
        "8MiB",
        "--quiet",
    ]);
    let target = scratch.target();
    scratch.settle(&mut command);
    let ended = finish({
        command.env_clear();
        command
    });
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert!(ended.stderr.contains("not archived"), "{ended:?}");
    scratch.assert_clean(&target);
}
