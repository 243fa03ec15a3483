//! Tables of transfer rates.

use stats::{Estimate, is_indicative};
use units::{Bytes, format_counted};

use crate::metric::*;
use crate::rank_share::RankShare;
use crate::reading::{Reading, Unit};
use crate::replicate::Replicate;
use crate::run::RowWarning;
use crate::saying::Saying;
use crate::show::Show;
use crate::table::{Figure, Role, Row, Table, Trust, filled};
use crate::transfer::{
    AloneTogether, Transfer, TransferKind, TransferMode, TransferPass, TransferSeries,
};

const MIB: f64 = (1 << 20) as f64;
const OF_INTERVALS: &str = "Intervals: variation between passes, or within a single pass.";
const OF_CPU: &str = "CPU is this process's. Its parts in the program (user) and the kernel \
                      (system) are split in clock ticks.";
const OF_MODELS_CPU: &str = "CPU is that of the simulated host.";
const OF_DEVICES: &str = "device throughput: what the device moved meanwhile, whoever asked.";
const OF_HOSTS: &str = "Passes that read all streams. throughput: while this rank was at work. \
                        first in, last in: passes in which it was done first, or last. CPUs: \
                        processors that it used meanwhile.";

/// Columns on screen for all streams together.
const SHOWN: &str = "throughput page-cache-share iops latency latency-p99 passes device-throughput \
                     cpu-per-mib";

impl Transfer {
    /// The series of passes, their streams, alone against together, the hosts, and the passes.
    pub fn tables(&self) -> Vec<Table> {
        filled([
            self.of_series(),
            self.of_streams(),
            self.of_comparisons(),
            self.of_hosts(),
            self.of_passes(),
        ])
    }

    /// Warnings of each series.
    pub fn row_warnings(&self) -> Vec<RowWarning> {
        RowWarning::of_rows(self.series.iter().map(|it| (&it.title, &it.warnings)))
    }

    fn of_series(&self) -> Table {
        let factors = ["operation", "access", "block", "size", "streams"];
        let rows = self.series.iter().map(of_series);
        Table::new("transfer", &factors, rows.collect())
            .briefly_named()
            .shown(Show::default().columns(SHOWN))
            .noted(self.notes())
    }

    fn is_model(&self) -> bool {
        let mut series = self.series.iter();
        series.any(|it| it.mode == TransferMode::Simulated)
    }

    /// The method, and the meaning of the intervals.
    fn notes(&self) -> impl Iterator<Item = String> {
        let together = self.series.iter().filter(|it| it.streams.len() > 1);
        let overlap = together
            .flat_map(|it| &it.passes)
            .map(|it| it.overlap_share);
        let overlap = overlap.reduce(f64::min).map(|share| {
            format!(
                "A pass of several streams lasts until the last one ends. In the worst pass all \
                 of them were under way {} of the time.",
                Unit::Share.format(share)
            )
        });
        [self.how(), OF_INTERVALS.to_owned()]
            .into_iter()
            .chain(overlap)
    }

    /// The value that all series share, if they do.
    fn of_all<T: PartialEq>(&self, of: impl Fn(&TransferSeries) -> T) -> Option<T> {
        let first = of(self.series.first()?);
        self.series
            .iter()
            .all(|it| of(it) == first)
            .then_some(first)
    }

    fn how(&self) -> String {
        let what = self.of_all(|it| format!("{} by {}", size(it), Bytes(it.block_bytes)));
        let streams = self.of_all(|it| it.streams.len()).filter(|it| *it > 1);
        let streams = streams.map(|it| format!("{it} streams"));
        let mode = self.of_all(|it| it.mode.name().to_owned());
        let what = [what, streams, mode].into_iter().flatten();
        let what = what.collect::<Vec<_>>().join(", ");
        let until = match (self.passes, self.precision) {
            (Some(passes), _) => format!(", {}", format_counted(passes.into(), "read pass")),
            (None, Some(precision)) => {
                format!(", read passes until {:.1} % precise", precision * 100.0)
            }
            (None, None) => String::new(),
        };
        let check = match self.check.as_str() {
            "last" => "the end of each block is checked",
            "block" => "every byte is checked",
            _ => "data are not checked",
        };
        // For a simulated system, the host that computes it is irrelevant.
        let host = match self.is_model() {
            true => String::new(),
            false => format!(", host {}", self.host_name),
        };
        format!("{what}{until}, {check}{host}.")
    }

