//! A file of workloads for `trial --workload`, in TOML: each `[[workload]]` is a job.

use std::str::FromStr;

use fio::{
    Amount, BlockSizes, Distribution, EachWrite, EngineKind, FioEngine, Job, JobFilePosition,
    RateLimit,
};
use toml_reader::{KeyedTable, TomlFaults, TomlText, parse};
use units::{Bytes, Duration, Rate, TargetName};

/// Workloads of a file, at most.
const WORKLOADS_MAX: usize = 4096;
/// Clients of a workload, at most; all of a trial are bounded where they are planned.
const CLIENTS_MAX: u64 = 1 << 16;

/// One workload; what is left out is as without the key.
#[derive(Clone, Debug, Default)]
pub struct TargetWorkload {
    /// Its name; that of its row.
    pub name: Option<String>,
    /// Those of the command's targets that it works on; all of them where empty.
    pub targets: Vec<String>,
    /// Requests outstanding; with think time or one at a time, clients.
    pub clients: Option<u32>,
    /// Bytes of an operation, sizes and percentages as in `4KiB/60:64KiB/40`, or a range.
    pub block: Option<BlockSizes>,
    /// The same of writes alone.
    pub write_block: Option<BlockSizes>,
    /// `sequential`, `uniform`, `once`, `random:50`, `zipf:1.1`, `pareto:0.2`, `normal:10`.
    pub pattern: Option<String>,
    /// Percent of writes.
    pub writes: u32,
    /// Operations per second, however long they take.
    pub rate: Option<Rate>,
    /// Whether the gaps of that rate are constant; they are exponential where absent.
    pub is_constant: Option<bool>,
    /// Time between a completion and the client's next operation.
    pub think: Option<Duration>,
    /// From the trial's start to its own.
    pub start: Option<Duration>,
    /// How long it goes on from there.
    pub duration: Option<Duration>,
    /// Bytes after which it ends.
    pub bytes: Option<Bytes>,
    /// Operations after which it ends.
    pub operations: Option<u64>,
    /// How often it goes through its range; until its time is up where absent.
    pub loops: Option<u64>,
    /// Writes between two fsyncs; none where absent.
    pub flush_every: Option<u64>,
    /// Writes between two fdatasyncs; none where absent.
    pub data_flush_every: Option<u64>,
    /// Writes after which their pages are written out, with `sync_file_range`; none where absent.
    pub write_out_every: Option<u64>,
    /// Whether it gives blocks back instead of writing them.
    pub trims: bool,
    /// Whether an fsync belongs to each write.
    pub durable: bool,
    /// Whether it goes through the page cache.
    pub buffered: bool,
    /// Where its range begins.
    pub offset: Bytes,
    /// Bytes of its range; the whole target, or the size of a test file.
    pub size: Option<Bytes>,
    /// Percent of its data that compress.
    pub compressible: u32,
    /// Percent of its writes that repeat the one before.
    pub duplicate: u32,
    /// Whether it writes zeroes.
    pub zeroes: bool,
    /// Whether its writes have headers that reads are held against.
    pub verify: bool,
}

/// Read a file of workloads.
///
/// # Errors
/// All mistakes, a line for each, with file and line.
// fuzzed: workload_file
pub fn read_workloads(name: &str, text: &str) -> Result<Vec<TargetWorkload>, TomlFaults> {
    let document = parse(name, text)?;
    let mut source = TomlText::new(name, text);
    let place = format!("{name}:1");
    let what = "a file of workloads";
    let mut top = KeyedTable::new(&mut source, document.get_ref(), place.clone(), what);
    let tables = top.tables("workload", "a table for each workload: [[workload]]");
    top.finish();
    match tables.len() {
        0 if source.faults.is_empty() => source.note(place, "there is no [[workload]]"),
        0..=WORKLOADS_MAX => {}
        _ => source.note(place, format!("more than {WORKLOADS_MAX} workloads")),
    }
    let tables = tables.into_iter().take(WORKLOADS_MAX);
    let read = tables.map(|(table, place)| {
        let mut table = KeyedTable::new(&mut source, table, place, "a workload");
        let workload = read_workload(&mut table);
        table.finish();
        workload
    });
    let read = read.collect();
    source.finish(read)
}

