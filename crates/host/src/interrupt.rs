//! Signals that ask the program to stop.
//!
//! The first SIGINT, SIGTERM or SIGHUP sets a flag that the measuring loops check, so that a run
//! can end in order. Another one within half a second counts as the same request: GNU `timeout`,
//! for one, signals its child and then the child's group. Any later one ends the process with 128
//! plus the signal number, and names what is left behind.
//!
//! A flag does not help a thread that waits for something outside: a reader of its output, an
//! answer, a lock. Such a thread holds a [`Wait`]. Once a signal arrived, a wait of more than three
//! seconds ends the process like a second signal. Everything after the measurement is one such wait
//! to the end, since nothing checks the flag any more.
//!
//! SIGXFSZ gets a handler without effect, so that a write beyond `ulimit -f` is an ordinary error
//! (EFBIG) and not fatal. System calls are restarted, not interrupted.
//!
//! A thread may wait for ever for storage that does not respond. Code that can continue without
//! such threads holds an [`Awaiting`]: the second signal then abandons them, and the third ends the
//! process. Otherwise, soon after the first signal, the program prints where it hangs.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use drivers::DIRECTORY_PREFIX;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::hung::{hung_threads, kept_by, one_more_for_signals};
use crate::inspect::facts::SystemRoots;
use crate::together::no_thread;

/// Signals this soon after the first count as one with it.
const SAME_WISH: Duration = Duration::from_millis(500);
/// Maximum wait for something outside once a signal arrived: a slow disk, or a reader about to
/// read.
const PATIENCE: Duration = Duration::from_secs(3);
/// Maximum time to print the last message if nobody reads it.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A signal that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Name, such as `SIGINT`.
    pub name: &'static str,
    /// Number, such as 2.
    pub number: i32,
}

/// Current waits for something outside. Global, since signals belong to the process.
static WAITS: Waits = Waits {
    count: Mutex::new(0),
    changed: Condvar::new(),
};

struct Waits {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Waits {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self) {
        *self.count() += 1;
        self.changed.notify_all();
    }

    fn take_away(&self) {
        *self.count() -= 1;
        self.changed.notify_all();
    }

    /// Returns when a wait has lasted for the whole of `patience`.
    fn outlast(&self, patience: Duration) {
        let mut count = self.count();
        loop {
            let waiting = self.changed.wait_while(count, |count| *count == 0);
            count = waiting.unwrap_or_else(PoisonError::into_inner);
            let waited = self
                .changed
                .wait_timeout_while(count, patience, |count| *count > 0);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return;
            }
            count = now;
        }
    }
}

/// While it lives, its thread may wait for something outside: a past or future signal ends the
/// process if that takes long.
#[derive(Debug)]
#[must_use = "the wait is over when this is dropped"]
pub struct Wait(());

impl Wait {
    /// Starts a wait.
    pub fn begin() -> Self {
        WAITS.add();
        Self(())
    }

    /// Waits until the process ends: nothing checks the flag any more.
    pub fn to_the_end(self) {
        std::mem::forget(self);
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITS.take_away();
    }
}

/// Number of threads that can continue without the storage, and whether they should. Global like
/// [`WAITS`].
static AWAITED: AtomicUsize = AtomicUsize::new(0);
static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// While it lives, its thread checks several times a second whether to abandon what it waits for.
#[derive(Debug)]
#[must_use = "nobody looks any more when this is dropped"]
pub struct Awaiting(());

impl Awaiting {
    /// Starts waiting.
    pub fn begin() -> Self {
        AWAITED.fetch_add(1, Ordering::AcqRel);
        Self(())
    }

    /// Whether a second signal arrived: the user wants the results so far.
    pub fn is_given_up(&self) -> bool {
        IS_GIVEN_UP.load(Ordering::Acquire)
    }
}

