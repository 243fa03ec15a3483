//! Figures that a command offers, known before it measures, so that a goal on any other is refused
//! at once.

use results::{Unit, metrics_of};
use units::Duration;

use crate::requirement::{Requirement, split};

const SATURATION: &str = "saturation";

/// Rows with known names.
#[derive(Clone, Debug, PartialEq)]
pub enum OfferedRow {
    /// The only row, whose figures need no row name.
    Only(String),
    /// The row with that name.
    Named(String),
    /// A level of a load curve, such as `2ms` or `5ms@p99`: one of these in nanoseconds and
    /// percentile, or `None` if chosen by the curve.
    Level(Option<Vec<(u64, Option<f64>)>>),
    /// Rows known only after the measurement.
    Any,
}

/// The figures that a command offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfferedFigures {
    rows: Vec<(OfferedRow, Vec<(String, Unit)>)>,
    /// Trials that goals can request at a rate.
    rated: Vec<String>,
}

impl OfferedRow {
    fn is(&self, row: Option<&str>) -> bool {
        match (self, row) {
            (Self::Only(name), row) => row.is_none_or(|row| row == name),
            (Self::Named(name), Some(row)) => row == name,
            (Self::Level(levels), Some(row)) => level_of(row)
                .is_some_and(|asked| levels.as_ref().is_none_or(|levels| levels.contains(&asked))),
            (Self::Any, _) => true,
            (Self::Named(_) | Self::Level(_), None) => false,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Only(_) | Self::Any => String::new(),
            Self::Named(name) => name.clone(),
            Self::Level(_) => "a level, as in 1ms".into(),
        }
    }
}

/// A level's time and percentile.
fn level_of(row: &str) -> Option<(u64, Option<f64>)> {
    let (time, percentile) = match row.split_once("@p") {
        Some((time, percent)) => (time, Some(percent.parse::<f64>().ok()? / 100.0)),
        None => (row, None),
    };
    Some((time.parse::<Duration>().ok()?.as_nanos(), percentile))
}

impl OfferedFigures {
    /// Adds the metrics of that measurement in that row.
    #[must_use]
    pub fn and(mut self, row: OfferedRow, measurement: &str) -> Self {
        self.rows.push((row, metrics_of(measurement)));
        self
    }

    /// Adds the levels and the saturation of a load curve.
    #[must_use]
    pub fn and_curve(self, levels: Option<Vec<(u64, Option<f64>)>>) -> Self {
        let mut offer = self.and(OfferedRow::Level(levels), "curve");
        let iops = metrics_of("curve").into_iter().take(1);
        let saturation = OfferedRow::Named(SATURATION.into());
        offer.rows.push((saturation, iops.collect()));
        offer
    }

    /// Allows goals with a rate on the trial of that name.
    #[must_use]
    pub fn and_rated(mut self, trial: &str) -> Self {
        self.rated.push(trial.to_owned());
        self
    }

    /// Checks that the command offers the figures of the goals.
    ///
    /// # Errors
    /// Names the first goal that it cannot judge, and the figures on offer.
    pub fn check(&self, goals: &[Requirement]) -> Result<(), String> {
        goals.iter().try_for_each(|goal| self.check_one(goal))
    }

    fn check_one(&self, goal: &Requirement) -> Result<(), String> {
        let (row, metric) = split(goal.figure());
        let mut rows = self.rows.iter().filter(|(known, _)| known.is(row));
        let is_known = rows.any(|(_, metrics)| {
            let mut metrics = metrics.iter();
            metrics.any(|(name, unit)| name == metric && *unit == goal.unit())
        });
        let goal_text = goal.text();
        if !is_known {
            let figure = goal.figure();
            let why = match self.row_with(metric).filter(|_| row.is_none()) {
                Some(name) => format!(
                    "name the row, as in {name}.{}. Rows with it are {}",
                    metric.strip_prefix("latency-").unwrap_or(metric),
                    self.rows_with(metric).join(", ")
                ),
                None => format!(
                    "this command gives no {figure}. It gives {}",
                    self.in_words()
                ),
            };
            return Err(format!("--goal {goal_text:?}: {why}"));
        }
        let only = self.rows.iter().find_map(|(row, _)| match row {
            OfferedRow::Only(name) => Some(name.as_str()),
            _ => None,
        });
        let asked = row.or(only).unwrap_or_default();
        let is_rated = self.rated.iter().any(|it| it == asked);
        if goal.rate().is_none() || is_rated {
            return Ok(());
        }
        Err(match self.rated.join(", ") {
            none if none.is_empty() => format!(
                "--goal {goal_text:?}: only `run`, on random-read, and `trial` measure at a rate. \
                 Leave out @ and what follows"
            ),
            rated => format!("--goal {goal_text:?}: a rate can be set for {rated} only"),
        })
    }