fn read_workload(table: &mut KeyedTable<'_, '_>) -> TargetWorkload {
    let size = "a size, such as \"64KiB\"";
    let sizes = "a size, such as \"4KiB\", a range, such as \"4KiB-64KiB\", or sizes with \
                 percentages, such as \"4KiB/60:64KiB/40\"";
    let time = "a time, such as \"10s\"";
    TargetWorkload {
        name: table.name("name", "one line, such as \"lookups\""),
        targets: table.texts(
            "targets",
            "a list of the command's targets, such as [\"nvme0n1\"]",
        ),
        clients: table
            .count("clients", 1..=CLIENTS_MAX)
            .map(|count| count as u32),
        block: table.notation("block", sizes, block_sizes),
        write_block: table.notation("write-block", sizes, block_sizes),
        pattern: table.notation(
            "pattern",
            "a word, such as \"sequential\" or \"zipf:1.1\"",
            |text| put_pattern(&mut blank_job(""), text, 0).map(|()| text.to_owned()),
        ),
        writes: share_of(table, "writes"),
        rate: table.notation("rate", "operations per second, such as \"250/s\"", read),
        is_constant: table.notation(
            "shape",
            "\"exponential\" or \"constant\"",
            |text| match text {
                "exponential" => Ok(false),
                "constant" => Ok(true),
                other => Err(format!("{other:?} is neither exponential nor constant")),
            },
        ),
        think: table.notation("think", time, read),
        start: table.notation("start", time, read),
        duration: table.notation("duration", time, read),
        bytes: table.notation("bytes", size, read),
        operations: table.count("operations", 0..=i64::MAX as u64),
        flush_every: table.count("flush-every", 0..=i64::MAX as u64),
        loops: table.count("loops", 1..=u64::from(u32::MAX)),
        data_flush_every: table.count("data-flush-every", 0..=i64::MAX as u64),
        write_out_every: table.count("write-out-every", 0..=i64::MAX as u64),
        trims: table.flag("trims").unwrap_or(false),
        durable: table.flag("durable").unwrap_or(false),
        buffered: table.flag("buffered").unwrap_or(false),
        offset: table.notation("offset", size, read).unwrap_or_default(),
        size: table.notation("size", size, read),
        compressible: share_of(table, "compressible"),
        duplicate: share_of(table, "duplicate"),
        zeroes: table.flag("zeroes").unwrap_or(false),
        verify: table.flag("verify").unwrap_or(false),
    }
}

fn share_of(table: &mut KeyedTable<'_, '_>, key: &'static str) -> u32 {
    let share = table.notation(key, "whole percent, such as \"30%\"", whole_percent);
    share.unwrap_or(0)
}

fn read<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A target of several, and what its jobs are called.
#[derive(Clone, Debug)]
pub struct JobTarget {
    pub given: TargetName,
    /// Its number among the targets.
    pub number: usize,
    /// Whether it is a directory, in which a test file is made.
    pub is_directory: bool,
    /// Bytes of that file, or of the part of a target that is used.
    pub size: Option<Bytes>,
}

impl JobTarget {
    /// A short name: the last part of a path.
    pub fn label(&self) -> String {
        short_name(self.given.as_str())
    }
}

/// The last part of a target's path.
pub(super) fn short_name(given: &str) -> String {
    let whole = given.trim_end_matches('/');
    let last = whole.rsplit('/').next().unwrap_or(whole);
    match last {
        "" | "." | ".." => given.to_owned(),
        last => last.to_owned(),
    }
}

