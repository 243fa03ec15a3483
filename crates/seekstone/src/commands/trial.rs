//! `seekstone trial`: one load with fixed settings.

use std::path::PathBuf;

use drivers::{Caching, DriverKind, Notice};
use kinds::depth::{closed_depth, open_depth};
use kinds::single_load::{LoadQuestion, LoadRequest, measure_load};
use kinds::stage::Show;
use lab::bench::BenchRequest;
use results::{Setup, percentile_name};
use stats::{Aim, Goal, samples_for};
use units::{
    Duration, Rate, TargetName, exact_percent, format_count, format_counted, format_duration_ns,
};
use verify::SECTOR_BYTES;
use workload::{
    AddressSpec, Durability, Gap, Mix, MixSpec, Pacing, Partition, Pattern, Region, TargetId,
    WalkStart,
};

use crate::args::parse::TrialPrecision;
use crate::args::{TRIAL_BUDGET, TrialArgs, WorkloadArgs};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::trial_targets::print_as_fio;
use crate::commands::{trial_iolog, trial_repeat, trial_targets};
use crate::exit::{Exit, UsageError};
use crate::output;

/// Test files are written in blocks of 2 to the power of this.
const FILL_BLOCK_BITS: u32 = 20;
/// Shares are drawn as whole parts of this.
const MIX_PARTS: f64 = 10_000.0;

impl MeasuringCommand for TrialArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let targets = self.others.iter().chain([&self.target]);
        let read = self.verify_state.iter().chain(&self.workload_file);
        let undrawn = "a trial is drawn over time: add --interval 1s";
        CommandOutline::of(&self.common, targets, self.workload.sharing)
            .alone(
                self.interval.is_some(),
                "--interval lists what one host did",
            )
            .refused_if(one_target(&self.others, self.workload_file.as_ref()))
            .alone(self.iolog.is_some(), "--iolog logs what one host did")
            .alone(self.repeat > 1, "--repeat measures on one host")
            .dealt("--depth", "request", self.depth)
            .alone(self.verify, "--verify reads back on one host")
            .dealt("--clients", "client", self.clients)
            .writes("--iolog", self.iolog.as_ref())
            .reads(read.cloned())
            .rows([])
            .drawn(self.interval.is_none().then_some(undrawn))
    }

    fn instead(&self, setup: &mut Setup) -> anyhow::Result<Option<Exit>> {
        match (self.as_fio, self.repeat) {
            (true, _) => print_as_fio(self).map(Some),
            (false, 1) => Ok(None),
            (false, _) => trial_repeat::repeat(self, setup).map(Some),
        }
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let args = self;
        setup.resolve("clients", [args.clients().to_string()]);
        depth_is_reached(args)?;
        let mut bench = args
            .reach
            .bench(&args.target, "trial", &args.common, setup)?;
        bench.size = args.workload.size;
        bench.storage.caching = caching(args.workload.buffered);
        let all = std::iter::once(&args.target).chain(&args.others);
        let mut time = TRIAL_BUDGET.fit(args.budget, all, &mut bench.setup);
        let is_one = args.others.is_empty() && args.workload_file.is_none();
        if let Some(rate) = args.rate.filter(|_| is_one && args.duration.is_none()) {
            let arrivals = (&args.target, rate.per_second());
            time = TRIAL_BUDGET.fit_arrivals(time, arrivals, &mut bench.setup);
        }
        warm_up_leaves(args, time)?;
        if !is_one {
            return trial_targets::ready(args, bench, time);
        }
        reach_as_asked(&args.workload, &mut bench)?;
        if args.verify {
            bench.storage.verify_unit = Some(verify_unit(&args.target, &args.workload)?);
            bench.storage.verify_state.clone_from(&args.verify_state);
        }
        let pacing = match args.rate {
            Some(rate) => Pacing::Open {
                gap: Gap {
                    shape: args.workload.shape,
                    mean_ns: rate.mean_gap_ns() * f64::from(args.clients()),
                },
            },
            None => think(&args.workload),
        };
        let depth = depth(args, bench.storage.driver);
        let (goal, duration_max) = ends(args, time);
        announce(args, time);
        let request = LoadRequest {
            bench,
            spec: spec(&args.workload, pacing)?,
            subject: title(&args.workload, None),
            title: title(
                &args.workload,
                Some((args.clients(), args.rate.map(|rate| rate.per_second()))),
            ),
            question: LoadQuestion::Trial {
                clients: args.clients(),
                depth,
                goal,
                duration_max,
                sample_every: args.interval,
                warm_up: args.warm_up,
            },
            goals: args.common.goals.clone(),
            follower: None,
        };
        let bench = request.bench.clone();
        let measure = move |interrupt: &_, show: Show<'_>| match &args.iolog {
            Some(iolog) => trial_iolog::measure(iolog, request, interrupt, show),
            None => Ok(measure_load(&request, interrupt, show)?),
        };
        Ok(Ready::new(&args.common, &bench, measure))
    }
}

