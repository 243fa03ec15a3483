//! What `watch` sees in the text format of OpenMetrics 1.0, to be scraped while it goes on.

use watch::{ProbeKind, ProbeTimes, TargetWatch, WatchCounter, WatchWindow};

use crate::openmetrics::label;

/// Octaves of nanoseconds that end a bucket: 16 us to 69 s.
const OCTAVES: std::ops::RangeInclusive<u32> = 14..=36;
const SECOND: f64 = 1e9;

/// A family of metrics as a page declares it.
struct Declared {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    help: &'static str,
}

/// The page: each target by name, and processor time of this program, ns.
pub fn watch_metrics<'a>(
    targets: impl Iterator<Item = (&'a str, &'a TargetWatch)>,
    own_cpu_ns: u64,
) -> String {
    let targets: Vec<MetricsTarget<'a>> = targets
        .map(|(name, watch)| MetricsTarget {
            name,
            watch,
            all: watch.all(),
        })
        .collect();
    let mut page = String::new();
    probes(&mut page, &targets);
    let not_counted = |it: &MetricsTarget<'_>| {
        let all = &it.all;
        [
            ("failed", all.failed),
            ("late", all.late),
            ("stopped", all.stopped),
            ("withheld", all.withheld),
        ]
        .map(|(reason, probes)| (label("reason", reason), probes as f64))
        .to_vec()
    };
    family(&mut page, &NOT_COUNTED, "_total", &targets, not_counted);
    family(&mut page, &EVENTS, "_total", &targets, |it| {
        vec![(String::new(), it.watch.events() as f64)]
    });
    family(&mut page, &SLOW, "", &targets, |it| {
        let slow = |kind| f64::from(u8::from(it.watch.going_on(kind).is_some()));
        it.kinds().map(|kind| (of(kind), slow(kind))).collect()
    });
    family(&mut page, &USUAL, "", &targets, |it| {
        let usual = |kind| it.watch.usual(kind).quantile_or_max(0.99) as f64 / SECOND;
        it.kinds().map(|kind| (of(kind), usual(kind))).collect()
    });
    for counter in WatchCounter::ALL {
        counted(&mut page, counter, &targets);
    }
    let own = "seekstone_watch_own_cpu_seconds";
    page += &format!("# TYPE {own} counter\n# UNIT {own} seconds\n");
    page += &format!("# HELP {own} Processor time of seekstone itself.\n");
    page += &format!("{own}_total {}\n# EOF\n", own_cpu_ns as f64 / SECOND);
    page
}

const PROBES: Declared = Declared {
    name: "seekstone_watch_probe_seconds",
    kind: "histogram",
    unit: "seconds",
    help: "Time from when a probe was due to its answer.",
};
const NOT_COUNTED: Declared = Declared {
    name: "seekstone_watch_probes_not_counted",
    kind: "counter",
    unit: "",
    help: "Probes whose time says nothing of the storage, by reason.",
};
const EVENTS: Declared = Declared {
    name: "seekstone_watch_events",
    kind: "counter",
    unit: "",
    help: "Times at which the target began to be slower than usual.",
};
const SLOW: Declared = Declared {
    name: "seekstone_watch_slow",
    kind: "gauge",
    unit: "",
    help: "1 while the target is slower than usual.",
};
const USUAL: Declared = Declared {
    name: "seekstone_watch_usual_p99_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "The 99th percentile of the day before, without its events.",
};

struct MetricsTarget<'a> {
    name: &'a str,
    watch: &'a TargetWatch,
    all: WatchWindow,
}

impl MetricsTarget<'_> {
    /// Kinds of probes of which one was answered.
    fn kinds(&self) -> impl Iterator<Item = ProbeKind> + '_ {
        let kinds = ProbeKind::ALL.into_iter();
        kinds.filter(|&kind| self.all.times(kind).count() > 0)
    }
}

fn of(kind: ProbeKind) -> String {
    label("probe", kind.name())
}

fn declare(page: &mut String, it: &Declared) {
    *page += &format!("# TYPE {} {}\n", it.name, it.kind);
    if !it.unit.is_empty() {
        *page += &format!("# UNIT {} {}\n", it.name, it.unit);
    }
    *page += &format!("# HELP {} {}\n", it.name, it.help);
}

fn family(
    page: &mut String,
    declared: &Declared,
    suffix: &str,
    targets: &[MetricsTarget<'_>],
    samples: impl Fn(&MetricsTarget<'_>) -> Vec<(String, f64)>,
) {
    declare(page, declared);
    for target in targets {
        for (more, value) in samples(target) {
            let labels = joined(target.name, &more);
            *page += &format!("{}{suffix}{{{labels}}} {value}\n", declared.name);
        }
    }
}

fn joined(target: &str, more: &str) -> String {
    let target = label("target", target);
    match more.is_empty() {
        true => target,
        false => format!("{target},{more}"),
    }
}

fn probes(page: &mut String, targets: &[MetricsTarget<'_>]) {
    declare(page, &PROBES);
    for target in targets {
        for kind in target.kinds() {
            let labels = joined(target.name, &of(kind));
            histogram(page, &labels, target.all.times(kind));
        }
    }
}

/// Buckets end at whole octaves, which are ends of bins too: their counts are exact.
fn histogram(page: &mut String, labels: &str, times: &ProbeTimes) {
    let name = PROBES.name;
    let mut bins = times.bins().iter().peekable();
    let mut below = 0;
    for octave in OCTAVES {
        let end = 1_u64 << octave;
        while let Some((_, count)) = bins.next_if(|(bin, _)| stats::LogBins::lower_edge(*bin) < end)
        {
            below += count;
        }
        let le = (end - 1) as f64 / SECOND;
        *page += &format!("{name}_bucket{{{labels},le=\"{le}\"}} {below}\n");
    }
    let (count, sum) = (times.count(), times.sum_ns() as f64 / SECOND);
    *page += &format!("{name}_bucket{{{labels},le=\"+Inf\"}} {count}\n");
    *page += &format!("{name}_count{{{labels}}} {count}\n{name}_sum{{{labels}}} {sum}\n");
}

/// A counter of the kernel since the watch began; of a maximum that of the last hour.
fn counted(page: &mut String, counter: WatchCounter, targets: &[MetricsTarget<'_>]) {
    let name = format!("seekstone_watch_{}", counter.name());
    let (kind, suffix) = match counter.is_maximum() {
        true => ("gauge", ""),
        false => ("counter", "_total"),
    };
    let figure = |it: &MetricsTarget<'_>| match counter.is_maximum() {
        true => it.watch.last_hour().counters.get(&counter).copied(),
        false => it.all.counters.get(&counter).copied(),
    };
    let figures: Vec<(String, u64)> = targets
        .iter()
        .filter_map(|it| Some((joined(it.name, ""), figure(it)?)))
        .collect();
    if figures.is_empty() {
        return;
    }
    *page += &format!("# TYPE {name} {kind}\n# HELP {name} {}\n", counter.title());
    for (labels, figure) in figures {
        *page += &format!("{name}{suffix}{{{labels}}} {figure}\n");
    }
}