/// How long the jobs of a trial run at most.
pub type LongestRun = Duration;

impl TargetWorkload {
    /// The job that does this on a target.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub fn job(&self, target: &JobTarget, name: &str, longest: LongestRun) -> Result<Job, String> {
        let mut job = blank_job(name);
        job.engine = FioEngine {
            name: "io_uring",
            kind: EngineKind::Asynchronous,
        };
        job.is_direct = !self.buffered;
        job.reports.is_grouped = true;
        job.begins_group = true;
        self.put_place(&mut job, target)?;
        self.put_load(&mut job)?;
        self.put_course(&mut job, longest)?;
        self.put_content(&mut job);
        Ok(job)
    }

    fn put_place(&self, job: &mut Job, target: &JobTarget) -> Result<(), String> {
        if target.is_directory {
            job.files.directories = vec![target.given.to_string()];
            job.files.format = format!("seekstone-trial-{}", target.number);
        } else {
            job.files.names = vec![target.given.to_string()];
        }
        if target.given.is_null() {
            job.engine.name = "null";
            job.engine.kind = EngineKind::Null;
        }
        job.offset = Amount::Bytes(self.offset.0);
        let size = self.size.or(target.size);
        job.size = size.map(|size| Amount::Bytes(size.0));
        if let (true, Some(whole)) = (target.is_directory, target.size) {
            self.fits(job, whole)?;
        }
        Ok(())
    }

    /// Whether its part lies within the file of `whole` bytes that is made in a directory.
    fn fits(&self, job: &mut Job, whole: Bytes) -> Result<(), String> {
        let rest = whole.0.saturating_sub(self.offset.0);
        if rest == 0 {
            return Err(format!("offset: the file has {whole}, as --size says"));
        }
        if self.size.is_some_and(|own| own.0 > rest) {
            return Err(format!(
                "size: {} are left of the file of {whole}, as --size says",
                Bytes(rest)
            ));
        }
        job.size = Some(Amount::Bytes(self.size.map_or(rest, |own| own.0)));
        Ok(())
    }

    fn put_load(&self, job: &mut Job) -> Result<(), String> {
        if let Some(both) = self.block.clone() {
            job.blocks = [both.clone(), both.clone(), both];
        }
        if let Some(writes) = self.write_block.clone() {
            job.blocks[1] = writes;
        }
        let writes = self.writes;
        let pattern = self.pattern.as_deref().unwrap_or("uniform");
        put_pattern(job, pattern, writes).map_err(|why| format!("pattern: {why}"))?;
        job.read_percent = 100 - writes;
        let clients = self.clients.unwrap_or(1).max(1);
        match self.think.unwrap_or_default() {
            Duration::ZERO => job.depth = clients,
            think => {
                job.think.time = think;
                job.copies = clients;
            }
        }
        if let Some(rate) = self.rate {
            put_rate(job, rate.per_second(), writes)?;
        }
        job.pace.is_poisson = self.rate.is_some() && self.is_constant != Some(true);
        job.syncs.every = self.flush_every.unwrap_or(0);
        job.syncs.data_every = self.data_flush_every.unwrap_or(0);
        job.syncs.range_every = self.write_out_every.unwrap_or(0);
        job.syncs.range_steps.writes = true;
        let syncs = job.syncs;
        let periods = [syncs.every, syncs.data_every, syncs.range_every];
        if periods.iter().filter(|every| **every > 0).count() > 1 {
            return Err("use one of flush-every, data-flush-every and write-out-every".into());
        }
        if self.trims {
            if writes > 0 {
                return Err("trims: leave writes out. All operations are trims".into());
            }
            job.pattern.directions = fio::Directions::Trim;
            // The rate is that of the only kind there is.
            job.pace.rates = [None, None, job.pace.rates[0]];
        }
        if self.rate.is_some() && job.think.time > Duration::ZERO {
            return Err("think: leave it out, or rate, which does not wait for answers".into());
        }
        job.syncs.each = self.durable.then_some(EachWrite::Sync);
        Ok(())
    }

    fn put_course(&self, job: &mut Job, longest: LongestRun) -> Result<(), String> {
        let limits = &mut job.limits;
        limits.delay = self.start.unwrap_or_default();
        let left = longest.saturating_sub(limits.delay);
        limits.runtime = self.duration.unwrap_or(left);
        if limits.runtime == Duration::ZERO {
            return Err(format!(
                "start: the trial ends after {longest}, before it begins"
            ));
        }
        limits.requests = self.operations;
        limits.is_time_based = true;
        if let Some(loops) = self.loops {
            if self.bytes.is_some() || self.operations.is_some() {
                return Err("loops: leave it out, or bytes and operations".into());
            }
            limits.loops = loops;
            limits.is_time_based = false;
            return Ok(());
        }
        if let Some(bytes) = self.bytes {
            job.io_size = Some(Amount::Bytes(bytes.0));
            job.limits.is_time_based = false;
        } else if let Some(operations) = self.operations {
            // number_ios ends no time_based job, and size would end it before.
            let most = job.blocks.iter().map(BlockSizes::most).max().unwrap_or(1);
            job.io_size = Some(Amount::Bytes(operations.saturating_mul(most)));
            job.limits.is_time_based = false;
        }
        Ok(())
    }

    fn put_content(&self, job: &mut Job) {
        let buffers = &mut job.buffers;
        buffers.are_zeroes = self.zeroes;
        buffers.compress_percent = self.compressible;
        buffers.dedupe_percent = self.duplicate;
        buffers.are_refilled = buffers.compress_percent + buffers.dedupe_percent > 0;
        job.verify.is_on = self.verify;
    }

    /// Whether it begins late or ends by itself.
    pub const fn has_own_course(&self) -> bool {
        self.start.is_some()
            || self.duration.is_some()
            || self.bytes.is_some()
            || self.operations.is_some()
            || self.loops.is_some()
    }
}

