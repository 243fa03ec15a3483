//! Threads of this process that wait in the kernel for anything but each other. If storage does not
//! respond, they show where it hangs. Source: proc_pid_stat(5), proc_pid_stack(5).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::getpid;
use rustix::thread::gettid;

use crate::inspect::facts::{SystemRoots, names};

/// Maximum number of kernel functions reported.
const FUNCTIONS_MAX: usize = 3;
/// Parts of kernel function names in which a thread waits for other threads, for a child, for time
/// to pass, for a completion of a ring, or for input.
const IDLE: &str = "
    futex io_cqring_wait nanosleep pipe_read pipe_write poll do_wait sock tty inet unix
";

/// Number of threads that wait for signals as long as this process lives.
static FOR_SIGNALS: AtomicUsize = AtomicUsize::new(0);

/// Threads that hang at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HungThreads {
    /// Thread ids, as listed by `ps -L`.
    pub numbers: Vec<u32>,
    /// State as shown by `ps`. In state D no signal ends a thread, usually not even SIGKILL.
    pub state: char,
    /// Kernel functions in which they wait, innermost first, as far as permitted.
    pub functions: Vec<String>,
}

impl fmt::Display for HungThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.numbers[..] {
            [one] => write!(f, "thread {one} is in state {}", self.state)?,
            many => write!(f, "{} threads are in state {}", many.len(), self.state)?,
        }
        match &self.functions[..] {
            [] => Ok(()),
            functions => write!(f, " in the kernel's {}", functions.join(" < ")),
        }
    }
}

