//! Resolves sections to jobs: each option is checked, answered, and applied.

use crate::blocks::{BlockSizes, fixed, range, split, triplet};
use crate::buffers::pattern_bytes;
use crate::conflict::{conflicts, settle};
use crate::engines::engine;
use crate::fault::Fault;
use crate::job::{
    Amount, EachWrite, FileHint, FileOrder, Job, JobFiles, RangeSteps, RateLimit,
    ReportedDirections,
};
use crate::number::{KbBase, TimeUnit, size, time};
use crate::option::{OptionSupport, truth};
use crate::pattern::{Distribution, RwPattern};
use crate::reader::{Given, JobFile, JobSection};
use crate::steady::SteadyCriterion;
use crate::verify::is_method_on;
use std::sync::Arc;

use units::{Duration, TargetName};

/// Maximum number of copies of all jobs.
const COPIES_MAX: u32 = 1 << 20;
/// Maximum depth of a copy.
const DEPTH_MAX: u32 = 1 << 16;
/// Maximum number of percentiles in fio.
const PERCENTILES_MAX: usize = 20;

/// A resolved job file.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// In file order.
    pub jobs: Vec<Job>,
    /// Errors and refusals, in file order.
    pub faults: Vec<Fault>,
}

/// The jobs of a file, restricted to the sections with these names, if any are given.
pub fn resolve(file: &JobFile, wanted: &[String]) -> Resolved {
    let mut found = Resolved {
        jobs: Vec::new(),
        faults: file.faults.clone(),
    };
    let mut global: Vec<Given> = Vec::new();
    for section in &file.sections {
        if section.is_global {
            global.extend(section.given.iter().cloned());
        } else if wanted.is_empty() || wanted.contains(&section.name) {
            found.take(section, &global);
        }
    }
    found.faults.extend(settle(&mut found.jobs));
    let mut reported = Vec::new();
    found.faults.retain(|fault| {
        let is_new = !reported.contains(fault);
        reported.push(fault.clone());
        is_new
    });
    found
}

/// An error for each requested name without a section in the files.
pub fn unknown_sections(files: &[JobFile], wanted: &[String]) -> Vec<Fault> {
    let sections = || files.iter().flat_map(|file| &file.sections);
    let Some(first) = sections().next() else {
        return Vec::new();
    };
    let unknown = wanted
        .iter()
        .filter(|name| !sections().any(|it| it.name == **name));
    let message = |name| format!("--section {name}: there is no such section");
    unknown
        .map(|name| Fault::new(&first.place, message(name)))
        .collect()
}

impl Resolved {
    fn take(&mut self, section: &JobSection, global: &[Given]) {
        let mut job = Job::new(&section.name, &section.place);
        // fio names jobs after their sections, whatever `[global]` says.
        let global = global.iter().filter(|it| it.option.name != "name");
        job.given = global.chain(&section.given).cloned().collect();
        let mut base = KbBase::default();
        let based = job.given.iter().map(|given| {
            base = base_after(base, given);
            (given.clone(), base)
        });
        let mut based: Vec<(Given, KbBase)> = based.collect();
        // As in fio, bs is no size of a job that has a range or a split, wherever it stands.
        based.sort_by_key(|(given, _)| ["bsrange", "bssplit"].contains(&given.option.name));
        for (given, base) in based {
            if let Err(mut message) = set(&mut job, &given, base) {
                if let Some(name) = &given.unset {
                    message.push_str(&format!(". The environment variable {name} is not set"));
                }
                self.faults.push(Fault::new(&given.place, message));
            }
        }
        if job.depth > DEPTH_MAX || job.copies > COPIES_MAX {
            let message = format!(
                "[{}]: iodepth is at most {DEPTH_MAX}, numjobs at most {COPIES_MAX}",
                job.name
            );
            self.faults.push(Fault::new(&section.place, message));
        }
        self.faults.extend(conflicts(&job));
        if job.copies > 0 {
            self.jobs.push(job);
        }
    }
}

