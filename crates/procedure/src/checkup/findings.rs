//! Findings of a check-up in plain words. Each sentence follows from figures in the report, quoted
//! with their interval. Unstable or invalid figures, levels less precise than requested, and search
//! points of the curve are never quoted.

use results::{
    Access, Arrivals, Curve, CurveLevel, CurvePoint, KNOWN, LevelOutcome, Measurement, OpenTrial,
    Saturation, Warning, WarningCode,
};
use stats::Estimate;
use units::{
    format_count, format_duration_ns, format_interval_count, format_interval_ns,
    format_interval_rate,
};

/// A device that completes a flush faster than this has not written to flash or platter.
const FLUSH_TOO_FAST_NS: f64 = 20_000.0;
/// Random reads this many times slower than sequential ones indicate a disk that seeks.
const SEEK_RATIO: f64 = 20.0;
/// A page cache this many times faster than the device is reported.
const CACHE_GAIN: f64 = 1.2;
/// A highest load this many times that of one client is a gain.
const LOAD_GAIN: f64 = 1.1;
/// A load of at least this share of the highest counts as equal.
const NEARLY: f64 = 0.95;
/// A worker busier than this has little time left to wait for storage.
const BUSY_CORES: f64 = 0.9;
/// A page-cache share above this is reported in trials meant to reach the device.
const CACHE_SHARE: f64 = 0.05;

/// The findings, the most important first.
pub(super) fn findings(measurements: &[Measurement], curve: Option<&Curve>) -> Vec<String> {
    let quoted = |name: &str| {
        measurements
            .iter()
            .find(|measurement| measurement.name == name && is_quotable(measurement))
    };
    let one = quoted("random-read");
    let mut findings = Vec::new();
    // A curve of changing storage does not show a sustained load.
    let curve = curve.filter(|it| it.warnings.iter().all(|doubt| !is_of_change(doubt)));
    let carried = curve.and_then(|curve| load_carried(curve, "random 4 KiB reads/s"));
    findings.extend(carried.map(|it| format!("{it}.")));
    findings.extend(curve.and_then(|curve| saturation(curve, one)));
    findings.extend(quoted("durable-write").and_then(durable));
    findings.extend(sequential_against_random(quoted("sequential-read"), one));
    findings.extend(cache_gain(quoted("cached-read"), quoted("sequential-read")));
    findings.extend(measurements.iter().filter_map(cached_by_accident));
    findings.extend(curve.and_then(cpu_bound));
    findings
}

/// Whether the figures can be quoted with a reliable interval.
pub(crate) fn is_quotable(measurement: &Measurement) -> bool {
    measurement.trust().is_usable()
        && measurement.response.mean.is_bounded()
        && measurement.throughput.is_bounded()
}

fn is_of_change(doubt: &Warning) -> bool {
    doubt.code == WarningCode::LevelChanged
}

/// A value with its interval, as text.
fn count(estimate: Estimate) -> String {
    let (value, interval) = format_interval_count(estimate.value, estimate.low, estimate.high);
    format!("{value} ({interval})")
}

fn rate(estimate: Estimate) -> String {
    let (value, interval) = format_interval_rate(estimate.value, estimate.low, estimate.high);
    format!("{value}, {interval}")
}

/// The first level whose load is known precisely enough to be the answer.
pub(crate) fn carried_at(curve: &Curve) -> Option<(&CurveLevel, Estimate)> {
    curve.levels.iter().find_map(|level| match level.outcome {
        LevelOutcome::Reached { load, .. } if load.relative_half_width() <= KNOWN => {
            Some((level, load))
        }
        _ => None,
    })
}

/// The load at that level, of closed-loop clients and of random arrivals, as a sentence without its
/// end. `unit` is the unit of the load.
pub(crate) fn load_carried(curve: &Curve, unit: &str) -> Option<String> {
    let (level, load) = carried_at(curve)?;
    let time = match curve.percentile {
        None => "mean latency".to_owned(),
        Some(share) => format!("p{} latency", share * 100.0),
    };
    // A closed loop can sustain more than random arrivals.
    let arrivals = match curve.arrivals {
        Arrivals::Closed => "",
        Arrivals::Open => " of random arrivals",
    };
    let sustained = format!(
        "Sustains {} {unit}{arrivals} at {} {time}",
        count(load),
        format_duration_ns(level.level_ns as f64),
    );
    Some(match level.open {
        None => sustained,
        Some(open) => format!("{sustained}. {}", of_arrivals(&open, level.level_ns as f64)),
    })
}

/// The response time of random arrivals at a level's load, as far as known.
fn of_arrivals(open: &OpenTrial, level_ns: f64) -> String {
    let response = open.response;
    let (value, ends) = format_interval_ns(response.value, response.low, response.high);
    let arrivals = format!("Open loop: {} IOPS", format_count(open.offered));
    match response.relative_half_width() <= KNOWN {
        true => format!("{arrivals} at {value} ({ends})"),
        false if response.high <= level_ns => format!("{arrivals} within that latency"),
        false if response.low > level_ns => {
            format!("{arrivals} at {} or more", format_duration_ns(response.low))
        }
        false => format!("{arrivals} with a latency that varied too much to tell"),
    }
}

