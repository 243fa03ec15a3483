//! Nothing of a user's is touched that was not named together with `--overwrite`, no disk is
//! filled, and nothing is left behind.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crate::support::storage::{FileSystem, Loop, Mirror, fill, succeed};
use crate::support::{
    Belongings, PROGRAM, Running, SHORT_UNSAVED, Scratch, finish, is_installed, skipped,
    with_enough_time,
};

/// A short check-up of `target`, not saved.
fn short<'a>(target: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "--budget", "4s", "--no-save", "--quiet", target];
    args.extend(options);
    args
}

#[test]
fn what_is_no_storage_is_refused() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    fs::write(scratch.path("empty"), "").expect("a file");
    fs::write(scratch.path("tiny"), "less than a block").expect("a file");
    symlink("nowhere", scratch.path("dangling")).expect("a link");
    let _socket = UnixListener::bind(scratch.path("socket")).expect("a socket");
    succeed(
        "mkfifo",
        &[scratch.path("fifo").to_str().expect("a plain path")],
    );
    for (target, code, expected) in [
        (
            "missing",
            2,
            "error: there is nothing at `missing`. Check the spelling",
        ),
        (
            "missing/below",
            2,
            "error: there is nothing at `missing/below`",
        ),
        ("tiny/below", 2, "error: there is nothing at `tiny/below`"),
        ("dangling", 2, "error: there is nothing at `dangling`"),
        ("", 2, "error: invalid value '' for '[TARGET]"),
        (
            "fifo",
            1,
            "error: `fifo` is a pipe, which cannot be measured",
        ),
        (
            "socket",
            1,
            "error: `socket` is a socket, which cannot be measured",
        ),
        ("/dev/null", 1, "error: `/dev/null` is a character device"),
        (
            "empty",
            2,
            "error: empty holds 0 B, and a measurement needs at least 1 MiB",
        ),
        (
            "tiny",
            2,
            "error: tiny holds 17 B, and a measurement needs at least 1 MiB",
        ),
    ] {
        for command in ["run", "trial", "curve"] {
            let args = [command, "--no-save", target];
            let ended = scratch.check(&args, code, expected);
            assert_eq!(ended.stdout, "", "{args:?}");
        }
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn what_belongs_to_others_is_refused() {
    let test = "what_belongs_to_others_is_refused";
    if !rustix::process::geteuid().is_root() || !is_installed("setpriv") {
        return skipped(test, "needs root and setpriv");
    }
    // Where everybody may go, unlike the directory of the build.
    let place = tempfile::tempdir().expect("a directory");
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path(), open).expect("permissions");
    let program = place.path().join("seekstone");
    fs::copy(PROGRAM, &program).expect("a copy");
    for (name, mode) in [("closed", 0o700), ("readable", 0o755), ("writable", 0o777)] {
        let path = place.path().join(name);
        fs::create_dir(&path).expect("a directory");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    }
    let secret = place.path().join("secret");
    fs::write(&secret, vec![7; 2 << 20]).expect("a file");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("permissions");
    for (target, code, expected) in [
        (
            "closed",
            1,
            "error: cannot open the directory closed: Permission denied",
        ),
        (
            "closed/below",
            1,
            "error: no permission to access `closed/below`",
        ),
        (
            "readable",
            1,
            "error: cannot make a directory in readable: Permission denied",
        ),
        ("secret", 1, "error: cannot open secret: Permission denied"),
        ("writable", 0, "Quick benchmark of writable"),
    ] {
        let args = short(target, &[]);
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program)
            .args(&args)
            .args((code == 0).then_some(["--size", "16MiB"]).iter().flatten())
            .env("SEEKSTONE_SHARED", "1")
            .current_dir(place.path());
        finish(command).check(&args, code, expected);
    }
    // "Killed runs left nothing behind here", although it could not look.
    let left = place.path().join("writable/.seekstone-0123456789abcdef");
    fs::create_dir(&left).expect("a directory");
    fs::set_permissions(&left, fs::Permissions::from_mode(0o700)).expect("permissions");
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .args(["clean", "--yes", "writable"])
        .current_dir(place.path());
    let unseen = "error: no permission to read writable/.seekstone-0123456789abcdef, which";
    finish(command).check(&["clean"], 1, unseen);
    fs::remove_dir(&left).expect("an empty directory");
    for name in ["closed", "readable", "writable"] {
        let mut entries = fs::read_dir(place.path().join(name)).expect("a directory");
        assert!(entries.next().is_none(), "{name} is not empty");
    }
}