    fn of_streams(&self) -> Table {
        let series = self.series.iter().filter(|it| it.stream_rates.len() > 1);
        let rows = series.flat_map(|series| {
            let rates = series.streams.iter().zip(&series.stream_rates);
            rates.map(|(number, rate)| self.of_stream(series, *number, *rate))
        });
        Table::new("transfer-streams", &["series", "stream"], rows.collect())
            .titled("Streams")
            .of_steps()
            .shown(Show::default().grouped_by("series"))
    }

    fn of_stream(&self, series: &TransferSeries, number: u32, rate: Estimate) -> Row {
        let levels = vec![series.title.clone(), number.to_string()];
        let row = Row::new(levels, [THROUGHPUT.of(rate)], "throughput", trust(series));
        let Some(stream) = self.streams.iter().find(|it| it.number == number) else {
            return row;
        };
        let known = |it: &Option<String>| it.clone().unwrap_or_default();
        row.with_word("target", &stream.target)
            .with_word("device", known(&stream.device))
            .with_word("host", known(&stream.host))
    }

    fn of_comparisons(&self) -> Table {
        let rows = self.comparisons.iter().map(of_comparison);
        Table::new("transfer-together", &["stream", "block"], rows.collect())
            .titled("Together over alone")
    }

    fn of_hosts(&self) -> Table {
        let rows = self.hosts.iter().map(of_host);
        Table::new("transfer-hosts", &["rank"], rows.collect())
            .titled("Hosts")
            .of_steps()
            .noted([OF_HOSTS.to_owned()])
    }

    fn of_passes(&self) -> Table {
        let rows = self.series.iter().flat_map(|series| {
            let passes = series.passes.iter();
            passes.map(|it| of_pass(series, it))
        });
        let passes = || self.series.iter().flat_map(|it| &it.passes);
        let has_cpu = passes().any(|it| it.cpu_ns.is_some());
        let cpu = has_cpu.then_some(match self.is_model() {
            true => OF_MODELS_CPU,
            false => OF_CPU,
        });
        let has_device = passes().any(|it| it.device_rate.is_some());
        let device = has_device.then_some(OF_DEVICES);
        let columns = "throughput elapsed page-cache-share cpu";
        Table::new("transfer-passes", &["series", "pass"], rows.collect())
            .titled("Passes")
            .of_steps()
            .shown(Show::detail().grouped_by("series").columns(columns))
            .noted(cpu.into_iter().chain(device).map(str::to_owned))
    }
}

fn size(series: &TransferSeries) -> String {
    Bytes(series.size_bytes).to_string()
}

const fn operation(kind: TransferKind) -> &'static str {
    match kind {
        TransferKind::Write => "write",
        TransferKind::Read => "read",
    }
}

fn trust(series: &TransferSeries) -> Trust {
    Trust::unless_invalid(&series.warnings)
}

