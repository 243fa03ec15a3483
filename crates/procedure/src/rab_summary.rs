//! Combines workloads of the RAID Performance Test: averages over groups, several runs, and
//! comparisons between modes.

use std::collections::{BTreeMap, BTreeSet};

use results::{Mode, ModeComparison, RabAverage, RabGroup, RabOverRuns, RabWorkload, Rabmark};
use stats::{Estimate, repeats_mean, student_t};

/// Averages of the RABmarks over each group, for every cycle and mode in which all `numbers` of the
/// group were measured completely: the document averages only tests that were run as a group.
pub fn rab_averages(
    workloads: &[RabWorkload],
    groups: &BTreeMap<u32, RabGroup>,
) -> Vec<RabAverage> {
    let whole = || workloads.iter().filter(|workload| workload.is_complete);
    let keys: BTreeSet<(u32, Mode, RabGroup)> =
        whole().map(|it| (it.run, it.mode, it.group)).collect();
    keys.into_iter()
        .filter_map(|(run, mode, group)| {
            let wanted = groups.iter().filter(|(_, its)| **its == group);
            let members: Vec<&RabWorkload> = wanted
                .map(|(number, _)| {
                    whole().find(|it| it.number == *number && it.run == run && it.mode == mode)
                })
                .collect::<Option<_>>()?;
            let marks = |mark: fn(&RabWorkload) -> Option<Rabmark>| {
                let marks: Option<Vec<Rabmark>> = members.iter().map(|it| mark(it)).collect();
                average(&marks?)
            };
            Some(RabAverage {
                run,
                group,
                mode,
                workloads: members.len() as u32,
                rabmark_r: marks(|it| it.rabmark_r)?,
                rabmark_s: marks(|it| it.rabmark_s)?,
            })
        })
        .collect()
}

/// The mean of independent estimates.
fn average(marks: &[Rabmark]) -> Option<Rabmark> {
    let count = marks.len() as f64;
    let value = marks.iter().map(|mark| mark.value.value).sum::<f64>() / count;
    let squares = marks.iter().map(|mark| half_width(&mark.value).powi(2));
    let half_width = squares.sum::<f64>().sqrt() / count;
    let samples = marks.iter().map(|mark| mark.value.samples);
    (!marks.is_empty()).then(|| Rabmark {
        value: around(value, half_width, samples.fold(f64::INFINITY, f64::min)),
        is_whole: marks.iter().all(|mark| mark.is_whole),
    })
}

/// Each workload, and each average over a group, combined over several runs in one mode.
pub fn rab_over_runs(workloads: &[RabWorkload], averages: &[RabAverage]) -> Vec<RabOverRuns> {
    let whole = || workloads.iter().filter(|workload| workload.is_complete);
    let keys: BTreeSet<(u32, Mode)> = whole().map(|it| (it.number, it.mode)).collect();
    let of_workloads = keys.into_iter().filter_map(|(number, mode)| {
        let mut runs = whole().filter(|it| (it.number, it.mode) == (number, mode));
        let marks: Vec<_> = runs
            .clone()
            .filter_map(|it| it.rabmark_r.zip(it.rabmark_s))
            .collect();
        let first = runs.next()?;
        let title = Some(first.title.clone());
        over_runs((first.name.clone(), title), (first.group, mode), &marks)
    });
    let keys: BTreeSet<(Mode, RabGroup)> = averages.iter().map(|it| (it.mode, it.group)).collect();
    let of_groups = keys.into_iter().filter_map(|(mode, group)| {
        let runs = averages
            .iter()
            .filter(|it| (it.mode, it.group) == (mode, group));
        let marks: Vec<_> = runs.map(|it| (it.rabmark_r, it.rabmark_s)).collect();
        let name = format!("{}-average", group.name());
        over_runs((name, None), (group, mode), &marks)
    });
    of_workloads.chain(of_groups).collect()
}

/// Combines several runs; `None` with fewer than two.
fn over_runs(
    (name, title): (String, Option<String>),
    (group, mode): (RabGroup, Mode),
    marks: &[(Rabmark, Rabmark)],
) -> Option<RabOverRuns> {
    let (of_load, of_bytes): (Vec<Rabmark>, Vec<Rabmark>) = marks.iter().copied().unzip();
    Some(RabOverRuns {
        name,
        title,
        group,
        mode,
        runs: marks.len() as u32,
        rabmark_r: mean_of_runs(&of_load)?,
        rabmark_s: mean_of_runs(&of_bytes)?,
    })
}