/// Workloads side by side are dealt to the workers of one host.
pub fn one_target(others: &[TargetName], workload: Option<&PathBuf>) -> Option<String> {
    let is_one = others.is_empty() && workload.is_none();
    (!is_one).then(|| {
        "several ranks measure one target with one workload: name one target, or start it without \
         a launcher"
            .into()
    })
}

/// Each client of a closed loop has one operation at a time, so that a higher limit does nothing:
/// who sets one means fio's iodepth.
fn depth_is_reached(args: &TrialArgs) -> Result<(), UsageError> {
    let is_closed = args.rate.is_none() && args.workload_file.is_none();
    match args.depth {
        Some(depth) if is_closed && depth > args.clients() => Err(UsageError(format!(
            "--depth {depth} with {}: a client has one operation outstanding at a time. The \
             queue depth would stay at {}. For fio's iodepth={depth}, use --clients {depth}",
            format_counted(args.clients().into(), "client"),
            args.clients()
        ))),
        _ => Ok(()),
    }
}

/// A warm-up has to leave of a trial some that counts.
fn warm_up_leaves(args: &TrialArgs, budget: Duration) -> Result<(), UsageError> {
    let (option, time) = match args.duration {
        Some(duration) => ("--duration", duration),
        None => ("--budget", budget),
    };
    warm_up_ends(args.warm_up, option, time)
}

/// When the answer is good enough, and when to stop in any case: after `budget`, unless for how
/// long was said.
pub fn ends(args: &TrialArgs, budget: Duration) -> (Option<Goal>, Duration) {
    match args.duration {
        Some(duration) => (None, duration),
        None => {
            let TrialPrecision { width, percentile } = args.precision;
            let mut goal = Goal {
                aim: percentile.map_or(Aim::TimeAndLoad, Aim::Percentile),
                ..Goal::result(width)
            };
            let floor = budget.as_nanos() / 10;
            goal.duration_min_ns = goal.duration_min_ns.min(floor);
            (Some(goal), budget)
        }
    }
}

/// Tell about how long it takes until a percentile is as precise as asked for.
pub fn announce(args: &TrialArgs, budget: Duration) {
    let asked = args.duration.is_none() && !args.common.quiet;
    if let Some(share) = args.precision.percentile.filter(|_| asked) {
        let rate = args.rate.map(Rate::per_second);
        output::complain(&plan(share, args.precision, rate, budget));
    }
}

/// That takes operations; the time is known where their rate is.
fn plan(share: f64, precision: TrialPrecision, rate: Option<f64>, budget: Duration) -> String {
    let operations = samples_for(share, precision.width);
    let (seconds, budget) = (budget.as_secs_f64(), budget.to_exact_string());
    let time = |seconds: f64| format_duration_ns(seconds * 1e9);
    let takes = match rate {
        Some(rate) if operations > rate * seconds => format!(
            ", {} at the rate offered: --budget {budget} is too short",
            time(operations / rate)
        ),
        Some(rate) => format!(", {} at the rate offered", time(operations / rate)),
        None => format!(
            ". --budget {budget} is enough from {} IOPS on",
            format_count(operations / seconds)
        ),
    };
    format!(
        "{} to {}: about {} independent operations{takes} (correlated latencies take more)",
        percentile_name(share),
        exact_percent(precision.width),
        format_count(operations),
    )
}

/// Requests outstanding, as asked for or as the load takes.
fn depth(args: &TrialArgs, driver: DriverKind) -> u32 {
    let least = closed_depth(driver, args.clients(), args.workload.block);
    args.depth.unwrap_or_else(|| match args.rate {
        Some(rate) => open_depth(driver, least, rate.per_second(), args.workload.block),
        None => least,
    })
}

/// The blocks in which writes are verified: test files are written in other sizes, too.
///
/// # Errors
/// When the target holds no data, is only read, or blocks are not whole sectors.
fn verify_unit(target: &TargetName, workload: &WorkloadArgs) -> Result<u64, UsageError> {
    let Some(place) = target.path() else {
        refuse!("--verify: {target} holds no data. Name a directory, a file or a device");
    };
    if workload.writes == 0.0 && place.exists() && !place.is_dir() {
        refuse!(
            "--verify checks what the trial wrote, and of {target} it only reads. Add --writes 50% \
             --overwrite, or check what an earlier trial wrote with `seekstone verify STATE`"
        );
    }
    let block = workload.block;
    let sector = SECTOR_BYTES as u64;
    let unit = 1 << block.0.trailing_zeros().min(FILL_BLOCK_BITS);
    match block.0 >= sector && block.0.is_multiple_of(sector) {
        true => Ok(unit),
        false => Err(UsageError(format!(
            "--verify needs blocks of whole {sector}-byte sectors, and --block {block} \
             is not"
        ))),
    }
}

