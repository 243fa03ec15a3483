//! Combines several runs of one measurement: each figure is the mean over the runs, with an
//! interval from their differences, since the variation between runs does not show within one.
//! Figures without such an interval (times by kind of operation, series) are left out.

use results::{Measurement, Run, Status, Times, Trust, Warning};
use stats::{Estimate, PercentileEstimate, RepeatsEnd, Verdict, mean_of_repeats};
use units::format_counted;

/// Combines several runs into one: the first run with the figures of all. Interrupted runs count
/// only if none is complete, since they are shorter but would have equal weight.
///
/// # Panics
/// Without runs.
pub fn over_runs(runs: &[Run]) -> Run {
    let ended = runs.iter().filter(|it| it.status == Status::Complete);
    let mut counted: Vec<&Run> = ended.collect();
    if counted.is_empty() {
        counted.extend(runs);
    }
    let first = *counted.first().expect("one run at least");
    let measurements = first.measurements.iter().filter_map(|own| {
        let same = counted.iter().filter_map(|run| run.measurement(&own.name));
        let same: Vec<&Measurement> = same.collect();
        (same.len() == counted.len()).then(|| over_measurements(&same))
    });
    let stopped = runs.iter().map(|it| &it.status);
    let mut stopped = stopped.filter(|it| **it != Status::Complete);
    Run {
        id: None,
        goals: Vec::new(),
        verdict: None,
        status: stopped.next_back().unwrap_or(&Status::Complete).clone(),
        elapsed_ns: runs.iter().map(|it| it.elapsed_ns).sum(),
        warnings: each_once(counted.iter().flat_map(|it| &it.warnings)),
        measurements: measurements.collect(),
        ..first.clone()
    }
}

fn over_measurements(all: &[&Measurement]) -> Measurement {
    let first = all[0];
    let over = |of: &dyn Fn(&Measurement) -> f64| {
        let values: Vec<f64> = all.iter().map(|it| of(it)).collect();
        mean_over(&values)
    };
    let bandwidth = first
        .bandwidth
        .map(|_| over(&|it| it.bandwidth.map_or(f64::NAN, |bytes| bytes.value)));
    let runs = format_counted(all.len() as u64, "run");
    Measurement {
        title: format!("{}, {runs}", first.title),
        response: over_times(all, |it| &it.response),
        service: over_times(all, |it| &it.service),
        throughput: over(&|it| it.throughput.value),
        bandwidth,
        completions: all.iter().map(|it| it.completions).sum(),
        completions_all: all.iter().map(|it| it.completions_all).sum(),
        bytes_all: all.iter().map(|it| it.bytes_all).sum(),
        duration_ns: all.iter().map(|it| it.duration_ns).sum(),
        verdict: worst(all),
        warnings: each_once(all.iter().flat_map(|it| &it.warnings)),
        kinds: Vec::new(),
        series: None,
        intervals: Vec::new(),
        server: None,
        window: None,
        service_window: None,
        tails: None,
        ..first.clone()
    }
}

/// The combined verdict: that of the first run that cannot be used, if any.
fn worst(all: &[&Measurement]) -> Verdict {
    let verdicts = all.iter().map(|it| &it.verdict);
    let mut bad = verdicts.filter(|it| !Trust::of(it, &[]).is_usable());
    *bad.next().unwrap_or(&all[0].verdict)
}

fn over_times(all: &[&Measurement], of: fn(&Measurement) -> &Times) -> Times {
    let first = of(all[0]);
    let means: Vec<f64> = all.iter().map(|it| of(it).mean.value).collect();
    let percentiles = first.percentiles.iter().map(|own| {
        let values = all
            .iter()
            .filter_map(|it| Some(of(it).percentile(own.p)?.value));
        let values: Vec<f64> = values.collect();
        PercentileEstimate {
            estimate: (values.len() == all.len()).then(|| mean_over(&values)),
            is_indicative: false,
            ..*own
        }
    });
    Times {
        mean: mean_over(&means),
        percentiles: percentiles.collect(),
        min_ns: all.iter().map(|it| of(it).min_ns).min().unwrap_or_default(),
        max_ns: all.iter().map(|it| of(it).max_ns).max().unwrap_or_default(),
    }
}

/// The mean, without an interval if there are too few runs for one.
fn mean_over(values: &[f64]) -> Estimate {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let unknown = || Estimate::exact(mean, values.len() as f64).without_interval();
    mean_of_repeats(values, RepeatsEnd::Fixed).unwrap_or_else(unknown)
}

/// Warnings of all runs, each code once.
fn each_once<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<Warning> {
    let mut kept: Vec<Warning> = Vec::new();
    for warning in warnings {
        if !kept.iter().any(|it| it.code == warning.code) {
            kept.push(warning.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use sample::run;

    /// Values 1, 2 and 3: the mean is 2, the deviation 1, and Student's t of two degrees 4.303.
    #[test]
    fn figures_are_means_over_the_runs_with_their_interval() {
        let runs = [1.0, 2.0, 3.0].map(|value| {
            let mut one = run();
            one.measurements[0].throughput = Estimate::exact(value, 1000.0);
            one
        });
        let all = over_runs(&runs);
        let throughput = all.measurements[0].throughput;
        let half = 4.302_652_73 / 3f64.sqrt();
        assert!((throughput.value - 2.0).abs() < 1e-12, "{throughput:?}");
        assert!(
            (throughput.high - (2.0 + half)).abs() < 1e-6,
            "{throughput:?}"
        );
        assert_eq!(all.elapsed_ns, 3 * runs[0].elapsed_ns);
        assert!(all.measurements[0].title.ends_with(", 3 runs"));
    }

    /// Bug: a run of 0.3 s ended by a signal weighed as much as three whole ones, and the sum of
    /// runs with too few samples was reliable.
    #[test]
    fn what_was_cut_off_does_not_count_and_what_cannot_be_used_is_not_forgotten() {
        let mut runs = [1.0, 3.0, 50.0].map(|value| {
            let mut one = run();
            one.measurements[0].throughput = Estimate::exact(value, 1000.0);
            one
        });
        runs[2].status = Status::Partial {
            reason: "stopped by SIGINT".into(),
        };
        let few = Verdict::Timed { is_citable: false };
        runs[1].measurements[0].verdict = few;
        let all = over_runs(&runs);
        assert!((all.measurements[0].throughput.value - 2.0).abs() < 1e-12);
        assert!(all.measurements[0].title.ends_with(", 2 runs"));
        assert_eq!(all.status, runs[2].status);
        assert_eq!(all.measurements[0].verdict, few);
        let alone = over_runs(&runs[2..]);
        assert!((alone.measurements[0].throughput.value - 50.0).abs() < 1e-12);
    }

    #[test]
    fn one_run_has_no_interval() {
        let all = over_runs(&[run()]);
        assert!(!all.measurements[0].throughput.is_bounded());
    }
}