    /// The first named row that has the metric.
    fn row_with(&self, metric: &str) -> Option<&str> {
        self.rows.iter().find_map(|(row, metrics)| match row {
            OfferedRow::Named(name) if metrics.iter().any(|it| it.0 == metric) => {
                Some(name.as_str())
            }
            _ => None,
        })
    }

    fn rows_with(&self, metric: &str) -> Vec<String> {
        let rows = self.rows.iter();
        let having = rows.filter(|(_, metrics)| metrics.iter().any(|it| it.0 == metric));
        having.map(|(row, _)| row.in_words()).collect()
    }

    /// The figures in words, with rows that share them grouped.
    fn in_words(&self) -> String {
        let mut groups: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        for (row, metrics) in &self.rows {
            let names: Vec<&str> = metrics.iter().map(|it| it.0.as_str()).collect();
            match groups.iter_mut().find(|(_, known)| *known == names) {
                Some((rows, _)) => rows.push(row.in_words()),
                None => groups.push((vec![row.in_words()], names)),
            }
        }
        let groups = groups.iter().map(|(rows, metrics)| {
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            let rows: Vec<&str> = rows.into_iter().filter(|it| !it.is_empty()).collect();
            match rows.as_slice() {
                [] => metrics.join(", "),
                rows => format!("{} of {}", metrics.join(", "), rows.join(", ")),
            }
        });
        groups.collect::<Vec<String>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offer: &OfferedFigures, goal: &str, expected: Result<(), &str>) {
        let goal: Requirement = goal.parse().expect("a goal");
        match (offer.check(&[goal]), expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn a_trial_has_its_figures_and_its_rates() {
        let offer = OfferedFigures::default()
            .and(OfferedRow::Only("trial".into()), "trial")
            .and_rated("trial");
        check(&offer, "p99 <= 2ms", Ok(()));
        check(&offer, "trial.p99.9 <= 2ms", Ok(()));
        check(&offer, "p99 <= 2ms @ 10k/s", Ok(()));
        check(
            &offer,
            "random_read.p99 <= 2ms",
            Err("no random-read.latency-p99. It gives iops,"),
        );
        check(
            &offer,
            "read.p99 <= 2ms @ 10k/s",
            Err("no read.latency-p99"),
        );
        check(&offer, "page-cache-share <= 5%", Err("no page-cache-share"));
    }

    #[test]
    fn levels_are_times() {
        let curve = OfferedFigures::default().and_curve(None);
        check(&curve, "2ms.iops >= 10k/s", Ok(()));
        check(&curve, "5ms@p99.iops >= 10k/s", Ok(()));
        check(&curve, "saturation.iops >= 10k/s", Ok(()));
        check(&curve, "soon.iops >= 10k/s", Err("a level, as in 1ms"));
        check(
            &curve,
            "iops >= 10k/s",
            Err("name the row, as in saturation.iops"),
        );
        check(&curve, "2ms.iops >= 10k/s @ 9k/s", Err("only `run`"));
        let given = OfferedFigures::default().and_curve(Some(vec![(2_000_000, None)]));
        check(&given, "2ms.iops >= 10k/s", Ok(()));
        check(&given, "1ms.iops >= 10k/s", Err("no 1ms.iops"));
    }
}