/// Meaning of `k` after this option.
fn base_after(base: KbBase, given: &Given) -> KbBase {
    match (given.option.name, given.value.as_deref()) {
        ("kb_base", Some("1000")) => KbBase::Decimal,
        ("kb_base", _) => KbBase::Binary,
        _ => base,
    }
}

/// Whether the value of an option is the same as its absence.
pub(crate) fn is_off(given: &Given) -> bool {
    let off = ["0", "none", "false", "sequential", "inline", "0%"];
    match (given.option.name, given.value.as_deref()) {
        (_, None) => false,
        ("replay_scale", Some(value)) => ["0", "1"].contains(&value),
        ("replay_time_scale", Some(value)) => value == "100",
        (_, Some(value)) => off.contains(&value),
    }
}

/// Checks an option and applies its value to the job.
pub(crate) fn set(job: &mut Job, given: &Given, base: KbBase) -> Result<(), String> {
    let name = given.option.name;
    let text = given.value.as_deref();
    let shown = text.map_or_else(|| name.to_owned(), |text| format!("{name}={text}"));
    let checked = given.option.value.check(text, base);
    let fault = |why: String| {
        let repeated = text.map(|text| format!("{text}: "));
        let own = repeated.and_then(|text| why.strip_prefix(&text));
        format!("{shown}: {}", own.unwrap_or(&why))
    };
    checked.map_err(fault)?;
    match given.option.answer {
        OptionSupport::NoEffect(_) => return Ok(()),
        OptionSupport::Refused(_) | OptionSupport::OfEngine(_) if is_off(given) => return Ok(()),
        OptionSupport::Refused(why) => return Err(format!("{shown} is refused: {why}")),
        OptionSupport::OfEngine(engine) => {
            return Err(format!(
                "{shown} is refused: it belongs to the engine {engine}, which is not supported"
            ));
        }
        OptionSupport::Done(_) => {}
    }
    let value = ResolvedValue {
        name,
        text: text.unwrap_or("1"),
        bytes: given.pattern.as_ref(),
        log: given.log.as_ref(),
        base,
    };
    let done = place(job, &value)
        .and_then(|done| Ok(done || load(job, &value)?))
        .and_then(|done| Ok(done || amount(job, &value)?))
        .and_then(|done| Ok(done || content(job, &value)?))
        .and_then(|done| Ok(done || verification(job, &value)?))
        .and_then(|done| Ok(done || course(job, &value)?))
        .and_then(|done| Ok(done || job.priorities.set(name, value.text, base)?))
        .and_then(|done| Ok(done || job.reports.logs.set(given, || value.size())?))
        .map_err(fault)?;
    assert!(done, "{name} is answered as done, and nothing sets it");
    Ok(())
}

/// Value of an option being parsed.
struct ResolvedValue<'a> {
    name: &'a str,
    text: &'a str,
    /// The bytes of a pattern that names a file.
    bytes: Option<&'a Vec<u8>>,
    /// The text of a log.
    log: Option<&'a Arc<str>>,
    base: KbBase,
}

impl ResolvedValue<'_> {
    fn truth(&self) -> Result<bool, String> {
        truth(self.text)
    }

    fn size(&self) -> Result<u64, String> {
        size(self.text, self.base)
    }

    fn pattern(&self) -> Result<Vec<u8>, String> {
        match self.bytes {
            Some(bytes) => Ok(bytes.clone()),
            None => pattern_bytes(self.text, &mut |path| Err(format!("{path} was not read"))),
        }
    }

    fn count(&self) -> Result<u32, String> {
        u32::try_from(self.size()?).map_err(|_| "it is too large".into())
    }

    fn amount(&self) -> Result<Amount, String> {
        match self.text.strip_suffix('%') {
            // fio reads no further than the first sign.
            Some(percent) => {
                let percent = percent.trim_end_matches('%');
                Ok(Amount::Percent(size(percent, self.base)?))
            }
            None => Ok(Amount::Bytes(self.size()?)),
        }
    }

    fn sizes(&self, into: &mut [BlockSizes; 3]) -> Result<(), String> {
        let read = match self.name {
            "bs" => fixed,
            "bsrange" => range,
            _ => split,
        };
        let parts = read(self.text, self.base)?;
        for (old, new) in into.iter_mut().zip(parts) {
            if let Some(new) = new {
                *old = new;
            }
        }
        Ok(())
    }

    /// Stores the values for reads, writes and trims in `values`.
    fn each_into(&self, values: &mut [u64; 3]) -> Result<(), String> {
        for (old, new) in values.iter_mut().zip(self.each()?) {
            *old = new.unwrap_or(*old);
        }
        Ok(())
    }

    /// The values for reads, writes and trims.
    fn each(&self) -> Result<[Option<u64>; 3], String> {
        let [read, write, trim] = triplet(self.text)?;
        let value = |part: Option<&str>| part.map(|part| size(part, self.base)).transpose();
        Ok([value(read)?, value(write)?, value(trim)?])
    }
}

