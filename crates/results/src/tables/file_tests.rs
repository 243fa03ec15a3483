//! Tables of the file tests.

use units::{Bytes, format_counted, format_duration_ns};
use workload::DirectoryUse;

use crate::environment::TargetKind;
use crate::file_tests::{
    FileCallTimes, FileComparison, FilePass, FileState, FileTest, FileTests, FileTransfers,
    MetadataTree, ONE_BLOCK,
};
use crate::metric::*;
use crate::rank_share::RankShare;
use crate::reading::Unit;
use crate::replicate::Replicate;
use crate::run::RowWarning;
use crate::saying::{Saying, known, with_unit};
use crate::show::Show;
use crate::table::{Role, Row, Table, Trust, filled};

/// Factors of every row.
const FACTORS: [&str; 5] = ["test", "state", "place", "spacing", "scale"];
/// Columns of a test.
const COLUMNS: &str = "elapsed over-memory files-per-second call-mean call-p99 throughput cpu-user \
                       cpu-system passes device-reads device-writes calls-per-second items";
/// Phases that represent a run in lists, as in mdtest's summary.
const LISTED: [&str; 3] = ["create", "stat", "remove"];
const LEGEND: &str = "elapsed: from the first call of a pass to its last. files: directories and \
                      transfers, too. call: the kind of call that takes most of the time. CPU and \
                      device: of one pass.";
const OF_MEMORY: &str = " over memory: elapsed over that on the memory disk, as is.";
const RANKS: &str = "first in, last in: passes that this rank finished first, last. busy: its \
                     share of their time.";

impl FileTests {
    /// All tests by state and file system, their calls, how they scale with the number of files,
    /// figures at the stonewall, and by host. `target` is the kind of target measured.
    pub fn tables(&self, target: TargetKind) -> Vec<Table> {
        let named = |name, more: &[&str], rows: Vec<Row>| {
            Table::new(name, &[&FACTORS[..], more].concat(), rows).briefly_named()
        };
        let rows = self.tests.iter().map(|test| row(self, test));
        let show = Show::default()
            .matrix("test", "state")
            .with_each(&["place", "scale"], "over-memory")
            .columns(COLUMNS);
        let calls = self.tests.iter();
        let calls = calls.flat_map(|test| test.calls.iter().map(|it| of_call(test, it)));
        let growth = self.growth.iter().map(|it| self.of_growth(it));
        let walls = self.tests.iter().filter_map(of_stonewall);
        let hosts = self.hosts.iter().map(of_host);
        filled([
            named("files", &[], rows.collect())
                .shown(show)
                .noted(self.notes(target)),
            Table::new("files-growth", &["row"], growth.collect())
                .titled("Time for each, over that at the smallest scale"),
            named("files-stonewall", &[], walls.collect())
                .titled("At the stonewall")
                .noted(self.stonewall_ns.map(|ns| {
                    let time = format_duration_ns(ns as f64);
                    format!(
                        "Done when clients stopped after {time}. Then all caught up with the \
                         furthest."
                    )
                })),
            Table::new("files-hosts", &["rank"], hosts.collect())
                .titled("Hosts")
                .noted([RANKS.to_owned()]),
            named("files-calls", &["call"], calls.collect())
                .titled(self.calls_title())
                .shown(Show::detail()),
        ])
    }