/// Registers a thread that waits for signals until the process ends.
pub(crate) fn one_more_for_signals() {
    FOR_SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// The threads of this process that hang now.
///
/// Skipped if there are only the caller, the first thread and those that wait for signals:
/// examining a thread by its id costs the kernel up to a tenth of a second of CPU when the process
/// ends.
pub fn hung_threads() -> Vec<HungThreads> {
    let facts = SystemRoots::default();
    let own = gettid();
    let at_rest = 1 + usize::from(own != getpid()) + FOR_SIGNALS.load(Ordering::Relaxed);
    match thread_count(&facts) {
        Some(count) if count <= at_rest => Vec::new(),
        _ => hung_in(&facts, own.as_raw_nonzero().get().unsigned_abs()),
    }
}

fn thread_count(facts: &SystemRoots) -> Option<usize> {
    let status = facts.proc_text("self/status")?;
    let count = status
        .lines()
        .find_map(|line| line.strip_prefix("Threads:"));
    count?.trim().parse().ok()
}

/// What happens to a process that should end while these hang; `None` if there are none. An
/// uninterruptible call keeps it alive, whatever its state says before.
pub fn kept_by(hung: &[HungThreads]) -> Option<String> {
    let threads: Vec<String> = hung.iter().map(ToString::to_string).collect();
    (!threads.is_empty()).then(|| {
        let threads = threads.join("; ");
        format!("{threads}: the kernel may end this process only when the storage answers")
    })
}

fn hung_in(facts: &SystemRoots, own: u32) -> Vec<HungThreads> {
    let tasks = names(&facts.proc.join("self/task")).into_iter();
    let mut places: BTreeMap<(char, Vec<String>), Vec<u32>> = BTreeMap::new();
    for number in tasks.filter_map(|name| name.parse::<u32>().ok()) {
        if number == own {
            continue;
        }
        let Some(state) = state_of(facts, number) else {
            continue;
        };
        let functions = functions_of(facts, number);
        if state == 'D' || (state == 'S' && !is_idle(&functions)) {
            let functions = functions.into_iter().take(FUNCTIONS_MAX).collect();
            places.entry((state, functions)).or_default().push(number);
        }
    }
    let places = places.into_iter();
    let hung = places.map(|((state, functions), mut numbers)| {
        numbers.sort_unstable();
        HungThreads {
            numbers,
            state,
            functions,
        }
    });
    hung.collect()
}

/// Whether a thread in these functions, or in an unknown place, does not wait for storage.
fn is_idle(functions: &[String]) -> bool {
    let named = |function: &String| IDLE.split_whitespace().any(|idle| function.contains(idle));
    // All work of io_uring threads happens below this function.
    let awaits_work = |innermost: &String| innermost == "io_wq_worker";
    functions.first().is_none_or(awaits_work) || functions.iter().any(named)
}

/// The state is the first word after the name, which is in brackets and may contain any characters.
fn state_of(facts: &SystemRoots, number: u32) -> Option<char> {
    let stat = facts.proc_text(&format!("self/task/{number}/stat"))?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.trim_start().chars().next()
}

/// The kernel stack of a thread, which only root may read, or else the function in which it waits,
/// if available.
fn functions_of(facts: &SystemRoots, number: u32) -> Vec<String> {
    if let Some(stack) = facts.proc_text(&format!("self/task/{number}/stack")) {
        let functions = stack.lines().filter_map(|line| {
            let (_, function) = line.split_once("] ")?;
            let (name, _) = function.split_once('+').unwrap_or((function, ""));
            Some(name.to_owned())
        });
        return functions.collect();
    }
    let waits_in = facts.proc_text(&format!("self/task/{number}/wchan"));
    waits_in.filter(|it| it != "0").into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// `/proc/self/task` of a program with two readers, one of which hangs.
    #[test]
    fn who_waits_for_storage_is_told_from_who_waits_for_work() {
        let proc = tempfile::tempdir().expect("a directory");
        let facts = SystemRoots {
            proc: proc.path().to_owned(),
            ..SystemRoots::default()
        };
        let thread = |number: u32, stat: &str, stack: Option<&str>, waits_in: &str| {
            let task = proc.path().join(format!("self/task/{number}"));
            fs::create_dir_all(&task).expect("a directory");
            fs::write(task.join("stat"), format!("{number} {stat} 1 1")).expect("a file");
            fs::write(task.join("wchan"), waits_in).expect("a file");
            if let Some(stack) = stack {
                fs::write(task.join("stack"), stack).expect("a file");
            }
        };
        let reading = "[<0>] request_wait_answer+0x12d/0x220\n[<0>] fuse_direct_io+0x3c5/0x640\n\
                       [<0>] fuse_file_read_iter+0x9/0x20\n[<0>] vfs_read+0x1fd/0x340\n";
        let waiting = "[<0>] futex_wait_queue+0x63/0x90\n[<0>] do_futex+0xbb/0x1b0\n";
        thread(7, "(seekstone) D", None, "x");
        thread(8, "(io-1 (a) b) S", Some(reading), "0");
        thread(9, "(io-0) S", Some(reading), "0");
        thread(10, "(io-2) S", Some(waiting), "0");
        thread(11, "(worker-0) D", None, "io_schedule");
        thread(12, "(worker-1) R", Some(reading), "0");
        thread(13, "(worker-2) S", None, "0");
        let resting = "[<0>] io_wq_worker+0x2a/0x310\n[<0>] ret_from_fork+0x2f/0x50\n";
        thread(14, "(iou-wrk-13) S", Some(resting), "0");
        thread(
            15,
            "(iou-wrk-13) S",
            Some(&format!("{reading}{resting}")),
            "0",
        );
        let hung = hung_in(&facts, 7);
        let listed: Vec<String> = hung.iter().map(ToString::to_string).collect();
        assert_eq!(
            listed,
            [
                "thread 11 is in state D in the kernel's io_schedule",
                "3 threads are in state S in the kernel's request_wait_answer < fuse_direct_io < \
                 fuse_file_read_iter",
            ]
        );
        assert_eq!(kept_by(&[]), None);
        let kept = kept_by(&hung[..1]).expect("one hangs");
        assert!(
            kept.starts_with("thread 11 is in state D in the kernel's io_schedule: the kernel")
        );
    }
}
