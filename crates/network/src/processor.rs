//! CPU time of a server on this machine, from `/proc/PID/stat` (proc_pid_stat(5)).
//!
//! A server may be many processes, and may start one per connection. All processes with one name
//! are added up, with their reaped children: when a child ends, its time moves to its parent and is
//! not lost. The kernel counts in ticks, usually of 10 ms.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The process or processes to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasuredProcess {
    /// One process, with its reaped children.
    Process(u32),
    /// All processes with this name, as in `/proc/PID/comm`: at most 15 characters.
    Named(String),
}

impl MeasuredProcess {
    /// Parses a process id or a name.
    pub fn of(text: &str) -> Self {
        match text.parse() {
            Ok(pid) => Self::Process(pid),
            Err(_) => Self::Named(text.chars().take(NAME_MAX).collect()),
        }
    }

    /// CPU time used so far; `None` if there is no such process.
    pub fn processor_time(&self) -> Option<Duration> {
        self.processor_time_in(Path::new("/proc"))
    }

    fn processor_time_in(&self, proc: &Path) -> Option<Duration> {
        let ticks = match self {
            Self::Process(pid) => stat_of(&proc.join(pid.to_string())).map(|stat| stat.ticks),
            Self::Named(name) => named(proc, name),
        };
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        ticks.map(|ticks| Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second)))
    }
}

/// The kernel truncates names to this length.
const NAME_MAX: usize = 15;

struct Stat {
    name: String,
    ticks: u64,
}

fn named(proc: &Path, name: &str) -> Option<u64> {
    let entries = fs::read_dir(proc).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_number = |path: &Path| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    paths
        .filter(|path| is_number(path))
        .filter_map(|path| stat_of(&path))
        .filter(|stat| stat.name == name)
        .map(|stat| stat.ticks)
        .reduce(u64::saturating_add)
}

fn stat_of(process: &Path) -> Option<Stat> {
    parse(&fs::read_to_string(process.join("stat")).ok()?)
}

/// Parses `PID (NAME) STATE ...`; a name may contain blanks and brackets. Fields 14 to 17 are user
/// and system time of the process and its children.
fn parse(text: &str) -> Option<Stat> {
    let (head, fields) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1;
    let times = fields.split_ascii_whitespace().skip(11).take(4);
    let times: Vec<u64> = times.map(|it| it.parse().ok()).collect::<Option<_>>()?;
    (times.len() == 4).then(|| Stat {
        name: name.into(),
        ticks: times.iter().sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, pid: u32, name: &str, times: [u64; 4]) {
        let [user, system, child_user, child_system] = times;
        let text = format!(
            "{pid} ({name}) S 1 1 1 0 -1 4194560 1 2 3 4 {user} {system} {child_user} \
             {child_system} 20 0 1 0 7 8 9\n"
        );
        let folder = proc.join(pid.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("stat"), text).unwrap();
    }

    #[test]
    fn all_processes_of_a_name_are_added_up_with_children_that_ended() {
        let proc = tempfile::tempdir().unwrap();
        process(proc.path(), 10, "web (one) x", [100, 20, 3, 0]);
        process(proc.path(), 11, "web (one) x", [400, 0, 0, 0]);
        process(proc.path(), 12, "other", [9999, 0, 0, 0]);
        fs::create_dir(proc.path().join("sys")).unwrap();
        let tick = 1000 / rustix::param::clock_ticks_per_second();
        let used = |text: &str| MeasuredProcess::of(text).processor_time_in(proc.path());
        let expected = |ticks: u64| Some(Duration::from_millis(ticks * tick));
        assert_eq!(used("web (one) x"), expected(523));
        assert_eq!(used("11"), expected(400));
        assert_eq!(used("13"), None);
        assert_eq!(used("nobody"), None);
    }

    #[test]
    fn a_long_name_is_cut_as_the_kernel_cuts_it() {
        let server = MeasuredProcess::of("a-very-long-server-name");
        assert_eq!(server, MeasuredProcess::Named("a-very-long-ser".into()));
    }

    #[test]
    fn our_own_process_is_there() {
        let own = MeasuredProcess::Process(std::process::id());
        assert!(own.processor_time().is_some());
    }

    #[test]
    fn a_torn_line_is_nothing() {
        for text in [
            "",
            "1 (a",
            "1 (a) S 1 2 3",
            "1 (a) S 1 1 1 0 -1 4 1 2 3 4 x 1 1 1",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