/// Abandons what is awaited, as a second signal does, for use as a library.
pub fn give_up() {
    IS_GIVEN_UP.store(true, Ordering::Release);
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        AWAITED.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The last message before a signal ends the process, if any.
type LastWords = Box<dyn Fn() -> Option<String> + Send>;

static KEPT: Mutex<Option<LastWords>> = Mutex::new(None);

/// Sets the last message to print before a signal ends the process.
pub fn say_at_the_end(words: impl Fn() -> Option<String> + Send + 'static) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
}

const SIGNALS: [Signal; 3] = [
    Signal {
        name: "SIGINT",
        number: SIGINT,
    },
    Signal {
        name: "SIGTERM",
        number: SIGTERM,
    },
    Signal {
        name: "SIGHUP",
        number: SIGHUP,
    },
];

/// A flag set by a signal. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// Number of the signal received; 0 before.
    raised: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Installs the handlers until the process ends. A SIGHUP ignored from the start, as under
    /// `nohup`, stays ignored.
    ///
    /// # Errors
    ///
    /// If the system refuses a handler.
    pub fn install() -> io::Result<Self> {
        let interrupt = Interrupt::default();
        let facts = SystemRoots::default();
        let numbers = SIGNALS.map(|signal| signal.number).into_iter();
        let numbers: Vec<i32> = numbers
            .filter(|&number| number != SIGHUP || !is_ignored(&facts, number))
            .collect();
        for &number in &numbers {
            let flagged = usize::try_from(number).map_err(io::Error::other)?;
            flag::register_usize(number, Arc::clone(&interrupt.raised), flagged)?;
        }
        let signals = Signals::new(&numbers)?;
        Builder::new()
            .name("signals".into())
            .spawn(move || end_at_the_second(signals))
            .map_err(|error| io::Error::new(error.kind(), no_thread(&error)))?;
        one_more_for_signals();
        outlive_file_size_limit()?;
        Ok(interrupt)
    }

    /// A flag that no signal sets, for tests and for use as a library.
    pub fn never() -> Self {
        Interrupt::default()
    }

    /// Sets it as SIGINT does, without a signal, for use as a library.
    pub fn raise(&self) {
        let number = usize::try_from(SIGINT).unwrap_or_default();
        self.raised.store(number, Ordering::Relaxed);
    }

    /// The signal received, if any.
    pub fn is_raised(&self) -> Option<Signal> {
        let number = self.raised.load(Ordering::Relaxed);
        // Called before each system call of a program, so the usual case must be cheap.
        if number == 0 {
            return None;
        }
        SIGNALS
            .into_iter()
            .find(|signal| usize::try_from(signal.number) == Ok(number))
    }
}

/// Ends the process at the second signal (one right after the first counts as the same request), or
/// if it has not ended some time after the first. Code that can continue without the storage gets
/// the second signal instead.
fn end_at_the_second(mut signals: Signals) {
    let mut numbers = None;
    for number in signals.forever() {
        let last: &mut Instant = numbers.get_or_insert_with(|| {
            // Without such threads, only the second signal ends the process.
            let _ = Builder::new().name("patience".into()).spawn(move || {
                WAITS.outlast(PATIENCE);
                end(number);
            });
            let _ = Builder::new().name("hung".into()).spawn(report_what_hangs);
            Instant::now()
        });
        if last.elapsed() < SAME_WISH {
            continue;
        }
        *last = Instant::now();
        let is_awaited = AWAITED.load(Ordering::Acquire) > 0;
        if !is_awaited || IS_GIVEN_UP.swap(true, Ordering::AcqRel) {
            end(number);
        }
    }
}

/// Reports where a process hangs if nothing can continue without the storage.
fn report_what_hangs() {
    std::thread::sleep(PATIENCE);
    if AWAITED.load(Ordering::Acquire) > 0 {
        return;
    }
    let hung: Vec<String> = hung_threads().iter().map(ToString::to_string).collect();
    if !hung.is_empty() {
        say(&format!(
            "Waiting for the storage: {}. Ctrl-C again ends the program.\n",
            hung.join("; ")
        ));
    }
}

fn say(words: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), words.as_bytes());
}

