//! Devices and files that are used by way of something else, which no name and no exclusive opening
//! tells.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use drivers::{TargetError, refuse_if_file_used};

use crate::loops::{Loop, overwrite};

/// Refused by an error that no confirmation helps against; it holds `expected`.
#[track_caller]
fn check(path: &Path, expected: &str) {
    let name = path.file_name().unwrap().to_str().unwrap();
    for confirmed in [None, Some(name)] {
        let refused = overwrite(path, confirmed).unwrap_err();
        let is_question = matches!(refused, TargetError::Signature { .. });
        let text = refused.to_string();
        assert!(!is_question && text.contains(expected), "{text}");
    }
}

/// `losetup -o 1048576 B` was mounted, and B overwritten: its list of holders is empty, its
/// exclusive opening succeeds, and the signature lies behind the offset.
#[test]
fn a_device_beneath_a_mounted_loop_device_is_refused() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let under = device.path.clone();
    let Some(upper) = device.another(&under, &["-o", "1048576"]) else {
        return;
    };
    let name = upper.file_name().unwrap().to_str().unwrap().to_owned();
    check(
        &under,
        &format!("is in use by {name}. Take that apart first"),
    );
    overwrite(&upper, None).unwrap();
    if !make_ext4(&upper) || !device.mount_this(&upper) {
        return;
    }
    check(&under, &format!("{name} is mounted at "));
}

/// The same with a partition in place of the disk.
#[test]
fn a_partition_beneath_a_mounted_loop_device_is_refused() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&["-P"]) else {
        return;
    };
    let Some(partition) = device.first_partition() else {
        return;
    };
    let Some(upper) = device.another(&partition, &["-o", "1048576"]) else {
        return;
    };
    if !make_ext4(&upper) || !device.mount_this(&upper) {
        return;
    }
    let name = upper.file_name().unwrap().to_str().unwrap();
    check(&partition, &format!("{name} is mounted at "));
    check(&device.path, &format!("{name} is mounted at "));
}

#[test]
fn a_loop_device_on_a_device_in_use_is_refused() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    if !device.run("mkfs.ext4", &["-q"]) || !device.mount() {
        return;
    }
    let under = device.path.clone();
    if let Some(upper) = device.another(&under, &["--sizelimit", "4096"]) {
        check(&upper, &format!("{} is mounted at ", device.name()));
    }
}

/// Who has the lower device for himself was not asked.
#[test]
fn what_a_loop_device_lies_on_is_claimed_too() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let under = device.path.clone();
    let Some(upper) = device.another(&under, &["-o", "1048576"]) else {
        return;
    };
    let claimed = overwrite(&upper, None).unwrap();
    let other = overwrite(&under, None).unwrap_err();
    assert!(matches!(other, TargetError::Held { .. }), "{other}");
    let mut options = fs::OpenOptions::new();
    let exclusive = rustix::fs::OFlags::EXCL.bits().cast_signed();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), exclusive);
    assert!(options.open(&under).is_err());
    drop(claimed);
    let claimed = options.open(&under).unwrap();
    check(&upper, "is in use by the system or another program");
    drop(claimed);
    overwrite(&upper, None).unwrap();
}

/// `rm a.img` after `ln a.img a2.img` and `losetup a.img`: the system says "a.img (deleted)", and
/// a2.img was overwritten. An output of that name was cut to its length.
#[test]
fn a_file_beneath_a_loop_device_is_refused_by_any_name() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let second = device.scratch.path().join("second");
    fs::hard_link(device.image(), &second).unwrap();
    check(&second, &format!("is in use by {}", device.name()));
    fs::remove_file(device.image()).unwrap();
    check(&second, &format!("is in use by {}", device.name()));
    let link = device.scratch.path().join("link");
    std::os::unix::fs::symlink(&second, &link).unwrap();
    check(&link, "is in use by");
    let refused = refuse_if_file_used(&fs::metadata(&second).unwrap(), &second);
    assert!(matches!(refused, Err(TargetError::Held { .. })));
    let bound = device.scratch.path().join("bound");
    fs::write(&bound, "").unwrap();
    let words: [&Path; 4] = ["mount".as_ref(), "--bind".as_ref(), &second, &bound];
    if device.change(&words, &["umount".as_ref(), &bound]) {
        check(&bound, "is in use by");
    }
}