    /// Warnings of each test.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.tests.iter().map(|it| (it.name(), &it.warnings)))
    }

    fn calls_title(&self) -> String {
        let calls = self.tests.iter().flat_map(|test| &test.calls);
        let mut kinds: Vec<&str> = calls.map(|it| it.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        match kinds.as_slice() {
            [one] => format!("Calls: {one}"),
            _ => "Calls".to_owned(),
        }
    }

    /// Counts, descriptions of tests and states, and the meaning of the figures.
    fn notes(&self, target: TargetKind) -> Vec<String> {
        let mut titles: Vec<String> = Vec::new();
        for test in &self.tests {
            let title = format!("{}: {}", test.word(), test.title);
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        let is_model = target == TargetKind::Simulated;
        let tests = format!("{}.{}", titles.join("; "), self.states(is_model));
        let over = match self.over_memory.is_empty() {
            true => "",
            false => OF_MEMORY,
        };
        let mut notes = vec![self.how(), tests, format!("{LEGEND}{over}")];
        notes.extend(self.of_device(is_model));
        notes
    }

    fn how(&self) -> String {
        let until = match (self.passes, self.precision) {
            (Some(passes), _) => format!(", {}", counted(passes, "pass")),
            (None, Some(precision)) => {
                format!(", passes until {:.1} % precise", precision * 100.0)
            }
            (None, None) => String::new(),
        };
        let clients = match self.clients {
            1 => "One client".to_owned(),
            many if self.transfers.is_some() => format!("{many} clients at once"),
            many => format!("{many} clients at once, each with files of its own"),
        };
        let tree = self.tree.as_ref().map_or_else(String::new, layout);
        let transfers = self.transfers.as_ref().map_or_else(String::new, transfers);
        let sampled = match self.is_sampled {
            true => ". Of each call that reads, only the first 512 bytes are compared",
            false => "",
        };
        format!(
            "{}{tree}{transfers}{sampled}. {clients}{until}.",
            self.workload
        )
    }

    /// The meaning of the measured states.
    fn states(&self, is_model: bool) -> String {
        let has = |state| self.tests.iter().any(|it| it.state == state);
        let cold = match self.cache_drop.as_str() {
            _ if is_model => "cold: the system's cache emptied before each pass",
            "machine" => "cold: pages, names and inodes dropped before each pass",
            _ => "cold: pages of the files dropped before each pass",
        };
        let told = [
            (FileState::AsIs, "as-is: caches as earlier tests left them"),
            (FileState::Cold, cold),
            (FileState::Durable, "durable: files and directories synced"),
        ];
        let told = told.into_iter().filter(|(state, _)| has(*state));
        told.map(|(_, text)| format!(" {text}.")).collect()
    }

    /// What TEST11 reads, in words.
    fn of_device(&self, is_model: bool) -> Option<String> {
        let mut states = self
            .tests
            .iter()
            .filter(|it| it.test == "11")
            .map(|it| it.state);
        let first = states.next()?;
        let is_cached = first == FileState::AsIs || states.any(|it| it == FileState::AsIs);
        let doubt = match is_cached && !is_model {
            true => " As is, reads may have come from memory: compare cold rows.",
            false => "",
        };
        let device = match self.device.as_str() {
            "own file" => "a file of 32000 blocks instead of a device",
            device => device,
        };
        Some(format!(
            "TEST11 reads {device}. Its bytes per second are the figure of merit.{doubt}"
        ))
    }

    /// A test on one file scales with the blocks of that file, others with the number of files.
    fn of_growth(&self, grown: &FileComparison) -> Row {
        let mut same = self.tests.iter().filter(|it| it.name() == grown.name());
        let each = match same.any(|it| it.items == 1) {
            true => "block",
            false => "file",
        };
        let ratio = GROWTH.of(grown.ratio);
        let row = Row::new(vec![grown.name()], [ratio], "growth", Trust::Reliable);
        row.with_word("each", each)
    }

    /// Whether it is a phase on files in the first state, rather than one on directories.
    fn is_listed(&self, test: &FileTest) -> bool {
        let of = |it: &FileTest| (it.system, it.state, it.scale);
        LISTED.contains(&&*test.test) && self.tests.first().map(of) == Some(of(test))
    }

    /// The figure that represents a test: for tests of the paper its time, for others a rate.
    fn headline(&self) -> &'static str {
        let mut tests = self.tests.iter();
        match () {
            () if tests.clone().any(FileTest::is_numbered) => "elapsed",
            () if tests.all(|it| it.bytes_per_second.is_some()) => "throughput",
            () => "files-per-second",
        }
    }
}

fn counted(count: u32, noun: &str) -> String {
    format_counted(u64::from(count), noun)
}