#[test]
fn a_directory_keeps_what_was_in_it() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    symlink("target", scratch.path("link")).expect("a link");
    // A directory of that name, but not of ours, is left alone.
    let foreign = target.join(".seekstone-0123456789abcdef");
    fs::create_dir(&foreign).expect("a directory");
    fs::write(foreign.join("main"), "of the user").expect("a file");
    for command in ["run", "trial"] {
        let args = [
            command,
            "--size",
            "16MiB",
            "--budget",
            "4s",
            "--no-save",
            "--yes",
            "link",
        ];
        let ended = finish(scratch.seekstone(args));
        ended.check(&args, 0, " link ");
        assert!(!ended.stderr.contains("left"), "{}", ended.stderr);
    }
    scratch.check(
        &["clean", "--yes", "link"],
        0,
        "nothing left here by killed runs",
    );
    assert!(foreign.join("main").exists());
    fs::remove_dir_all(&foreign).expect("removal");
    belongings.assert_untouched();
    scratch.assert_clean(&target);
}

#[test]
fn a_named_file_is_only_read() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let named = target.join("named");
    fs::write(&named, vec![7; 4 << 20]).expect("a file");
    symlink("target/named", scratch.path("link")).expect("a link");
    let belongings = Belongings::of(&target);
    for path in ["target/named", "link"] {
        let ended = scratch.check(
            &short(path, &["--json", "run.json"]),
            0,
            "random read 4 KiB",
        );
        for written in ["sequential write", "write into"] {
            assert!(!ended.stdout.contains(written), "{}", ended.stdout);
        }
    }
    let refused = "exists and is only written to with --overwrite";
    for command in ["trial", "curve"] {
        let args = [command, "--no-save", "--writes", "50%", "link"];
        scratch.check(&args, 2, refused);
    }
    belongings.assert_untouched();
    scratch.assert_clean(&target);

    let ended = scratch.check(&short("link", &["--overwrite"]), 0, "sequential write");
    assert!(ended.stdout.contains("durable write"), "{}", ended.stdout);
    let written = fs::read(&named).expect("content");
    assert!(written.len() == 4 << 20 && written.iter().any(|&byte| byte != 7));
    fs::write(&named, vec![7; 4 << 20]).expect("a file");
    scratch.assert_clean(&target);
}

/// With `--overwrite` a check-up of a device ended in "write failed: Bad file descriptor": the
/// second descriptor, for the page cache, could only read.
#[test]
fn a_device_is_written_only_when_nothing_stands_against_it() {
    let test = "a_device_is_written_only_when_nothing_stands_against_it";
    let (scratch, other) = (Scratch::in_memory(), Scratch::in_memory());
    let Some(device) = Loop::new(test, &scratch, 24) else {
        return;
    };
    let Some(neighbour) = Loop::new(test, &other, 2) else {
        return;
    };
    let (before, beside) = (device.content(), neighbour.content());
    scratch.check(&short(device.path(), &[]), 0, "random read 4 KiB");
    assert!(device.content() == before, "a device was written unasked");

    // Somebody else has it for himself.
    let holder = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_EXCL)
        .open(&device.device)
        .expect("the device");
    let busy = "is not overwritten: it is in use by the system or by another program";
    scratch.check(&short(device.path(), &["--overwrite"]), 1, busy);
    drop(holder);
    assert!(device.content() == before, "a device in use was written");

    let unknown = "it carries data of unknown kind (first at byte 4). If that may go, confirm";
    scratch.check(&short(device.path(), &["--overwrite"]), 1, unknown);
    assert!(device.content() == before, "data were written over unasked");
    let overwriting = short(device.path(), &["--overwrite", "--confirm", device.name()]);
    let ended = finish(scratch.seekstone(&overwriting));
    ended.check(&overwriting, 0, "durable write");
    let after = device.content();
    assert!(after != before && after.len() == before.len());
    assert!(neighbour.content() == beside, "another device was written");
}