fn saturation(curve: &Curve, one: Option<&Measurement>) -> Option<String> {
    let saturation = curve.saturation.filter(|it| it.is_converged)?;
    let load = count(saturation.load);
    if !saturation.is_saturated {
        return Some(format!(
            "Not yet saturated with {} concurrent reads, at {load} IOPS.",
            saturation.clients
        ));
    }
    let reached = format!("Saturates at {load} random-read IOPS");
    let gain = one.map(|one| saturation.load.over(&one.throughput));
    Some(match gain {
        Some(gain) if gain.high < LOAD_GAIN => {
            format!("{reached} with a single read. Concurrent reads only wait longer.")
        }
        Some(gain) if gain.low > LOAD_GAIN => format!(
            "{reached}, {} times the rate of single reads. {}.",
            count(gain),
            enough(curve, &saturation),
        ),
        _ => format!("{reached}. {}.", enough(curve, &saturation)),
    })
}

/// The smallest number of clients that reliably reached nearly the highest load.
fn enough(curve: &Curve, saturation: &Saturation) -> String {
    let nearly = NEARLY * saturation.load.value;
    let fewer = finals(curve).filter(|point| point.load.low >= nearly);
    match fewer.map(|point| point.clients).min() {
        Some(clients) if clients < saturation.clients => {
            format!("{clients} concurrent reads come within 5 % of that")
        }
        _ => format!("It takes {} concurrent reads", saturation.clients),
    }
}

/// The points measured for the result.
fn finals(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    let points = curve.points.iter();
    points.filter(|point| point.is_converged && !point.is_scout)
}

fn durable(durable: &Measurement) -> Option<String> {
    let mean = durable.response.mean;
    if durable.access == Access::Simulated {
        return None;
    }
    let (value, interval) = format_interval_ns(mean.value, mean.low, mean.high);
    let time = format!("{value} ({interval})");
    if mean.high < FLUSH_TOO_FAST_NS {
        return Some(format!(
            "A write with fsync takes only {time}, so flushes are answered from memory. A power \
             cut can lose that data unless the memory is protected."
        ));
    }
    // The row's own throughput has another interval, and the sentence quotes the time as the
    // reason.
    let commits = Estimate::exact(1e9, mean.samples).over(&mean);
    Some(format!(
        "A write with fsync takes {time}, so one thread commits at most {} times per second.",
        count(commits),
    ))
}

fn sequential_against_random(
    sequential: Option<&Measurement>,
    random: Option<&Measurement>,
) -> Option<String> {
    let (sequential, random) = (sequential?.bandwidth?, random?.bandwidth?);
    let ratio = sequential.over(&random);
    (ratio.low > SEEK_RATIO).then(|| {
        format!(
            "Sequential reads ({}) are {} times as fast as random 4 KiB reads at QD1 ({}).",
            rate(sequential),
            count(ratio),
            rate(random),
        )
    })
}

fn cache_gain(cached: Option<&Measurement>, device: Option<&Measurement>) -> Option<String> {
    let cached = cached?;
    let (fast, slow) = (cached.bandwidth?, device?.bandwidth?);
    let ratio = fast.over(&slow);
    (cached.page_cache_share? > 0.9 && ratio.low > CACHE_GAIN).then(|| {
        format!(
            "The page cache reads {} times as fast as the device ({} against {}). Buffered tests \
             measure memory.",
            count(ratio),
            rate(fast),
            rate(slow),
        )
    })
}

fn cached_by_accident(measurement: &Measurement) -> Option<String> {
    let share = measurement.page_cache_share?;
    let is_meant_for_device = ["sequential-read", "random-read"].contains(&&*measurement.name);
    (is_meant_for_device && share > CACHE_SHARE).then(|| {
        format!(
            "{}: {:.0} % of the bytes came from the page cache, not from the device.",
            measurement.title,
            share * 100.0
        )
    })
}