/// A warm-up has to leave of the `time` of an option some that counts.
pub fn warm_up_ends(
    warm_up: Option<Duration>,
    option: &str,
    time: Duration,
) -> Result<(), UsageError> {
    match warm_up {
        Some(warm_up) if warm_up >= time => Err(UsageError(format!(
            "--warm-up {warm_up}: nothing would be left of {option} {time}. \
             Use a longer {option} or a shorter --warm-up"
        ))),
        _ => Ok(()),
    }
}

/// Whether the page cache takes part.
pub const fn caching(is_buffered: bool) -> Caching {
    match is_buffered {
        true => Caching::Buffered,
        false => Caching::Direct,
    }
}

/// Several test files and polled completion, where they are asked for.
///
/// # Errors
/// When the target has no files, or what carries requests out cannot poll.
pub fn reach_as_asked(args: &WorkloadArgs, bench: &mut BenchRequest) -> Result<(), UsageError> {
    if bench.target.is_null() && args.files > 1 {
        refuse!("--files: {} has no files", bench.target);
    }
    bench.storage.test_files = args.files;
    if !args.poll {
        return Ok(());
    }
    if bench.target.is_null() {
        refuse!("--poll: {} has no device to poll", bench.target);
    }
    if bench.storage.driver == DriverKind::Threads {
        refuse!("--poll needs io_uring: leave out --driver threads");
    }
    bench.storage.driver = DriverKind::Uring;
    bench.storage.notice = Notice::Poll;
    Ok(())
}

/// The pacing of clients that think.
pub fn think(args: &WorkloadArgs) -> Pacing {
    let think = match args.think.as_nanos() {
        0 => Gap::NONE,
        _ => Gap::new(args.shape, args.think),
    };
    Pacing::Closed { think }
}

/// What one client does; the region is filled in once the target is known.
///
/// # Errors
/// When options do not go together.
pub fn spec(args: &WorkloadArgs, pacing: Pacing) -> Result<MixSpec, UsageError> {
    let len = u32::try_from(args.block.as_u64())
        .ok()
        .filter(|&len| len <= 1 << 30)
        .ok_or_else(|| UsageError(format!("--block {}: at most 1 GiB", args.block)))?;
    if args.durable && args.writes == 0.0 {
        refuse!("--durable applies to writes: add --writes 100%");
    }
    let write = (args.writes * MIX_PARTS).round() as u32;
    let region = Region::first(TargetId(0), 0, len.into());
    let addresses = AddressSpec {
        region,
        partition: args.partition,
        pattern: args.pattern,
        start: match args.pattern {
            Pattern::Sequential { .. } if args.partition != Partition::Contending => {
                WalkStart::First
            }
            _ => WalkStart::Random,
        },
    };
    let mix = match write {
        0 => Mix::READ,
        _ => Mix {
            read: MIX_PARTS as u32 - write,
            write,
            flush: 0,
        },
    };
    Ok(MixSpec {
        durability: if args.durable {
            Durability::Synced
        } else {
            Durability::Volatile
        },
        pacing,
        ..MixSpec::closed(addresses, mix)
    })
}

/// What is done, in words; with the load, given as clients and an offered rate, where it is fixed.
pub fn title(args: &WorkloadArgs, load: Option<(u32, Option<f64>)>) -> String {
    let what = match args.writes {
        0.0 => "read".to_owned(),
        1.0 => "write".to_owned(),
        share => format!("{:.0} % write", share * 100.0),
    };
    let durable = if args.durable { " + fsync" } else { "" };
    let pattern = match args.pattern {
        Pattern::Sequential { .. } => "sequential".to_owned(),
        Pattern::Uniform => "random".to_owned(),
        Pattern::Zipf { theta } => format!("Zipf {theta}"),
        Pattern::Hyperbolic { alpha } => format!("hyperbolic {alpha}"),
        Pattern::ExponentialSteps { mean } => format!("exponential {mean}"),
        Pattern::Zoned { .. } => "zoned".to_owned(),
    };
    let load = match load {
        None => String::new(),
        Some((_, Some(rate))) => format!(", {}/s offered", format_count(rate)),
        Some((clients, None)) => format!(", {}", format_counted(clients.into(), "client")),
    };
    let think = match args.think.as_nanos() {
        0 => String::new(),
        nanos => format!(", think {}", format_duration_ns(nanos as f64)),
    };
    let files = match args.files {
        1 => String::new(),
        many => format!(", {many} files"),
    };
    format!(
        "{pattern} {what}{durable} {}{load}{think}{files}",
        args.block
    )
}