/// The mean of runs, with the wider of two intervals: that of repeats, and that implied by the
/// intervals of the runs.
fn mean_of_runs(runs: &[Rabmark]) -> Option<Rabmark> {
    let promised = average(runs)?;
    let values: Vec<f64> = runs.iter().map(|run| run.value.value).collect();
    let half = half_width(&promised.value).max(half_width(&repeats_mean(&values)?));
    Some(Rabmark {
        value: around(promised.value.value, half, promised.value.samples),
        ..promised
    })
}

/// Each workload's RABmark in every other mode relative to the first mode of the run.
///
/// With two or more values in both modes, the interval covers the variation between runs (Welch's t
/// on the logarithms). Otherwise it covers only the uncertainty within a run.
pub fn mode_comparisons(workloads: &[RabWorkload]) -> Vec<ModeComparison> {
    let Some(base) = workloads.iter().find(|it| it.is_complete).map(|it| it.mode) else {
        return Vec::new();
    };
    let names: BTreeMap<u32, &str> = workloads
        .iter()
        .map(|it| (it.number, it.name.as_str()))
        .collect();
    let mut comparisons = Vec::new();
    for (number, name) in names {
        for mode in Mode::ALL.into_iter().filter(|mode| *mode != base) {
            for (figure, mark) in FIGURES {
                let values = |mode: Mode| -> Vec<Estimate> {
                    workloads
                        .iter()
                        .filter(|it| it.number == number && it.mode == mode && it.is_complete)
                        .filter_map(|it| mark(it).map(|mark| mark.value))
                        .collect()
                };
                if let Some((ratio, spans_runs)) = ratio(&values(mode), &values(base)) {
                    comparisons.push(ModeComparison {
                        workload: name.into(),
                        figure: figure.into(),
                        base,
                        mode,
                        ratio,
                        spans_runs,
                    });
                }
            }
        }
    }
    comparisons
}

type MarkOf = fn(&RabWorkload) -> Option<Rabmark>;

const FIGURES: [(&str, MarkOf); 2] = [
    ("RABmark[r]", |it| it.rabmark_r),
    ("RABmark[s]", |it| it.rabmark_s),
];

/// Mean of `of` over mean of `to`, and whether its interval covers the variation between runs.
fn ratio(of: &[Estimate], to: &[Estimate]) -> Option<(Estimate, bool)> {
    let positive = |values: &[Estimate]| values.iter().all(|value| value.value > 0.0);
    if of.is_empty() || to.is_empty() || !positive(of) || !positive(to) {
        return None;
    }
    let logs = |values: &[Estimate]| -> (f64, f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().map(|it| it.value.ln()).sum::<f64>() / count;
        let squares = values.iter().map(|it| (it.value.ln() - mean).powi(2));
        (
            mean,
            squares.sum::<f64>() / (count - 1.0).max(1.0) / count,
            count,
        )
    };
    let ((of_mean, of_variance, of_count), (to_mean, to_variance, to_count)) = (logs(of), logs(to));
    let difference = of_mean - to_mean;
    let spans_runs = of.len() > 1 && to.len() > 1;
    let half_width = if spans_runs {
        let variance = of_variance + to_variance;
        let freedom = variance.powi(2)
            / (of_variance.powi(2) / (of_count - 1.0) + to_variance.powi(2) / (to_count - 1.0));
        student_t(0.975, freedom) * variance.sqrt()
    } else {
        let within = |values: &[Estimate]| {
            let squares = values.iter().map(|it| it.relative_half_width().powi(2));
            squares.sum::<f64>() / (values.len() as f64).powi(2)
        };
        (within(of) + within(to)).sqrt()
    };
    let value = difference.exp();
    let estimate = Estimate {
        low: (difference - half_width).exp(),
        high: (difference + half_width).exp(),
        ..Estimate::exact(value, of_count.min(to_count))
    };
    Some((estimate, spans_runs))
}

fn half_width(estimate: &Estimate) -> f64 {
    0.5 * (estimate.high - estimate.low)
}

