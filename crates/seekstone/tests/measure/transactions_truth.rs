//! What `seekstone transactions` says of page cache and processors, against what others say: the
//! kernel's list of cached pages, and the shell's account of processor time.

use std::fs;
use std::process::Command;

use crate::support::group::Group;
use crate::support::pressure::Pressure;
use crate::support::tables::{figure, row};
use crate::support::{PROGRAM, Running, Scratch, finish, is_installed, skipped};
use rustix::process::Signal;

/// Half of what the control group may have.
const FILE_BYTES: u64 = 32 << 20;
const MEMORY_MAX: &str = "64M";

/// What one user read, transaction by transaction, and what the page cache had of it.
struct Cached<'a> {
    group: Group,
    scratch: &'a Scratch,
}

impl Cached<'_> {
    fn command(&self, transactions: &str, more: &[&str]) -> Command {
        let args = ["transactions", "data", "--buffered", "--ios", "1"];
        let args = [&args[..], &["--think", "0", "--transactions", transactions]].concat();
        let args = [&args[..], &["--no-save", "--quiet", "--seed", "7"], more].concat();
        self.group.command(self.scratch, &args)
    }

    /// Share that the page cache answered, by the program.
    #[track_caller]
    fn share(&self, transactions: &str, more: &[&str]) -> f64 {
        let more = [&["--json", "-"], more].concat();
        let run = finish(self.command(transactions, &more)).json();
        figure(
            row(&run, "transactions-machine", &["1", "whole run"]),
            "page-cache-share",
        )
    }

    /// Share of the file that the page cache holds, by the kernel.
    fn held(&self) -> f64 {
        let mut fincore = Command::new("fincore");
        fincore.args(["--bytes", "--noheadings", "--output", "RES", "data"]);
        self.scratch.settle(&mut fincore);
        let found = fincore.output().expect("a list of pages").stdout;
        let held: f64 = String::from_utf8_lossy(&found)
            .trim()
            .parse()
            .expect("bytes");
        held / FILE_BYTES as f64
    }

    /// Write back and drop the first `bytes` of the file.
    fn drop_first(&self, bytes: u64) {
        let file = fs::File::open(self.scratch.path("data")).expect("the file");
        file.sync_all().expect("a file on disk");
        let advice = rustix::fs::Advice::DontNeed;
        let len = std::num::NonZeroU64::new(bytes);
        rustix::fs::fadvise(&file, 0, len, advice).expect("the page cache obeys");
    }
}

#[test]
fn the_share_of_the_page_cache_is_that_of_the_pages_it_holds() {
    let test = "the_share_of_the_page_cache_is_that_of_the_pages_it_holds";
    let scratch = Scratch::new();
    if !is_installed("fincore") {
        return skipped(test, "fincore is missing");
    }
    let Some(group) = Group::new(test, "memory") else {
        return;
    };
    if !group.set("memory.limit_in_bytes", MEMORY_MAX) {
        return skipped(test, "the control group does not limit memory");
    }
    let content: Vec<u8> = (0..FILE_BYTES as u32 / 4)
        .flat_map(u32::to_le_bytes)
        .collect();
    fs::write(scratch.path("data"), content).expect("a file");
    let cached = Cached {
        group,
        scratch: &scratch,
    };
    cached.drop_first(FILE_BYTES);
    if cached.held() > 0.0 {
        return skipped(test, "the file system keeps its pages");
    }
    // 60 of 8192 records: next to none comes twice.
    let cold = cached.share("60", &[]);
    assert!(cold < 0.01, "{cold} of a cold run was cached");
    // The same records again, of which a page may have gone where memory is short elsewhere.
    let warm = cached.share("60", &[]);
    assert!(warm > 0.98, "only {warm} of the second run was cached");
    // All of the file, and again. Another test may drop the caches of the whole machine meanwhile,
    // and then these reads go to the device: the kernel cannot tell when, so it is tried anew.
    let mut tries = (0..3).map(|_| {
        cached.share("100000", &[]);
        let held = cached.held();
        let ended = finish(cached.command("20000", &[]));
        ended.check(&[], 0, "page cache ");
        // Where memory is short elsewhere a page or two of 8192 may have gone.
        let mut lines = ended.stdout.lines().map(str::trim);
        let shown = lines.find_map(|line| line.strip_prefix("page cache "));
        let share = shown.and_then(|it| it.trim().strip_suffix(" %")?.parse::<f64>().ok());
        held > 0.99 && share > Some(99.4)
    });
    assert!(tries.any(|is_all| is_all), "not once were all pages there");
    // Other records, half of which are gone.
    cached.drop_first(FILE_BYTES / 2);
    let held = cached.held();
    let half = cached.share("400", &["--new-records"]);
    assert!(
        (half - held).abs() < 0.08,
        "{half} was cached, and the kernel holds {held}"
    );
}

/// 10 ms of processor work for each transaction cost 10 ms of this process, by the shell's account
/// (getrusage), which knows nothing of ours. On a busy machine a run takes ten times as long, and
/// costs more by what its threads do while they wait: a control that only waits runs in the same
/// instants, and its cost until then is taken off.
#[test]
fn processor_work_costs_what_was_asked_for() {
    let scratch = Scratch::new();
    fs::write(scratch.path("data"), vec![7; 4 << 20]).expect("a file");
    let transactions = 200_u32;
    let args = |cpu: &'static str, think: &'static str, count: u32| {
        let mut args = vec!["transactions", "data", "--buffered", "--users", "2"];
        args.extend([
            "--ios",
            "1",
            "--no-save",
            "--quiet",
            "--cpu",
            cpu,
            "--think",
            think,
        ]);
        let count = ["--transactions".to_owned(), (count / 2).to_string()];
        args.into_iter()
            .map(str::to_owned)
            .chain(count)
            .collect::<Vec<_>>()
    };
    let used = |cpu: &'static str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$0\" \"$@\" > /dev/null || exit 1; times", PROGRAM]);
        shell.args(args(cpu, "0", transactions));
        scratch.settle(&mut shell);
        let ended = finish(shell);
        ended.check(&[], 0, "");
        let children = ended.stdout.lines().nth(1).expect("what children used");
        children.split_whitespace().map(seconds).sum::<f64>()
    };
    let cost = || {
        let without = used("0");
        let waiting = Running::start(scratch.seekstone(args("0", "1h", transactions)));
        let before = processor_seconds(waiting.pid());
        let with = used("10ms");
        let control = processor_seconds(waiting.pid()) - before;
        waiting.signal(Signal::INT);
        let _ = waiting.end();
        (with - without - control) / f64::from(transactions)
    };
    // What others do to the caches only adds to it, so the least of some runs counts.
    let pressure = Pressure::new();
    let mut costs = vec![cost()];
    while costs.len() < 4 && costs[costs.len() - 1] > 0.010 * 1.02 {
        costs.push(cost());
    }
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min) / 0.010;
    let found = format!("{costs:?} s a transaction");
    assert!((0.97..1.1).contains(&least), "{found}");
    let test = "processor_work_costs_what_was_asked_for";
    pressure.assert(test, least < 1.03, &found);
}

/// Processor time of a process so far: fields 14 and 15 of proc_pid_stat(5).
fn processor_seconds(pid: u32) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, fields) = text.rsplit_once(')').expect("a name");
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks
        .map(|field| field.parse::<f64>().expect("ticks"))
        .sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

/// As in `1m2.345s`.
fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.trim_end_matches('s').split_once('m').expect("minutes");
    let read = |text: &str| text.parse::<f64>().expect("a number");
    60.0 * read(minutes) + read(seconds)
}