fn of_series(series: &TransferSeries) -> Row {
    let streams: Vec<String> = series.streams.iter().map(ToString::to_string).collect();
    let levels = vec![
        operation(series.kind).to_owned(),
        series.mode.name().to_owned(),
        Bytes(series.block_bytes).to_string(),
        size(series),
        match streams.as_slice() {
            [one] => format!("stream {one}"),
            _ => format!("streams {}", streams.join("+")),
        },
    ];
    let passes = &series.passes;
    let mut figures = vec![THROUGHPUT.of(series.rate), IOPS.of(series.iops())];
    let mean = series.block_mean();
    figures.extend(mean.map(|it| LATENCY.of_ns(it)));
    figures.extend(series.block_p99().map(|it| Figure {
        is_indicative: is_indicative(0.99, series.blocks().unwrap_or(0) as f64),
        ..LATENCY_P99.of_ns(it)
    }));
    figures.push(PASSES.count(passes.len() as u64));
    // The same kind of mean as for the rate: shares weighted by bytes, rates by time.
    let cached = weighted_mean(passes, |it| it.bytes, |it| it.page_cache_share);
    figures.extend(cached.map(|it| PAGE_CACHE_SHARE.bare(it).as_role(Role::Column)));
    let device = weighted_mean(passes, |it| it.elapsed_ns, |it| it.device_rate);
    figures.extend(device.map(|it| DEVICE_THROUGHPUT.bare(it)));
    figures.extend(cost(passes));
    if series.streams.len() > 1 {
        let overlaps = passes.iter().map(|it| it.overlap_share);
        figures.extend(overlaps.reduce(f64::min).map(|it| OVERLAP_SHARE.bare(it)));
    }
    let row = Row::new(levels, figures, "throughput", trust(series))
        .warned(&series.warnings)
        .quoted_with_interval()
        .with_replicates(passes.iter().map(replicate).collect())
        .saying(series.rate.is_bounded().then(|| {
            let (rate, interval) = Unit::BytesPerSecond.format_interval(series.rate);
            Saying::quoting(format!("{} at {rate} ({interval})", series.title))
        }));
    // Parts of a file are read twice: from the device, and perhaps from memory.
    match series.title.rsplit_once(", ") {
        Some((_, when @ ("first" | "again"))) => row.with_word("when", when),
        _ => row,
    }
}

/// The weighted mean over the passes that know the value.
fn weighted_mean(
    passes: &[TransferPass],
    weight: fn(&TransferPass) -> u64,
    of: fn(&TransferPass) -> Option<f64>,
) -> Option<f64> {
    let known = passes
        .iter()
        .filter_map(|pass| Some((weight(pass) as f64, of(pass)?)));
    let (all, sum) = known.fold((0.0, 0.0), |(all, sum), (weight, value)| {
        (all + weight, sum + weight * value)
    });
    (all > 0.0).then(|| sum / all)
}

/// CPU time per MiB, user and system, and the maximum rate that it allows: "100% utilisation at 4
/// MB/sec" of section 8 of the DISKMBPS document.
fn cost(passes: &[TransferPass]) -> impl Iterator<Item = Figure> {
    let bytes: u64 = passes.iter().map(|pass| pass.bytes).sum();
    let mib = bytes as f64 / MIB;
    let each = |of: fn(&TransferPass) -> Option<u64>| -> Option<f64> {
        let ns: Option<u64> = passes.iter().map(of).sum();
        ns.filter(|_| mib > 0.0).map(|ns| ns as f64 / 1e9 / mib)
    };
    let all = each(|pass| pass.cpu_ns);
    // Clock ticks split the total, which is known more exactly than their sum.
    let parts = each(|pass| pass.cpu_user_ns).zip(each(|pass| pass.cpu_system_ns));
    let user = parts.filter(|(user, system)| user + system > 0.0);
    let user = user.map(|(user, system)| user / (user + system));
    let part = |share: Option<f64>| Some(all? * share?);
    let found = [
        (CPU_PER_MIB, all),
        (CPU_USER_PER_MIB, part(user)),
        (CPU_SYSTEM_PER_MIB, part(user.map(|it| 1.0 - it))),
        (CPU_LIMIT, all.filter(|it| *it > 0.0).map(|each| MIB / each)),
    ];
    let found = found.into_iter();
    found.filter_map(|(metric, value)| Some(metric.bare(value?)))
}