/// Ends the process at once. Removes unfinished files, and names those left.
fn end(number: i32) {
    // In a separate thread, since a blocked terminal must not keep the process alive.
    let (sender, receiver) = channel();
    let speaker = Builder::new().spawn(move || {
        drivers::remove_unfinished();
        for path in kept_directories(Path::new("/proc/self/fd")) {
            say(&last_words(&path));
        }
        let kept = KEPT.try_lock().ok();
        let kept = kept.and_then(|words| words.as_ref().and_then(|words| words()));
        kept.iter().for_each(|words| say(&format!("{words}\n")));
        let kept = kept_by(&hung_threads());
        kept.iter()
            .for_each(|words| say(&format!("note: {words}\n")));
        let _ = sender.send(());
    });
    if speaker.is_ok() {
        let _ = receiver.recv_timeout(LAST_WORDS);
    }
    low_level::exit(128 + number);
}

fn last_words(path: &Path) -> String {
    let parent = path.parent().unwrap_or(Path::new("."));
    format!(
        "left behind: {}. `seekstone clean {}` removes it\n",
        path.display(),
        parent.display()
    )
}

/// Our directories that this process has open. Does not access any file system, which may be what
/// hangs.
fn kept_directories(descriptors: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(descriptors).into_iter().flatten().flatten();
    let open = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    open.filter_map(|path| directory_of_ours(&path)).collect()
}

/// Our directory that `path` is or lies in. Removed files have a note after their name.
fn directory_of_ours(path: &Path) -> Option<PathBuf> {
    let is_ours = |it: &&Path| {
        let name = it.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(DIRECTORY_PREFIX) && !name.contains(' '))
    };
    path.ancestors().find(is_ours).map(Path::to_path_buf)
}

