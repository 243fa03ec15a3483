//! An own instance of tracefs for block events: other tracers are not affected, and closing it ends
//! its overhead.
//!
//! It is removed on drop. If this program is killed, a waiting shell removes it, or without a shell
//! the next instance created. Its name identifies the owner by process id and start time. An
//! instance still being read cannot be removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::OFlags;
use rustix::time::ClockId;

use crate::counters::clock_ns;

/// Mount points of tracefs, the usual one first.
const ROOTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const PREFIX: &str = "seekstone-";
/// Size of the kernel's buffer: minimum and maximum per processor, and total, KiB.
const BUFFER_KIB: (u64, u64) = (1 << 10, 8 << 10);
const BUFFERS_KIB: u64 = 64 << 10;
/// Maximum number of pages read per processor at once; the rest is left for later.
const PAGES_MAX: usize = 4096;
/// Maximum length of a page's description, bytes.
const PAGE_TEXT_MAX: usize = 64 << 10;
/// Removes the instance when this program has ended; its files close a moment after the pipe.
const REMOVER: &str = "read -r _
for _ in 1 2 3 4 5 6 7 8
do
  rmdir -- \"$1\" 2>/dev/null && exit
  [ -d \"$1\" ] || exit
  sleep 0.25
done";

/// Why block events cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TracefsError {
    /// tracefs is not mounted.
    #[error(
        "tracefs is not mounted at /sys/kernel/tracing: run `mount -t tracefs tracefs \
         /sys/kernel/tracing` as root"
    )]
    NotMounted,
    /// Requires root.
    #[error("recording needs root, or write access to {0}")]
    Denied(PathBuf),
    /// Another error.
    #[error("cannot trace with {path}: {error}")]
    Io { path: PathBuf, error: io::Error },
}

/// An active instance.
#[derive(Debug)]
pub struct TraceInstance {
    root: PathBuf,
    /// Mount point of tracefs.
    tracefs: PathBuf,
    /// Trace output of each processor.
    processors: Vec<File>,
    page: Vec<u8>,
    remover: Option<Child>,
}

impl TraceInstance {
    /// Creates an instance that traces nothing yet.
    ///
    /// # Errors
    /// If the kernel or the permissions do not allow it.
    pub fn create() -> Result<Self, TracefsError> {
        let tracefs = mounted()?;
        let instances = tracefs.join("instances");
        remove_abandoned(&instances);
        let own = std::process::id();
        let began = began_at(own).unwrap_or(0);
        let root = instances.join(format!("{PREFIX}{own}-{began}"));
        fs::create_dir(&root).map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => TracefsError::Denied(instances.clone()),
            _ => of(&root)(error),
        })?;
        let mut instance = Self {
            processors: Vec::new(),
            page: vec![0; rustix::param::page_size()],
            remover: remover(&root),
            root,
            tracefs,
        };
        instance.open_processors()?;
        // The clock of `CLOCK_MONOTONIC`, which all processors share.
        instance.put("trace_clock", "mono")?;
        // When the reader is too slow, new events are lost, not those that an older request needs.
        instance.put("options/overwrite", "0")?;
        let count = instance.processors.len().max(1) as u64;
        let size = (BUFFERS_KIB / count).clamp(BUFFER_KIB.0, BUFFER_KIB.1);
        instance.put("buffer_size_kb", &size.to_string())?;
        Ok(instance)
    }

    /// The kernel's description of the page layout. It must be read with a single call, since the
    /// rest is lost.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn header_page(&self) -> Result<String, TracefsError> {
        let path = self.tracefs.join("events/header_page");
        let mut bytes = vec![0; PAGE_TEXT_MAX];
        let read = File::open(&path).and_then(|mut it| it.read(&mut bytes));
        let length = read.map_err(of(&path))?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    /// The kernel's description of a block event; `None` if it has no such event.
    pub fn event_format(&self, event: &str) -> Option<String> {
        fs::read_to_string(self.root.join(format!("events/block/{event}/format"))).ok()
    }

    /// Traces block events of these devices, or of all if none are given. Returns the start time.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn begin(&self, events: &[&str], devices: &[u32]) -> Result<u64, TracefsError> {
        let filters: Vec<String> = devices.iter().map(|it| format!("dev == {it}")).collect();
        let begin = clock_ns(ClockId::Monotonic);
        for event in events {
            let event = format!("events/block/{event}");
            if !filters.is_empty() {
                self.put(&format!("{event}/filter"), &filters.join(" || "))?;
            }
            self.put(&format!("{event}/enable"), "1")?;
        }
        Ok(begin)
    }

    fn put(&self, name: &str, text: &str) -> Result<(), TracefsError> {
        let path = self.root.join(name);
        fs::write(&path, text).map_err(of(&path))
    }

    fn open_processors(&mut self) -> Result<(), TracefsError> {
        let all = self.root.join("per_cpu");
        for entry in fs::read_dir(&all).map_err(of(&all))? {
            let path = entry.map_err(of(&all))?.path().join("trace_pipe_raw");
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            let file = OpenOptions::new()
                .read(true)
                .custom_flags(flags)
                .open(&path);
            self.processors.push(file.map_err(of(&path))?);
        }
        Ok(())
    }

    /// Passes the pages so far to `each`, one processor after the other. Returns the time up to
    /// which they are complete.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn read(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<u64, TracefsError> {
        // Later events may be preceded by some on a processor that was read before.
        let until = clock_ns(ClockId::Monotonic);
        for processor in &mut self.processors {
            for _ in 0..PAGES_MAX {
                match processor.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => each(&self.page[..length]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(of(&self.root)(error)),
                }
            }
        }
        Ok(until)
    }

    /// Events dropped by the kernel so far, from its per-processor counters.
    pub fn lost(&self) -> u64 {
        let processors = fs::read_dir(self.root.join("per_cpu"));
        let processors = processors.into_iter().flatten().flatten();
        let stats = processors.filter_map(|it| fs::read_to_string(it.path().join("stats")).ok());
        stats.map(|text| lost_of(&text)).sum()
    }

    /// Stops tracing. Earlier events can still be read.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn stop(&self) -> Result<(), TracefsError> {
        self.put("tracing_on", "0")
    }
}