/// As in fio, each `filename` adds to earlier ones, including those of `[global]`, and is in the
/// first directory named by then.
fn add_names(job: &mut Job, text: &str) {
    let files = &mut job.files;
    // A colon of a model or the null target does not separate names.
    let target = TargetName::from(text);
    if target.is_model() || target.is_null() {
        return files.names.push(text.to_owned());
    }
    let directory = files.directories.first();
    let placed = |name: String| match directory {
        Some(directory) => format!("{directory}/{name}"),
        None => name,
    };
    files.names.extend(names(text).into_iter().map(placed));
}

/// Names separated by colons; `\:` is a colon.
fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                letters.next();
                names.last_mut().expect("one at least").push(':');
            }
            ':' => names.push(String::new()),
            letter => names.last_mut().expect("one at least").push(letter),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Options about files.
fn place(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    match value.name {
        "name" => value.text.clone_into(&mut job.name),
        "filename" => {
            add_names(job, value.text);
            if job.files.names.is_empty() {
                return Err("it names no file".into());
            }
        }
        "directory" => job.files.directories = names(value.text),
        "filename_format" => value.text.clone_into(&mut job.files.format),
        "nrfiles" => job.files.count = value.count()?,
        "openfiles" => job.files.open = value.count()?,
        "fill_device" => job.files.fill = value.truth()?,
        "unlink" => job.files.are_removed = value.truth()?,
        "allow_file_create" => job.files.may_be_made = value.truth()?,
        "filesize" => {
            let (least, most) = match value.text.split_once(['-', ',']) {
                Some((least, most)) => (size(least, value.base)?, size(most, value.base)?),
                None => (value.size()?, value.size()?),
            };
            if least > most {
                return Err("the first size is above the second".into());
            }
            job.files.each = Some((least, most));
        }
        "file_service_type" => file_order(&mut job.files, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Choice of the next file, and the number of requests: `random:16`.
fn file_order(files: &mut JobFiles, value: &ResolvedValue<'_>) -> Result<(), String> {
    let (order, run) = value.text.split_once(':').unwrap_or((value.text, "1"));
    files.order = match order {
        "roundrobin" => FileOrder::RoundRobin,
        "random" => FileOrder::Random,
        "sequential" => FileOrder::Sequential,
        other => {
            return Err(format!(
                "{other:?} is not supported, but roundrobin, random and sequential are"
            ));
        }
    };
    let run = size(run, value.base)?;
    files.run = u32::try_from(run).map_err(|_| "it is too large")?.max(1);
    Ok(())
}

/// Options about requests.
fn load(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    match value.name {
        "ioengine" => job.engine = engine(value.text)?,
        "rw" => job.pattern = RwPattern::parse(value.text, value.base)?,
        "direct" => job.is_direct = value.truth()?,
        "buffered" => job.is_direct = !value.truth()?,
        "bs" | "bsrange" | "bssplit" => value.sizes(&mut job.blocks)?,
        "ba" => {
            job.alignment = value.each()?;
            if job.alignment.contains(&Some(0)) {
                return Err("an alignment has at least one byte".into());
            }
        }
        "bs_is_seq_rand" => job.sizes_by_order = value.truth()?,
        "iodepth" => job.depth = value.count()?.max(1),
        "numjobs" => job.copies = value.count()?,
        "iodepth_low" => job.refill_at = Some(value.count()?).filter(|low| *low > 0),
        "io_submit_mode" => job.is_offloaded = value.text == "offload",
        // Their values are checked when the whole job is known.
        "iodepth_batch_complete_min"
        | "serialize_overlap"
        | "unlink_each_loop"
        | "exit_what"
        | "stat_type" => {}
        "rwmixread" => job.read_percent = value.count()?,
        "rwmixwrite" => job.read_percent = 100 - value.count()?,
        "norandommap" => job.may_repeat = value.truth()?,
        "random_generator" => job.draws_once = value.text == "lfsr",
        "percentage_random" => {
            for (old, new) in job.random_percent.iter_mut().zip(value.each()?) {
                *old = new.map_or(*old, |new| new as u32);
            }
        }
        "random_distribution" => job.distribution = Distribution::parse(value.text, value.base)?,
        "fsync" => job.syncs.every = value.size()?,
        "fdatasync" => job.syncs.data_every = value.size()?,
        "sync_file_range" => {
            let (steps, every) = RangeSteps::parse(value.text)?;
            (job.syncs.range_steps, job.syncs.range_every) = (steps, every);
        }
        "end_fsync" | "fsync_on_close" => job.syncs.at_end = value.truth()?,
        "sync" => {
            job.syncs.each = match value.text {
                "none" | "0" => None,
                "dsync" => Some(EachWrite::DataSync),
                _ => Some(EachWrite::Sync),
            }
        }
        "fadvise_hint" => {
            job.hint = match value.text {
                "0" => FileHint::None,
                "random" => FileHint::Random,
                "sequential" => FileHint::Sequential,
                _ => FileHint::AsRequested,
            }
        }
        "invalidate" => job.drops_cache = value.truth()?,
        "read_iolog" => job.replay.log = value.log.cloned(),
        "replay_no_stall" => job.replay.is_unpaced = value.truth()?,
        "replay_redirect" => job.replay.redirect = Some(value.text.to_owned()),
        "pre_read" => job.is_read_before = value.truth()?,
        "create_only" => job.only_creates = value.truth()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options about amount and region.
fn amount(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    match value.name {
        "size" => job.size = Some(value.amount()?),
        "io_size" => job.io_size = Some(value.amount()?).filter(|it| *it != Amount::Bytes(0)),
        "offset" => job.offset = value.amount()?,
        "offset_increment" => job.offset_increment = value.amount()?,
        "number_ios" => job.limits.requests = Some(value.size()?).filter(|count| *count > 0),
        "loops" => job.limits.loops = value.size()?.max(1),
        "rate" => {
            for (old, new) in job.pace.rates.iter_mut().zip(value.each()?) {
                *old = new.filter(|rate| *rate > 0).map(RateLimit::Bytes).or(*old);
            }
        }
        "rate_iops" => {
            for (old, new) in job.pace.rates.iter_mut().zip(value.each()?) {
                *old = new
                    .filter(|rate| *rate > 0)
                    .map(RateLimit::Requests)
                    .or(*old);
            }
        }
        "rate_min" => value.each_into(&mut job.pace.least.bytes)?,
        "rate_iops_min" => value.each_into(&mut job.pace.least.requests)?,
        "rate_cycle" => job.pace.least.cycle = Duration::from_millis(value.size()?),
        "flow_id" => job.flow.id = value.count()?,
        "flow" => job.flow.weight = value.count()?,
        "flow_sleep" => job.flow.sleep = Duration::from_micros(value.size()?),
        _ => return zones(job, value),
    }
    Ok(true)
}

fn zones(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    let zones = &mut job.zones;
    match value.name {
        "zonemode" if value.text == "zbd" => {
            return Err("zoned devices are not supported, but strided is".into());
        }
        "zonemode" => zones.are_strided = value.text == "strided",
        "zonesize" => zones.bytes = value.size()?,
        "zonerange" => zones.range = value.size()?,
        "zoneskip" => zones.skip = value.amount()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options about content.
fn content(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    let buffers = &mut job.buffers;
    match value.name {
        "zero_buffers" => buffers.are_zeroes = value.truth()?,
        "refill_buffers" => buffers.are_refilled = value.truth()?,
        "scramble_buffers" => buffers.are_scrambled = value.truth()?,
        "buffer_pattern" => buffers.pattern = Some(value.pattern()?),
        "buffer_compress_percentage" => buffers.compress_percent = value.count()?,
        "buffer_compress_chunk" => buffers.compress_chunk = value.count()?,
        "dedupe_percentage" => buffers.dedupe_percent = value.count()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options about verification.
fn verification(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    let verify = &mut job.verify;
    match value.name {
        "verify" => verify.is_on = is_method_on(value.text)?,
        "do_verify" => verify.reads_back = value.truth()?,
        "verify_fatal" => verify.is_fatal = value.truth()?,
        "verify_pattern" => verify.pattern = Some(value.pattern()?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Options about timing and reports.
fn course(job: &mut Job, value: &ResolvedValue<'_>) -> Result<bool, String> {
    let seconds = || time(value.text, TimeUnit::Seconds);
    match value.name {
        "runtime" => job.limits.runtime = seconds()?,
        "time_based" => job.limits.is_time_based = value.truth()?,
        "ramp_time" => job.limits.ramp = seconds()?,
        "startdelay" => {
            if value.text.contains(['-', ',']) {
                return Err("a range of delays is not supported. Give one".into());
            }
            job.limits.delay = seconds()?;
        }
        "rate_process" => job.pace.is_poisson = value.text == "poisson",
        "thinktime" => job.think.time = time(value.text, TimeUnit::Microseconds)?,
        "rate_ignore_thinktime" => job.think.stops_rates = value.truth()?,
        "thinktime_blocks_type" => job.think.counts_issued = value.text == "issue",
        "thinktime_blocks" => job.think.after = value.count()?.max(1),
        "group_reporting" => job.reports.is_grouped = value.truth()?,
        "steadystate" => job.steady.criterion = SteadyCriterion::parse(value.text, value.base)?,
        "steadystate_duration" => job.steady.duration = seconds()?,
        "steadystate_ramp_time" => job.steady.ramp = seconds()?,
        "steadystate_check_interval" => job.steady.interval = seconds()?,
        "exitall" => job.ends_all = value.truth()?,
        "continue_on_error" => job.outlives_errors = !["none", "0"].contains(&value.text),
        "new_group" => job.begins_group = value.truth()?,
        "stonewall" => job.is_behind_wall = value.truth()?,
        "wait_for" => job.waits_for = Some(value.text.to_owned()),
        "percentile_list" => {
            let numbers = value
                .text
                .split(':')
                .filter_map(|it| it.trim().parse().ok());
            let numbers: Vec<f64> = numbers.collect();
            let are_shares = numbers.iter().all(|it| (0.0..=100.0).contains(it));
            if numbers.len() > PERCENTILES_MAX || !are_shares {
                return Err(format!("{PERCENTILES_MAX} numbers from 0 to 100 at most"));
            }
            job.reports.percentiles = numbers;
        }
        "slat_percentiles" => job.reports.percentiles_of.submission = value.truth()?,
        "clat_percentiles" => job.reports.percentiles_of.completion = value.truth()?,
        "lat_percentiles" => job.reports.percentiles_of.whole = value.truth()?,
        "unified_rw_reporting" => {
            job.reports.directions = match value.text {
                "mixed" | "1" => ReportedDirections::Together,
                "both" | "2" => ReportedDirections::Both,
                _ => ReportedDirections::Apart,
            };
        }
        "kb_base" => {}
        _ => return Ok(false),
    }
    Ok(true)
}