/// Makes a write beyond `ulimit -f` an ordinary error.
///
/// # Errors
///
/// If the system refuses the handler.
pub fn outlive_file_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// The mask of ignored signals in `/proc/self/status` has bit `n - 1` for signal `n`.
fn is_ignored(facts: &SystemRoots, number: i32) -> bool {
    let text = facts.proc_text("self/status").unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (number - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Output};

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use signal_hook::low_level::raise;

    use super::*;

    /// Signals and limits apply to a whole process, so each case runs in its own: this test program
    /// with one of the ignored cases below.
    fn run_case(name: &str) -> Output {
        let program = std::env::current_exe().expect("our own program");
        let test = format!("interrupt::tests::{name}");
        let output = Command::new(program)
            .args(["--exact", &test, "--ignored"])
            .output();
        output.expect("a second process")
    }

    /// A program without such a test would also succeed, so the count is checked.
    #[track_caller]
    fn check_passes(name: &str) {
        let output = run_case(name);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}"
        );
    }

    #[test]
    fn the_first_signal_raises_the_flag() {
        check_passes("case_first_signal");
    }

    #[test]
    fn a_later_signal_ends_the_process_with_its_number() {
        let output = run_case("case_later_signal");
        assert_eq!(output.status.code(), Some(128 + SIGINT));
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find(|line| line.contains("left behind: "));
        let line = line.unwrap_or_else(|| panic!("it said {text}"));
        let (path, advice) = line.split_once(". ").expect("a path and advice");
        let path = PathBuf::from(path.split_once(": ").expect("a path").1);
        assert!(path.join(drivers::MARKER_NAME).exists(), "{line}");
        let parent = path.parent().expect("a parent");
        assert_eq!(
            advice,
            format!("`seekstone clean {}` removes it", parent.display())
        );
        fs::remove_dir_all(parent).expect("what the case left");
    }

    #[test]
    fn the_second_signal_gives_up_what_is_awaited_and_the_third_ends_the_process() {
        let output = run_case("case_awaiting");
        assert_eq!(output.status.code(), Some(128 + SIGINT));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("it is given up\n"), "{text}");
        assert!(text.contains("kept: 2 results\n"), "{text}");
    }

    /// Bug: under GNU `timeout` a run ended at once and left its files, because the signal came
    /// twice.
    #[test]
    fn a_signal_that_comes_twice_at_once_is_one() {
        check_passes("case_signal_twice");
    }

    /// Bug: a program that had finished measuring waited for the reader of a pipe and ignored the
    /// first signal.
    #[test]
    fn the_first_signal_ends_a_process_that_waits_for_the_world() {
        // Both at once, since each waits for a while.
        let [later, earlier] = std::thread::scope(|scope| {
            let cases = ["case_waiting", "case_waiting_after_the_signal"];
            let running = cases.map(|case| scope.spawn(|| run_case(case)));
            running.map(|it| it.join().expect("a process"))
        });
        assert_eq!(later.status.code(), Some(128 + SIGTERM));
        assert_eq!(earlier.status.code(), Some(128 + SIGINT));
    }

    #[test]
    fn only_directories_of_ours_are_named() {
        let of = |path: &str| directory_of_ours(Path::new(path));
        let ours = "/mnt/.seekstone-0123456789abcdef";
        assert_eq!(of(&format!("{ours}/owner")), Some(PathBuf::from(ours)));
        assert_eq!(
            of(&format!("{ours}/t00000001/f1")),
            Some(PathBuf::from(ours))
        );
        assert_eq!(of(ours), Some(PathBuf::from(ours)));
        assert_eq!(of(&format!("{ours} (deleted)")), None);
        assert_eq!(of("/mnt/file"), None);
        assert_eq!(of("pipe:[7]"), None);
    }

    #[test]
    fn a_write_past_the_file_size_limit_is_an_error() {
        check_passes("case_file_size_limit");
    }

    #[test]
    fn a_flag_of_its_own_is_never_raised() {
        assert_eq!(Interrupt::never().is_raised(), None);
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_first_signal() {
        let interrupt = Interrupt::install().expect("handlers");
        let copy = interrupt.clone();
        assert_eq!(copy.is_raised(), None);
        raise(SIGTERM).expect("a signal");
        assert_eq!(copy.is_raised().map(|signal| signal.name), Some("SIGTERM"));
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_later_signal() {
        let _interrupt = Interrupt::install().expect("handlers");
        let parent = tempfile::tempdir().expect("a directory").keep();
        let owner = drivers::DirectoryOwner::default();
        let _work = drivers::WorkDirectory::create(&parent, &owner).expect("a directory of ours");
        raise(SIGTERM).expect("a signal");
        loop {
            std::thread::yield_now();
            raise(SIGINT).expect("a signal");
        }
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_awaiting() {
        let interrupt = Interrupt::install().expect("handlers");
        say_at_the_end(|| Some("kept: 2 results".into()));
        let awaiting = Awaiting::begin();
        raise(SIGTERM).expect("a signal");
        while interrupt.is_raised().is_none() || !awaiting.is_given_up() {
            std::thread::yield_now();
            raise(SIGTERM).expect("a signal");
        }
        say("it is given up\n");
        loop {
            std::thread::yield_now();
            raise(SIGINT).expect("a signal");
        }
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_signal_twice() {
        let interrupt = Interrupt::install().expect("handlers");
        raise(SIGTERM).expect("a signal");
        raise(SIGTERM).expect("a signal");
        raise(SIGINT).expect("a signal");
        assert_eq!(
            interrupt.is_raised().map(|signal| signal.name),
            Some("SIGINT")
        );
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_waiting() {
        let _interrupt = Interrupt::install().expect("handlers");
        Wait::begin().to_the_end();
        raise(SIGTERM).expect("a signal");
        std::thread::park();
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_waiting_after_the_signal() {
        let _interrupt = Interrupt::install().expect("handlers");
        raise(SIGINT).expect("a signal");
        Wait::begin().to_the_end();
        std::thread::park();
    }

    #[test]
    #[ignore = "ends or limits its process: run by another test"]
    fn case_file_size_limit() {
        let _interrupt = Interrupt::install().expect("handlers");
        let mut file = tempfile::tempfile().expect("a temporary file");
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit {
            current: Some(4096),
            maximum,
        };
        setrlimit(Resource::Fsize, limit).expect("a limit");
        file.write_all(&[0; 4096]).expect("a write up to the limit");
        let error = file.write_all(&[0; 1]).expect_err("a write past the limit");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