/// A share as whole percent.
///
/// # Errors
/// When it is none.
pub fn whole_percent(text: &str) -> Result<u32, String> {
    let share = units::parse_percent(text).map_err(|error| error.to_string())?;
    let percent = share * 100.0;
    match (0.0..=100.0).contains(&percent) && (percent - percent.round()).abs() < 1e-6 {
        true => Ok(percent.round() as u32),
        false => Err(format!("{text} is not a whole percentage from 0% to 100%")),
    }
}

/// One size, sizes with their percentages, or a range.
///
/// # Errors
/// When it is none of them.
pub fn block_sizes(text: &str) -> Result<BlockSizes, String> {
    let bytes = |text: &str| {
        let read = text.trim().parse::<Bytes>();
        read.map_err(|error| error.to_string())
    };
    // A sign in front begins no range.
    let range = text
        .split_once('-')
        .filter(|(least, _)| !least.trim().is_empty());
    if let Some((least, most)) = range {
        return BlockSizes::between(bytes(least)?.0, bytes(most)?.0);
    }
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, "100"));
        let bytes = bytes(size)?;
        let weight = percent.trim().trim_end_matches('%').parse::<u8>();
        let weight = weight.map_err(|_| format!("{percent:?} is no percentage"))?;
        if bytes.0 == 0 || bytes.0 > 1 << 30 {
            return Err(format!("{part}: a block has 1 byte to 1 GiB"));
        }
        sizes.push(fio::SizeShare {
            bytes: bytes.0,
            weight: weight.into(),
        });
    }
    let sum: u64 = sizes.iter().map(|it| it.weight).sum();
    match sum {
        100 => Ok(BlockSizes { sizes }),
        sum => Err(format!(
            "{text}: the percentages add up to {sum}, not to 100"
        )),
    }
}