/// The layout of the files, and who reads them.
fn layout(tree: &MetadataTree) -> String {
    let place = match (tree.directories, tree.depth) {
        (DirectoryUse::Shared, _) => "in one directory of all clients".to_owned(),
        (DirectoryUse::Own, 0) => "in a directory of each client's own".to_owned(),
        (DirectoryUse::Own, depth) => {
            format!("in a tree of depth {depth} and fan-out {}", tree.fan_out)
        }
    };
    let size = match tree.file_bytes {
        0 => ", empty".to_owned(),
        ONE_BLOCK => String::new(),
        bytes => format!(" of {bytes} bytes"),
    };
    let reader = match tree.is_reordered {
        true => ", read by another client than their maker",
        false => "",
    };
    format!(", {}{size} {place}{reader}", counted(tree.files, "file"))
}

/// The layout of the transfers, and who reads them.
fn transfers(transfers: &FileTransfers) -> String {
    let place = match transfers.directories {
        DirectoryUse::Own => "a file of its own",
        DirectoryUse::Shared => "one file of all clients, taking turns",
    };
    let reader = match transfers.is_reordered {
        true => ", read by another client than its writer",
        false => "",
    };
    format!(
        ". Each client {} in transfers of {} to {place}{reader}",
        Bytes(transfers.client_bytes),
        Bytes(u64::from(transfers.transfer_bytes)),
    )
}

fn levels(test: &FileTest) -> Vec<String> {
    vec![
        test.test.clone(),
        test.state.name().to_owned(),
        test.system.name().to_owned(),
        test.spacing.clone(),
        test.scale.to_string(),
    ]
}

/// The call that takes most of a test's time.
fn main_call(test: &FileTest) -> Option<&FileCallTimes> {
    let time = |it: &&FileCallTimes| it.mean_ns * it.count as f64;
    let calls = test.calls.iter();
    calls.max_by(|one, other| time(one).total_cmp(&time(other)))
}

/// Times of one system call.
fn of_call(test: &FileTest, call: &FileCallTimes) -> Row {
    let mut figures = vec![
        CALL_COUNT.count(call.count),
        MEAN_TIME.bare_ns(call.mean_ns),
    ];
    figures.extend(call.median_ns.map(|ns| MEDIAN_TIME.bare_ns(ns as f64)));
    figures.extend(call.p99_ns.map(|ns| P99_TIME.bare_ns(ns as f64)));
    figures.push(LONGEST_TIME.bare_ns(call.max_ns as f64));
    let levels = [levels(test), vec![call.kind.clone()]].concat();
    Row::new(levels, figures, "", Trust::Reliable)
}

/// Figures at the stonewall, without the wear-out in which some clients wait for others.
fn of_stonewall(test: &FileTest) -> Option<Row> {
    let wall = test.stonewall.as_ref()?;
    let rates = [
        Some(FILES_PER_SECOND.of(wall.items_per_second)),
        Some(STONEWALL_ELAPSED.named("elapsed", wall.elapsed_seconds)),
        wall.bytes_per_second.map(|it| THROUGHPUT.of(it)),
    ];
    let rates = rates.into_iter().flatten();
    let counts = [
        LEAST_OF_A_CLIENT.count(wall.items_least),
        MOST_OF_A_CLIENT.count(wall.items_most),
    ];
    let figures = rates.map(|it| it.as_role(Role::Detail)).chain(counts);
    Some(Row::new(levels(test), figures, "", test.trust()))
}

/// Results of a rank.
fn of_host(host: &RankShare) -> Row {
    let figures = [
        Some(CALLS.count(host.amount)),
        Some(CALLS_PER_SECOND.bare(host.per_second)),
        Some(FIRST_IN.exact(host.first_in)),
        Some(LAST_IN.exact(host.last_in)),
        Some(BUSY.bare(host.busy_share)),
        host.processors_used.map(|it| PROCESSORS.bare(it)),
    ];
    host.row(figures.into_iter().flatten(), "")
}