#[test]
fn a_device_that_holds_nothing_but_ours_is_written_without_a_question() {
    let test = "a_device_that_holds_nothing_but_ours_is_written_without_a_question";
    let scratch = Scratch::in_memory();
    let Some(device) = Mirror::device(test, &scratch, "blank", 24) else {
        return;
    };
    let overwriting = short(device.path(), &["--overwrite"]);
    let ended = finish(scratch.seekstone(&overwriting));
    ended.check(&overwriting, 0, "durable write");
    assert!(device.content().iter().any(|byte| *byte != 0));
    for block in ["512", "1536", "16KiB"] {
        let args = [
            "trial",
            "--writes",
            "100%",
            "--duration",
            "100ms",
            "--no-save",
        ];
        let more = ["--overwrite", "--block", block, device.path()];
        scratch.check(&[args.as_slice(), &more].concat(), 0, "");
    }
    let ended = finish(scratch.seekstone(&overwriting));
    ended.check(&overwriting, 0, "durable write");
}

#[test]
fn a_device_with_content_is_written_only_when_confirmed_by_name() {
    let test = "a_device_with_content_is_written_only_when_confirmed_by_name";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 32, &[]) else {
        return;
    };
    fs::write(made.root.join("precious"), "of the user").expect("a file");
    let device = made.device.as_ref().expect("a device");
    let (path, name) = (device.path(), device.name());
    let confirmed = short(path, &["--overwrite", "--confirm", name, "--yes"]);
    scratch.check(&confirmed, 1, &format!("{name} is mounted at"));
    made.unmount();
    let before = device.content();
    let known = "it carries an ext2, ext3 or ext4 file system or journal";
    scratch.check(&short(path, &["--overwrite"]), 1, known);
    scratch.check(&short(path, &["--overwrite", "--yes"]), 1, known);
    scratch.check(&short(path, &["--overwrite", "--confirm", "vda"]), 1, known);
    scratch.check(&short(path, &["--overwrite", "--confirm", ""]), 1, known);
    assert!(device.content() == before, "a file system was written");
    let ended = finish(scratch.seekstone(&confirmed));
    ended.check(&confirmed, 0, "durable write");
    assert!(device.content() != before, "nothing was written");
}

/// A read-only file system of little room was said to be full.
#[test]
fn a_directory_without_room_is_refused_with_figures() {
    let test = "a_directory_without_room_is_refused_with_figures";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 64, &["-N", "64"]) else {
        return;
    };
    let path = made.path();
    // A quarter stays free.
    let sized = ["--size", "24MiB"];
    let figures =
        "has no space for 48 MiB (the test file, and as much for the other files of a run): ";
    let ended = scratch.check(&short(path, &sized), 1, figures);
    let error = ended.error();
    assert!(error.contains(" MiB are free, and 1") && error.contains(" MiB must stay free"));
    // Few inodes are enough for few small files.
    let sized = ["--size", "16MiB", "--reserve", "0"];
    scratch.check(&short(path, &sized), 0, "4 KiB files");
    scratch.assert_clean(&made.root);

    let is_made = |number: &u32| File::create_new(made.root.join(number.to_string())).is_ok();
    let count = (0..1000).take_while(is_made).count();
    let full = "has no space for 4 more files: its free inodes allow 0";
    scratch.check(&short(path, &sized), 1, full);
    for number in 0..count {
        fs::remove_file(made.root.join(number.to_string())).expect("removal");
    }
    fs::write(made.root.join("named"), vec![7; 2 << 20]).expect("a file");
    made.remount("ro");
    let named = made.root.join("named");
    let belongings = Belongings::of(&named);
    let read_only = "is mounted read-only: no test file can be created";
    scratch.check(&short(path, &sized), 2, read_only);
    scratch.check(&short(path, &[]), 2, read_only);
    let named = named.to_str().expect("a plain path");
    scratch.check(&short(named, &[]), 0, "random read 4 KiB");
    scratch.check(&short(named, &["--overwrite"]), 1, "Read-only file system");
    belongings.assert_untouched();
}