impl Drop for TraceInstance {
    fn drop(&mut self) {
        // Open files would keep it.
        self.processors.clear();
        let _ = fs::remove_dir(&self.root);
        if let Some(mut remover) = self.remover.take() {
            drop(remover.stdin.take());
            let _ = remover.wait();
        }
    }
}

fn of(path: &Path) -> impl FnOnce(io::Error) -> TracefsError {
    let path = path.to_owned();
    move |error| TracefsError::Io { path, error }
}

/// The root of tracefs.
fn mounted() -> Result<PathBuf, TracefsError> {
    for root in ROOTS.map(Path::new) {
        match fs::metadata(root.join("instances")) {
            Ok(_) => return Ok(root.to_owned()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(TracefsError::Denied(root.to_owned()));
            }
            Err(_) => {}
        }
    }
    Err(TracefsError::NotMounted)
}

/// Removes instances of processes that no longer exist.
fn remove_abandoned(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner_in);
        if owner.is_some_and(|(pid, began)| began_at(pid) != Some(began)) {
            // One of a process that is not visible to us is in use and stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn owner_in(name: &str) -> Option<(u32, u64)> {
    let (pid, began) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some((pid.parse().ok()?, began.parse().ok()?))
}

/// Start time of a process, in ticks since boot: field 22 of its `stat`.
fn began_at(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = text.rsplit_once(')')?;
    behind_name.split_whitespace().nth(19)?.parse().ok()
}

fn lost_of(stats: &str) -> u64 {
    const COUNTERS: [&str; 3] = ["overrun", "commit overrun", "dropped events"];
    let lines = stats.lines().filter_map(|line| line.split_once(": "));
    let lost = lines.filter(|(name, _)| COUNTERS.contains(name));
    lost.filter_map(|(_, count)| count.trim().parse::<u64>().ok())
        .sum()
}

fn remover(root: &Path) -> Option<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", REMOVER, "sh"]).arg(root);
    let quiet = shell.stdout(Stdio::null()).stderr(Stdio::null());
    let apart = quiet
        .stdin(Stdio::piped())
        .current_dir("/")
        .process_group(0);
    apart.spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_all_that_the_kernel_counts() {
        let stats = "entries: 49\noverrun: 3\ncommit overrun: 1\nbytes: 3236\n\
                     oldest event ts: 81606.935552\ndropped events: 40\nread events: 7\n";
        assert_eq!(lost_of(stats), 44);
    }

    #[test]
    fn an_instance_tells_its_owner() {
        assert_eq!(owner_in("seekstone-12-3456"), Some((12, 3456)));
        for name in ["seekstone-12", "seekstone-a-b", "other-1-2"] {
            assert_eq!(owner_in(name), None, "{name}");
        }
        let own = std::process::id();
        assert!(began_at(own).is_some());
        assert_eq!(began_at(u32::MAX), None);
    }
}
