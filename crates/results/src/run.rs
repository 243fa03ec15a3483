//! One archived invocation, with everything needed to repeat it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::environment::{Environment, TargetDescription, TargetKind};
use crate::goal::GoalVerdict;
use crate::measurement::Measurement;
use crate::note::RunNote;
use crate::price::Price;
use crate::series::SystemSeries;
use crate::setup::Setup;
use crate::table::Table;
use crate::verdict::RunVerdict;
use crate::warning::{Severity, Warning};
use crate::warning_code::WarningCode;

/// The version of the JSON form of a [`Run`]. It rises when a reader of an older form would go
/// wrong; runs of unknown versions are refused.
pub const SCHEMA_VERSION: u32 = 5;

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Status {
    /// Everything was measured.
    #[default]
    Complete,
    /// Stopped early. Contains what had been measured by then.
    Partial {
        /// What stopped it.
        reason: String,
    },
}

/// One invocation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the program that wrote this.
    pub schema: u32,
    /// Number in the archive, once it has one.
    pub id: Option<i64>,
    /// Whether it is complete.
    pub status: Status,
    /// Settings as resolved.
    #[serde(rename = "setup")]
    pub settings: Setup,
    /// Where it ran.
    pub environment: Environment,
    /// What was measured.
    pub target: TargetDescription,
    /// The verdict; absent in runs of older versions until they are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<RunVerdict>,
    /// Other targets measured, such as a memory disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_targets: Vec<TargetDescription>,
    /// The price of the system, if given for display or export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// Trials that are results, in order of measurement. Search points of curves are in the curve.
    pub measurements: Vec<Measurement>,
    /// Response time against load.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Parts of an experiment's note; absent if it is not one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<RunNote>,
    /// Results of its kind of measurement, besides trials and curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// Goals and their verdicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalVerdict>,
    /// Findings about the target in plain words, the most important first.
    pub findings: Vec<String>,
    /// Warnings about the whole run. Those about a trial or curve are stored there.
    pub warnings: Vec<Warning>,
    /// Warnings about rows of its tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_warnings: Vec<RowWarning>,
}

/// A warning about a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowWarning {
    /// Name of the row.
    pub row: String,
    /// The warning.
    #[serde(flatten)]
    pub warning: Warning,
}

impl RowWarning {
    /// Warnings of rows by name.
    pub(crate) fn of_rows<'a>(
        rows: impl Iterator<Item = (impl Into<String>, &'a Vec<Warning>)>,
    ) -> Vec<Self> {
        let of_row = |(row, warnings): (_, &'a Vec<Warning>)| {
            let row: String = Into::into(row);
            let warnings = warnings.iter().cloned();
            warnings.map(move |warning| Self {
                row: row.clone(),
                warning,
            })
        };
        rows.flat_map(of_row).collect()
    }
}

impl Run {
    /// A complete run of no length with no measurements, for `..Run::empty(…)` after the measured
    /// fields.
    pub fn empty(settings: Setup, environment: Environment, target: TargetDescription) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            settings,
            environment,
            target,
            ..Self::default()
        }
    }

    /// Whether a table summarises the trials, which then have no rows of their own in summaries.
    pub fn are_trials_summed_up(&self) -> bool {
        self.tables.iter().any(|it| it.sums_up_trials)
    }

    /// Whether only models were measured, in virtual time.
    pub fn is_of_models(&self) -> bool {
        let mut places = std::iter::once(&self.target).chain(&self.other_targets);
        places.all(|it| it.kind == TargetKind::Simulated)
    }

    /// The measurement of that name.
    pub fn measurement(&self, name: &str) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|measurement| measurement.name == name)
    }

    /// The run's main load curve, if no table summarises it.
    pub fn curve(&self) -> Option<&Curve> {
        self.curves.first().filter(|_| !self.are_trials_summed_up())
    }

    /// Everything recorded by interval: the measurement, its number of clients or users, and its
    /// intervals.
    pub fn intervals(&self) -> impl Iterator<Item = (&str, u32, &SystemSeries)> {
        let trials = self.measurements.iter();
        trials.filter_map(|it| Some((it.name.as_str(), it.clients, it.series.as_ref()?)))
    }

    /// Every warning with its scope: `run`, `curve`, the title of one of several curves, or the
    /// name of a row.
    pub fn scoped_warnings(&self) -> impl Iterator<Item = (String, &Warning)> {
        fn of<'a>(
            scope: impl Into<String>,
            warnings: impl IntoIterator<Item = &'a Warning>,
        ) -> impl Iterator<Item = (String, &'a Warning)> {
            let scope = scope.into();
            warnings.into_iter().map(move |it| (scope.clone(), it))
        }
        let measured = self.measurements.iter();
        let curves = self.curves.iter().map(|it| match self.curve() {
            Some(_) => ("curve", &it.warnings),
            None => (it.title.as_str(), &it.warnings),
        });
        let rows = self.row_warnings.iter();
        of("run", &self.warnings)
            .chain(measured.flat_map(|it| of(&it.name, &it.warnings)))
            .chain(curves.flat_map(|(scope, warnings)| of(scope, warnings)))
            .chain(rows.map(|it| (it.row.clone(), &it.warning)))
    }

    /// I/O engines of its trials, such as `uring`; empty if there were none.
    pub fn engines(&self) -> String {
        let engines: BTreeSet<&str> = self.measurements.iter().map(|it| &*it.driver).collect();
        engines.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// All warnings of the run, its measurements and its curves.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.scoped_warnings().map(|(_, warning)| warning)
    }

    /// What the first finding says about storage that changed during a check-up.
    pub fn change(&self) -> Option<&str> {
        let has_changed = |it: &Warning| it.code == WarningCode::LevelChanged;
        let first = self.findings.first()?;
        self.all_warnings()
            .any(has_changed)
            .then_some(first.as_str())
    }

    /// Whether a warning makes a figure invalid.
    pub fn has_invalid_number(&self) -> bool {
        self.all_warnings()
            .any(|warning| warning.severity == Severity::Invalid)
    }
}
