//! Detects use of a directory: mounts below it, processes in it, loop devices on its files.

use std::fs;
use std::path::{Path, PathBuf};

use host::inspect::facts::SystemRoots;

/// The first mount point below a path.
pub(super) fn mounted_below(path: &Path) -> Option<PathBuf> {
    let text = SystemRoots::default().proc_text("self/mountinfo")?;
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    // Spaces and the like are octal numbers. Our own names have none, but parents may.
    let points = points.map(|point| {
        let plain = point.replace("\\040", " ").replace("\\011", "\t");
        PathBuf::from(plain.replace("\\012", "\n").replace("\\134", "\\"))
    });
    points.into_iter().find(|point| point.starts_with(path))
}

/// The first process that works in a directory or has a file in it open, in words. Files that this
/// process has `held` open do not count.
pub(super) fn user_of(path: &Path, held: &Path) -> Option<String> {
    process_in(path, held).or_else(|| loop_device_on(path))
}

fn process_in(path: &Path, held: &Path) -> Option<String> {
    let is_within = |link: PathBuf| fs::read_link(link).is_ok_and(|to| to.starts_with(path));
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = process
            .file_name()
            .to_str()
            .and_then(|it| it.parse::<u32>().ok())
        else {
            continue;
        };
        let own = process.path();
        let files = fs::read_dir(own.join("fd")).into_iter().flatten().flatten();
        let is_held = |link: &PathBuf| fs::read_link(link).is_ok_and(|to| to == held);
        let files = files.map(|file| file.path());
        let mut files = files.filter(|link| pid != std::process::id() || !is_held(link));
        let is_user = is_within(own.join("cwd"))
            || is_within(own.join("root"))
            || is_within(own.join("exe"))
            || files.any(is_within);
        if is_user && !is_being_started(&own) {
            let name = fs::read_to_string(own.join("comm")).unwrap_or_default();
            return Some(format!("process {pid} ({})", name.trim()));
        }
    }
    None
}

/// Whether a process is a fork of this one before exec: it shares the open files of this one, but
/// only briefly.
fn is_being_started(process: &Path) -> bool {
    fs::read_to_string(process.join("stat"))
        .is_ok_and(|stat| is_own_copy(&stat, std::process::id()))
}

/// The same from the text of `/proc/PID/stat` (proc_pid_stat(5)).
fn is_own_copy(stat: &str, parent: u32) -> bool {
    // PF_FORKNOEXEC of the kernel's sched.h.
    const NOT_BEGUN: u64 = 0x40;
    // The name, in parentheses, may contain any characters.
    let Some((_, fields)) = stat.rsplit_once(") ") else {
        return false;
    };
    let field = |number: usize| fields.split(' ').nth(number - 3);
    let of_ours = field(4).and_then(|it| it.parse().ok()) == Some(parent);
    let flags = field(9).and_then(|it| it.parse::<u64>().ok());
    of_ours && flags.is_some_and(|flags| flags & NOT_BEGUN != 0)
}

fn loop_device_on(path: &Path) -> Option<String> {
    for device in fs::read_dir("/sys/block").ok()?.flatten() {
        let backing = fs::read_to_string(device.path().join("loop/backing_file"));
        if backing.is_ok_and(|file| Path::new(file.trim()).starts_with(path)) {
            return Some(format!("/dev/{}", device.file_name().to_string_lossy()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_below_a_path_only() {
        assert!(mounted_below(Path::new("/")).is_some());
        assert_eq!(mounted_below(Path::new("/nonexistent-path")), None);
    }

    #[test]
    fn only_a_copy_of_our_own_is_being_started() {
        let stat = |parent: u32, flags: u64| format!("7 (a) b) S {parent} 7 7 0 -1 {flags} 1 0");
        assert!(is_own_copy(&stat(5, 0x40_0040), 5));
        assert!(!is_own_copy(&stat(6, 0x40_0040), 5), "another's");
        assert!(!is_own_copy(&stat(5, 0x40_0000), 5), "it has begun");
        assert!(!is_own_copy("", 5));
    }

    #[test]
    fn a_process_that_works_in_a_directory_uses_it() {
        let top = tempfile::tempdir().expect("a directory");
        let path = fs::canonicalize(top.path()).expect("a path");
        assert_eq!(user_of(&path, &path), None);
        let mut command = std::process::Command::new("sleep");
        let mut child = command
            .arg("1000")
            .current_dir(&path)
            .spawn()
            .expect("a process");
        let user = user_of(&path, &path);
        child.kill().expect("killed");
        child.wait().expect("an end");
        assert_eq!(user, Some(format!("process {} (sleep)", child.id())));
    }
}