fn blank_job(name: &str) -> Job {
    let file = name.into();
    Job::new(name, &JobFilePosition { file, line: 0 })
}

fn put_pattern(job: &mut Job, text: &str, writes: u32) -> Result<(), String> {
    use fio::Directions::{Mixed, Read, Write};
    job.pattern.directions = match writes {
        0 => Read,
        100 => Write,
        _ => Mixed,
    };
    let (word, after) = text.split_once(':').unwrap_or((text, ""));
    let number = || {
        after
            .parse()
            .map_err(|_| format!("{text}: write {word}:NUMBER"))
    };
    job.pattern.is_random = word != "sequential";
    job.may_repeat = ["uniform", "random"].contains(&word);
    job.distribution = match word {
        "sequential" | "uniform" | "once" => Distribution::Uniform,
        "random" => {
            let percent = whole_percent(&format!("{}%", after.trim_end_matches('%')))?;
            job.random_percent = [percent; 3];
            Distribution::Uniform
        }
        "zipf" => Distribution::zipf(number()?)?,
        "pareto" => Distribution::pareto(number()?)?,
        "normal" => Distribution::normal(number()?)?,
        "zoned" => Distribution::zoned(after)?,
        _ => {
            return Err(format!(
                "{word:?} is none of sequential, uniform, once, random:PERCENT, zipf, pareto, \
                 normal, zoned"
            ));
        }
    };
    Ok(())
}

/// Reads and writes have rates of their own, in whole operations per second.
fn put_rate(job: &mut Job, per_second: f64, writes: u32) -> Result<(), String> {
    let share = f64::from(writes) / 100.0;
    for (rate, part) in job.pace.rates.iter_mut().zip([1.0 - share, share]) {
        let own = per_second * part;
        if part > 0.0 && (own < 1.0 || (own - own.round()).abs() > 1e-6) {
            return Err(format!(
                "rate: reads and writes get whole operations per second here, and {own:.3}/s is not"
            ));
        }
        *rate = (part > 0.0).then_some(RateLimit::Requests(own.round() as u64));
    }
    // What may be outstanding when the storage falls behind.
    job.depth = job.depth.max(RATE_DEPTH);
    Ok(())
}

/// Requests outstanding at most of a workload with a rate.
const RATE_DEPTH: u32 = 256;

#[cfg(test)]
mod tests {
    use super::read_workloads;

    /// `pattern = "zipf:0"` and percentages that wrapped around to 100 were once taken here, and
    /// ended in a panic: the bounds stood in fio's reader alone. So were
    /// clients that filled memory.
    #[test]
    fn laws_and_percentages_have_their_bounds_here_too() {
        let numbers = ["0", "-0", "-0.0", "nan", "inf", "1e400", "-1", "1e-400", ""];
        let laws = ["zipf", "pareto", "normal"];
        let patterns = laws.map(|law| numbers.map(|it| format!("pattern = \"{law}:{it}\"")));
        let blocks = ["4KiB/18446744073709551615:4KiB/101", "4KiB/300", "4KiB/-1"];
        let blocks = blocks.map(|it| format!("block = \"{it}\""));
        let clients = ["clients = 4294967295".to_owned()];
        for line in patterns.iter().flatten().chain(&blocks).chain(&clients) {
            let text = format!("[[workload]]\n{line}\n");
            let error = read_workloads("z.toml", &text).expect_err(line).to_string();
            assert!(error.starts_with("z.toml:2: "), "{line}: {error}");
        }
    }

    /// Bug: "a size is missing", as if it were the range from nothing to 1.
    #[test]
    fn a_negative_block_is_named() {
        let text = "[[workload]]\nblock = \"-1\"\n";
        let error = read_workloads("z.toml", text)
            .expect_err("no block")
            .to_string();
        let expected = "z.toml:2: block: a size cannot be negative (\"-1\"). ";
        assert!(error.starts_with(expected), "{error}");
    }
}