fn around(value: f64, half_width: f64, samples: f64) -> Estimate {
    Estimate {
        low: (value - half_width).max(0.0),
        high: value + half_width,
        ..Estimate::exact(value, samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(run: u32, number: u32, mode: Mode, value: f64) -> RabWorkload {
        let mark = Rabmark {
            value: around(value, 0.03 * value, 1000.0),
            is_whole: true,
        };
        RabWorkload {
            run,
            number,
            name: format!("workload-{number}"),
            title: String::new(),
            group: RabGroup::Batch,
            mode,
            begun_ns: 0,
            elapsed_ns: 0,
            operations: 0,
            is_complete: true,
            no_load: None,
            levels: Vec::new(),
            curve: None,
            place_sets: None,
            measurement: None,
            rabmark_r: Some(mark),
            rabmark_s: Some(mark),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn only_a_whole_group_is_averaged() {
        let groups = BTreeMap::from([(4, RabGroup::Batch), (5, RabGroup::Batch)]);
        let mut workloads = vec![
            workload(1, 4, Mode::Normal, 10.0),
            workload(1, 5, Mode::Normal, 30.0),
            workload(2, 4, Mode::Normal, 10.0),
        ];
        let averages = rab_averages(&workloads, &groups);
        let [only] = averages.as_slice() else {
            panic!("{averages:?}");
        };
        assert_eq!((only.run, only.workloads), (1, 2));
        let mark = only.rabmark_r.value;
        assert_eq!(mark.value, 20.0);
        // Half-widths 0.3 and 0.9 add as squares.
        assert!((half_width(&mark) - 0.5 * 0.9_f64.hypot(0.3)).abs() < 1e-9);
        workloads[1].is_complete = false;
        assert!(rab_averages(&workloads, &groups).is_empty());
    }

    /// Bug: four runs gave four rows with disjoint intervals, and no row for all four.
    #[test]
    fn several_runs_are_one_row_whose_interval_holds_what_they_differ_by() {
        let groups = BTreeMap::from([(4, RabGroup::Batch)]);
        let values = [1.37, 1.21, 1.25, 1.27];
        let runs = (1..).zip(values);
        let workloads: Vec<RabWorkload> = runs
            .map(|(run, value)| workload(run, 4, Mode::Normal, value))
            .collect();
        let found = rab_over_runs(&workloads, &rab_averages(&workloads, &groups));
        let [row, average] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (row.runs, row.name.as_str(), average.name.as_str()),
            (4, "workload-4", "batch-average")
        );
        assert_eq!(row.rabmark_s, average.rabmark_s);
        // Standard deviation .0681, error .0340, times the 3.182 of three degrees of freedom.
        let mark = row.rabmark_s.value;
        assert!((mark.value - 1.275).abs() < 1e-9, "{mark:?}");
        assert!((half_width(&mark) - 0.1083).abs() < 1e-4, "{mark:?}");
        // Equal values are as uncertain as each run says: 3 % over the root of two.
        let alike = [1, 2].map(|run| workload(run, 4, Mode::Normal, 1.0));
        let found = rab_over_runs(&alike, &[]);
        let half = half_width(&found[0].rabmark_r.value);
        assert!((half - 0.03 / 2.0_f64.sqrt()).abs() < 1e-9, "{half}");
        assert!(rab_over_runs(&alike[..1], &[]).is_empty());
    }

    #[test]
    fn one_run_of_each_mode_gives_the_uncertainty_within_runs() {
        let workloads = [
            workload(1, 4, Mode::Normal, 10.0),
            workload(2, 4, Mode::Reduced, 5.0),
        ];
        let found = mode_comparisons(&workloads);
        assert_eq!(found.len(), 2);
        assert!((found[0].ratio.value - 0.5).abs() < 1e-9 && !found[0].spans_runs);
        let relative = (found[0].ratio.high / found[0].ratio.value).ln();
        assert!((relative - 0.03_f64.hypot(0.03)).abs() < 1e-9, "{relative}");
    }

    #[test]
    fn several_runs_of_each_mode_give_the_variation_between_them() {
        let workloads = [
            workload(1, 4, Mode::Normal, 10.0),
            workload(2, 4, Mode::Normal, 11.0),
            workload(3, 4, Mode::Reduced, 5.0),
            workload(4, 4, Mode::Reduced, 5.5),
        ];
        let found = mode_comparisons(&workloads);
        assert!(found[0].spans_runs);
        assert!((found[0].ratio.value - 0.5).abs() < 1e-9);
        // ln 1.1 = 0.0953; each variance of a mean is 0.0953^2 / 4, with one degree of freedom:
        // together two, whose t is 4.303.
        let expected = 4.302_65 * (2.0_f64 * 0.095_310_2_f64.powi(2) / 4.0).sqrt();
        let half_width = (found[0].ratio.high / found[0].ratio.value).ln();
        assert!(
            (half_width - expected).abs() < 1e-3,
            "{half_width} {expected}"
        );
    }
}