fn replicate(pass: &TransferPass) -> Replicate {
    let mut readings = vec![
        THROUGHPUT.reading(pass.rate),
        ELAPSED.reading(pass.elapsed_ns as f64 / 1e9),
        BYTES.reading(pass.bytes as f64),
    ];
    let cpu = pass.cpu_ns.map(|ns| ns as f64 / 1e9);
    readings.extend(cpu.map(|it| CPU.reading(it)));
    let share = pass.page_cache_share;
    readings.extend(share.map(|it| PAGE_CACHE_SHARE.reading(it)));
    let overlap = pass.overlap_share;
    readings.push(OVERLAP_SHARE.reading(overlap));
    let device = pass.device_rate;
    readings.extend(device.map(|it| DEVICE_THROUGHPUT.reading(it)));
    let streams = pass.streams.iter().filter(|_| pass.streams.len() > 1);
    readings.extend(streams.flat_map(|it| {
        [THROUGHPUT.reading(it.rate), BYTES.reading(it.bytes as f64)].map(|of_all| Reading {
            name: format!("{}-stream-{}", of_all.name, it.stream),
            ..of_all
        })
    }));
    Replicate::new(pass.number, true, readings)
}

fn of_comparison(found: &AloneTogether) -> Row {
    let figures = [
        RATIO.of(found.ratio),
        ALONE.of(found.alone),
        TOGETHER.of(found.together),
    ];
    let stream = found.stream.map_or("all".to_owned(), |it| it.to_string());
    let levels = vec![stream, Bytes(found.block_bytes).to_string()];
    Row::new(levels, figures, "ratio", Trust::Reliable)
}

fn of_host(host: &RankShare) -> Row {
    let figures = [
        Some(THROUGHPUT.bare(host.per_second)),
        Some(BYTES.count(host.amount)),
        Some(FIRST_IN.exact(host.first_in)),
        Some(LAST_IN.exact(host.last_in)),
        host.processors_used.map(|it| CPUS.bare(it)),
    ];
    let figures = figures.into_iter().flatten();
    host.row(figures.map(|it| it.as_role(Role::Column)), "throughput")
}

/// A pass with one stream has the interval within it.
fn of_pass(series: &TransferSeries, pass: &TransferPass) -> Row {
    let throughput = match pass.streams.as_slice() {
        [one] => one.within,
        _ => None,
    };
    let throughput = throughput.map_or_else(
        || THROUGHPUT.bare(pass.rate),
        |within| {
            THROUGHPUT.of(Estimate {
                value: pass.rate,
                ..within
            })
        },
    );
    let ns = |metric: KnownMetric, it: Option<u64>| it.map(|it| metric.bare_ns(it as f64));
    let blocks = pass.blocks.as_ref();
    let known = [
        ns(ELAPSED, Some(pass.elapsed_ns)),
        blocks.map(|it| LATENCY.bare_ns(it.mean_ns)),
        ns(LATENCY_P99, blocks.and_then(|it| it.p99_ns)),
        ns(CPU, pass.cpu_ns),
        ns(CPU_USER, pass.cpu_user_ns),
        ns(CPU_SYSTEM, pass.cpu_system_ns),
        pass.page_cache_share.map(|it| PAGE_CACHE_SHARE.bare(it)),
        pass.device_rate.map(|it| DEVICE_THROUGHPUT.bare(it)),
    ];
    let figures = std::iter::once(throughput).chain(known.into_iter().flatten());
    let number = format!("{} {}", operation(series.kind), pass.number);
    let levels = vec![series.title.clone(), number];
    let row = Row::new(levels, figures, "throughput", trust(series));
    let monotonic = pass.ended_monotonic_ns as f64 / 1e9;
    row.with_word("ended", pass.ended_at.as_deref().unwrap_or_default())
        .with_word("monotonic s", format!("{monotonic:.6}"))
}