#[test]
fn a_file_of_an_overlay_is_known_by_the_file_beneath() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let scratch = device.scratch.path().to_path_buf();
    for name in ["lower", "work", "merged"] {
        fs::create_dir(scratch.join(name)).unwrap();
    }
    fs::create_dir(scratch.join("upper")).unwrap();
    for name in ["deep", "free"] {
        fs::write(scratch.join("lower").join(name), [0; 1 << 16]).unwrap();
    }
    fs::hard_link(device.image(), scratch.join("upper/image")).unwrap();
    let options = ["lower", "upper", "work"]
        .map(|name| format!("{name}dir={}", scratch.join(name).display()));
    let (options, point) = (options.join(","), scratch.join("merged"));
    let words: [&Path; 7] = [
        "mount".as_ref(),
        "-t".as_ref(),
        "overlay".as_ref(),
        "-o".as_ref(),
        options.as_ref(),
        "none".as_ref(),
        &point,
    ];
    if !device.change(&words, &["umount".as_ref(), &point]) {
        return;
    }
    check(&point.join("image"), "is in use by");
    fs::write(point.join("other"), [0; 1 << 16]).unwrap();
    overwrite(&scratch.join("upper/other"), None).unwrap();
    if device.another(&point.join("other"), &[]).is_some() {
        check(&scratch.join("upper/other"), "is in use by");
    }
    // Read-only, nothing is copied up: the bytes are those of the lower file.
    if let Some(through) = device.another(&point.join("deep"), &["-r"]) {
        check(&scratch.join("lower/deep"), "is in use by");
        overwrite(&scratch.join("lower/free"), None).unwrap();
        drop(through);
        if let Some(direct) = device.another(&scratch.join("lower/deep"), &[]) {
            check(&direct, "is in use by");
        }
    }
}

/// A process in a mount namespace of its own; ended when dropped.
struct Elsewhere(Child);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // It ends when nobody writes to it any more.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_mount_that_only_others_see_is_found() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let under = device.path.clone();
    let Some(upper) = device.another(&under, &["-o", "1048576"]) else {
        return;
    };
    if !make_ext4(&upper) {
        return;
    }
    let point = device.scratch.path().join("point");
    fs::create_dir(&point).unwrap();
    let script = "mount \"$1\" \"$2\" && echo mounted && read -r end; umount \"$2\"";
    let started = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .args([&upper, &point])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(started) = started else {
        eprintln!("skipped: unshare is missing");
        return;
    };
    let mut elsewhere = Elsewhere(started);
    let mut lines = BufReader::new(elsewhere.0.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    if line != "mounted\n" {
        eprintln!("skipped: a mount namespace may not be had");
        return;
    }
    assert_eq!(fs::read_dir(&point).unwrap().count(), 0, "we do not see it");
    let process = elsewhere.0.id();
    check(&under, &format!(" as process {process} sees it"));
    check(&upper, &format!(" as process {process} sees it"));
    drop(elsewhere);
    let _ = lines.read_to_string(&mut line);
    overwrite(&upper, upper.file_name().unwrap().to_str()).unwrap();
}

/// A swap file whose name in the table leads elsewhere was known to nobody but the kernel.
#[test]
fn a_swap_file_is_refused_by_any_name() {
    let _alone = crate::alone();
    let Some(mut device) = Loop::new(&[]) else {
        return;
    };
    let scratch = device.scratch.path().to_path_buf();
    for name in ["sub", "over"] {
        fs::create_dir(scratch.join(name)).unwrap();
    }
    let (first, second) = (scratch.join("sub/first"), scratch.join("second"));
    fs::write(&first, vec![0; 1 << 20]).unwrap();
    fs::hard_link(&first, &second).unwrap();
    overwrite(&second, None).unwrap();
    let made = Command::new("mkswap").arg(&first).output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: mkswap is missing or failed");
        return;
    }
    let words: [&Path; 2] = ["swapon".as_ref(), &first];
    // By the other name: the first will be hidden.
    if !device.change(&words, &["swapoff".as_ref(), &second]) {
        return;
    }
    check(&first, "is swap space in use");
    check(&second, "is swap space in use");
    let (over, sub) = (scratch.join("over"), scratch.join("sub"));
    let words: [&Path; 4] = ["mount".as_ref(), "--bind".as_ref(), &over, &sub];
    if device.change(&words, &["umount".as_ref(), &sub]) {
        assert!(!first.exists(), "its name is hidden");
        check(&second, "is swap space in use");
        let refused = refuse_if_file_used(&fs::metadata(&second).unwrap(), &second);
        assert!(matches!(refused, Err(TargetError::Swap { .. })));
    }
}

fn make_ext4(device: &Path) -> bool {
    let made = Command::new("mkfs.ext4").arg("-q").arg(device).status();
    let is_made = made.is_ok_and(|status| status.success());
    if !is_made {
        eprintln!("skipped: mkfs.ext4 is missing or failed");
    }
    is_made
}