#[test]
fn a_file_system_in_memory_is_called_that() {
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::tmpfs("a_file_system_in_memory_is_called_that", &scratch, 64)
    else {
        return;
    };
    let args = short(made.path(), &["--size", "16MiB", "--reserve", "0", "--all"]);
    finish(scratch.seekstone(&args)).check(&args, 0, "the target is in memory");
    scratch.assert_clean(&made.root);
}

/// The small files, up to 80 MiB of them, were made without a look at the reserve, and filled a
/// small file system to the last block.
#[test]
fn small_files_leave_the_reserve_alone() {
    let test = "small_files_leave_the_reserve_alone";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 128, &[]) else {
        return;
    };
    // Above it there is room for both test files, and for some 2,000 small ones.
    let reserve = made.available() - (34 << 20);
    let reserved = reserve.to_string();
    let args = [
        "run",
        "--size",
        "16MiB",
        "--no-save",
        "--reserve",
        &reserved,
    ];
    let running = with_enough_time(|budget| {
        let place = ["--budget", budget, made.path()];
        let running = Running::start(scratch.seekstone([&args[..], &place].concat()));
        running.in_time_for("4 KiB files: open and read")
    });
    let available = made.available();
    running.end().check(&args, 0, "4 KiB files: create");
    assert!(
        available >= reserve,
        "{available} of {reserve} bytes were left"
    );
    scratch.assert_clean(&made.root);
}

#[test]
fn a_disk_that_others_fill_ends_the_run_in_order() {
    let test = "a_disk_that_others_fill_ends_the_run_in_order";
    let scratch = Scratch::in_memory();
    let Some(made) = FileSystem::ext4(test, &scratch, 96, &[]) else {
        return;
    };
    let args = [
        "run",
        "--budget",
        "2s",
        "--size",
        "16MiB",
        "--reserve",
        "0",
        made.path(),
    ];
    let mut running = Running::start(scratch.seekstone(args));
    running.wait_for("random read 4 KiB");
    fill(&made.root);
    let filled = Belongings::of(&made.root.join("fill"));
    let ended = running.end();
    ended.check(&args, 1, "has no space for 8.50 KiB: ");
    assert!(ended.error().ends_with("What was measured before is above"));
    assert!(ended.stdout.contains("durable write"), "{}", ended.stdout);
    scratch.check(&["runs", "list"], 0, "partial");
    filled.assert_untouched();
    scratch.assert_clean(&made.root);
}

#[test]
fn the_first_file_must_fit_below_every_limit() {
    let scratch = Scratch::in_memory();
    let target = scratch.target();
    let belongings = Belongings::of(&target);
    for (limit, expected) in [
        (
            "ulimit -n 16",
            "16 open files are needed on top of Seekstone's own ",
        ),
        (
            "ulimit -n 40",
            "have the administrator raise the hard limit from 40 to ",
        ),
        ("ulimit -f 64", "/main: File too large"),
    ] {
        let mut shell = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" \"$@\" target");
        shell.args(["-c", &script, PROGRAM]).args(SHORT_UNSAVED);
        scratch.settle(&mut shell);
        let ended = finish(shell);
        ended.check(&[limit], 1, expected);
        assert_eq!(ended.stdout, "");
        scratch.assert_clean(Path::new(&target));
    }
    belongings.assert_untouched();
}
