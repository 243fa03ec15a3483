//! Who uses a directory: mounts below it, processes in it, loop devices on its files.

use std::fs;
use std::path::{Path, PathBuf};

use host::inspect::facts::Facts;

/// The first thing that is mounted below a path.
pub(super) fn mounted_below(path: &Path) -> Option<PathBuf> {
    let text = Facts::default().proc_text("self/mountinfo")?;
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    // Spaces and the like are written as octal numbers; our own names have none, but parents may.
    let points = points.map(|point| {
        let plain = point.replace("\\040", " ").replace("\\011", "\t");
        PathBuf::from(plain.replace("\\012", "\n").replace("\\134", "\\"))
    });
    points.into_iter().find(|point| point.starts_with(path))
}

/// The first that works in a directory or has a file in it open, in words. That this process has
/// `held` open is no use of it.
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
        if is_user {
            let name = fs::read_to_string(own.join("comm")).unwrap_or_default();
            return Some(format!("process {pid} ({})", name.trim()));
        }
    }
    None
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