fn cpu_bound(curve: &Curve) -> Option<String> {
    let clients = curve.saturation?.clients;
    let mut points = curve.points.iter();
    let point = points.find(|point| point.clients == clients && !point.is_scout)?;
    let cores = point.cores_busy?;
    (cores > BUSY_CORES).then(|| {
        format!(
            "At the highest load Seekstone used {cores:.1} CPU cores, which may be the limit. Try \
             more --workers."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::of_mean;
    use results::CurveLevel;
    use stats::Verdict;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            low,
            high,
            ..Estimate::exact(value, 1000.0)
        }
    }

    /// Operations of `bytes` each, one at a time; times in microseconds.
    fn row(name: &str, bytes: f64, times: [f64; 3], verdict: Verdict) -> Measurement {
        let [value, low, high] = times.map(|time| time * 1e3);
        let mut row = of_mean(estimate(value, low, high), 1000);
        row.name = name.into();
        row.title = name.into();
        row.bandwidth = Some(row.throughput.scale(bytes));
        row.page_cache_share = Some(if name == "cached-read" { 1.0 } else { 0.0 });
        row.verdict = verdict;
        row
    }

    fn rows(verdict: Verdict) -> Vec<Measurement> {
        let mib = 1_048_576.0;
        vec![
            row(
                "random-read",
                4096.0,
                [100.0, 98.0, 102.0],
                Verdict::Converged,
            ),
            row("sequential-read", mib, [500.0, 490.0, 510.0], verdict),
            row("cached-read", mib, [50.0, 49.0, 51.0], Verdict::Converged),
            row("durable-write", 4096.0, [200.0, 196.0, 204.0], verdict),
        ]
    }

    fn point(clients: u32, load: f64, is_scout: bool) -> CurvePoint {
        CurvePoint {
            offered: None,
            at_percentile: None,
            clients,
            load: estimate(load, load * 0.98, load * 1.02),
            response: estimate(1e5, 0.9e5, 1.1e5),
            service: estimate(1e5, 0.9e5, 1.1e5),
            response_p99: None,
            lateness_ns: 0.0,
            cores_busy: Some(1.5),
            device_time: None,
            bandwidth: None,
            server: None,
            law: None,
            is_scout,
            is_converged: !is_scout,
        }
    }

    fn curve(is_precise: bool, points: Vec<CurvePoint>, is_converged: bool) -> Curve {
        let (low, high) = match is_precise {
            true => (31_000.0, 32_600.0),
            false => (6_400.0, 160_000.0),
        };
        let outcome = LevelOutcome::Reached {
            load: estimate(31_800.0, low, high),
            clients: 12.0,
            is_precise,
        };
        Curve {
            workload: None,
            arrivals: Arrivals::Closed,
            percentile: None,
            resolution: None,
            title: "random read".into(),
            channel: stats::Channel::Response,
            points,
            levels: vec![CurveLevel {
                open: None,
                level_ns: 500_000,
                outcome,
            }],
            saturation: Some(Saturation {
                load: estimate(46_000.0, 45_000.0, 47_000.0),
                clients: 64,
                is_saturated: true,
                is_converged,
            }),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn sentences_state_intervals() {
        let points = vec![point(32, 45_500.0, false), point(64, 46_000.0, false)];
        let found = findings(&rows(Verdict::Converged), Some(&curve(true, points, true)));
        let expected = [
            "Sustains 31,800 (31,000 .. 32,600) random 4 KiB reads/s at 500 us mean latency",
            "Saturates at 46,000 (45,000 .. 47,000) random-read IOPS, 4.60 (4.46 .. 4.74) times \
             the rate of single reads. 32 concurrent reads come within 5 %",
            "A write with fsync takes 200 us (196 .. 204), so one thread commits at most \
             5,000 (4,900 .. 5,100) times",
            "Sequential reads (2.10 GB/s, 2.06 .. 2.14) are 51.2 (49.8 .. 52.7) times",
            "reads 10.0 (9.7 .. 10.3) times as fast as the device",
            "used 1.5 CPU cores",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (sentence, expected) in found.iter().zip(expected) {
            assert!(sentence.contains(expected), "{expected} in {found:#?}");
        }
    }

    /// Bug: the rate had the interval of the row's throughput, which did not follow from its time.
    #[test]
    fn commits_per_second_follow_from_the_time_of_one() {
        let mut found = rows(Verdict::Converged);
        for row in &mut found {
            row.throughput.low /= 2.0;
        }
        let found = findings(&found, None);
        let commits =
            "takes 200 us (196 .. 204), so one thread commits at most 5,000 (4,900 .. 5,100) times";
        assert!(found.iter().any(|it| it.contains(commits)), "{found:#?}");
    }

    /// Bug: a level known only to a factor of 25 was quoted, as were values marked as not quotable.
    #[test]
    fn what_must_not_be_quoted_is_not() {
        let unstable = [
            Verdict::NotStationary,
            Verdict::Budget { is_citable: false },
        ];
        for verdict in unstable {
            let found = findings(&rows(verdict), Some(&curve(false, Vec::new(), false)));
            assert_eq!(found, Vec::<String>::new(), "{verdict}");
        }
        let mut void = rows(Verdict::Converged);
        for row in &mut void {
            row.warnings = vec![Warning::invalid(
                WarningCode::WrongData,
                "a block held other data",
            )];
        }
        assert_eq!(findings(&void, None), Vec::<String>::new());
    }

    /// Bug: the load of a single client and the number of clients that suffice were taken from
    /// search points.
    #[test]
    fn scouts_are_not_cited() {
        let points = vec![
            point(1, 2_000.0, true),
            point(2, 45_900.0, true),
            point(64, 46_000.0, false),
        ];
        let curve = curve(false, points, true);
        let one = [row(
            "random-read",
            4096.0,
            [100.0, 98.0, 102.0],
            Verdict::Converged,
        )];
        let found = findings(&one, Some(&curve)).join(" ");
        assert!(found.contains("4.60 (4.46 .. 4.74) times"), "{found}");
        assert!(found.contains("It takes 64 concurrent reads"), "{found}");
        let found = findings(&[], Some(&curve)).join(" ");
        assert!(!found.contains("times"), "{found}");
    }
}