/// Tests of the paper are quoted by their time, others by the rate that represents all of them.
fn saying(test: &FileTest, headline: &str) -> Option<Saying> {
    let is_numbered = test.test.starts_with(|it: char| it.is_ascii_digit());
    let (verb, unit, value) = match test.bytes_per_second {
        _ if is_numbered => (" takes", Unit::Seconds, test.elapsed_seconds),
        Some(rate) if headline == "throughput" => ("", Unit::BytesPerSecond, rate),
        _ => ("", Unit::PerSecond, test.items_per_second),
    };
    let text = || match unit {
        Unit::PerSecond => format!("{} {}", test.name(), with_unit(unit, value, "files/s")),
        unit => format!("{}{verb} {}", test.name(), known(unit, value)),
    };
    value.is_bounded().then(|| Saying::quoting(text()))
}

fn row(found: &FileTests, test: &FileTest) -> Row {
    let mut figures = vec![
        ELAPSED.of(test.elapsed_seconds),
        FILES_PER_SECOND.of(test.items_per_second),
        CALLS_PER_SECOND.of(test.calls_per_second),
    ];
    figures.extend(test.bytes_per_second.map(|it| THROUGHPUT.of(it)));
    if let Some(wall) = &test.stonewall {
        figures.push(STONEWALL_FILES_PER_SECOND.of(wall.items_per_second));
        let bytes = wall.bytes_per_second;
        figures.extend(bytes.map(|it| STONEWALL_BYTES_PER_SECOND.of(it)));
    }
    let over_memory = found.over_memory(test);
    figures.extend(over_memory.map(|ratio| OVER_MEMORY.of(ratio)));
    let costs = [
        (CPU_USER, test.pass_mean(|it| it.cpu_user_ns, 1e-9)),
        (CPU_SYSTEM, test.pass_mean(|it| it.cpu_system_ns, 1e-9)),
        (DEVICE_READS, test.pass_mean(|it| it.device_reads, 1.0)),
        (DEVICE_WRITES, test.pass_mean(|it| it.device_writes, 1.0)),
    ];
    let known = costs
        .into_iter()
        .filter_map(|(it, mean)| Some(it.of(mean?)));
    figures.extend(known.map(|it| it.as_role(Role::Detail)));
    let counted = test.passes.iter().filter(|pass| !pass.is_warm_up).count();
    figures.extend([
        PASSES.count(counted as u64),
        ITEMS.exact(test.items),
        CLIENTS.exact(found.clients),
    ]);
    if let Some(call) = main_call(test) {
        figures.push(CALL_MEAN.bare_ns(call.mean_ns));
        figures.extend(call.p99_ns.map(|ns| CALL_P99.bare_ns(ns as f64)));
    }
    Row::new(levels(test), figures, found.headline(), test.trust())
        .warned(&test.warnings)
        .quoted_with_interval()
        .listed(found.is_listed(test))
        .with_replicates(test.passes.iter().map(replicate).collect())
        .saying(saying(test, found.headline()))
}

/// A pass; with a stonewall, the work done by then.
fn replicate(pass: &FilePass) -> Replicate {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let number = |count: u64| count as f64;
    let wall = pass.stonewall.as_ref();
    let readings = [
        (ELAPSED, Some(seconds(pass.elapsed_ns))),
        (CALLS, Some(number(pass.calls))),
        (BYTES, Some(number(pass.bytes))),
        (CPU_USER, pass.cpu_user_ns.map(seconds)),
        (CPU_SYSTEM, pass.cpu_system_ns.map(seconds)),
        (DEVICE_READS, pass.device_reads.map(number)),
        (DEVICE_WRITES, pass.device_writes.map(number)),
        (ITEMS, pass.items.map(number)),
        (STONEWALL_ELAPSED, wall.map(|it| seconds(it.elapsed_ns))),
        (STONEWALL_ITEMS, wall.map(|it| number(it.items))),
        (STONEWALL_BYTES, wall.map(|it| number(it.bytes))),
        (STONEWALL_LEAST, wall.map(|it| number(it.items_least))),
        (STONEWALL_MOST, wall.map(|it| number(it.items_most))),
    ];
    let known = readings.into_iter();
    let known = known.filter_map(|(metric, value)| Some(metric.reading(value?)));
    Replicate::new(pass.number, !pass.is_warm_up, known)
}
