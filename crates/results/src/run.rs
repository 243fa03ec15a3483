//! One archived invocation, with everything that is needed to repeat it.

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
/// wrong; a run of any other version is not read.
pub const SCHEMA_VERSION: u32 = 5;

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Status {
    /// Everything was measured.
    #[default]
    Complete,
    /// It was stopped early; what had been measured by then is here.
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
    /// How it ended.
    pub status: Status,
    /// What was asked for, as resolved.
    #[serde(rename = "setup")]
    pub settings: Setup,
    /// Where it ran.
    pub environment: Environment,
    /// What was measured.
    pub target: TargetDescription,
    /// What it comes to; absent in runs of older versions, until they are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<RunVerdict>,
    /// What was measured beside it, such as a memory disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_targets: Vec<TargetDescription>,
    /// What the system costs, where that was said of a run that is shown or exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// Trials that are results, in the order of their making. Scouts of curves are in the curve.
    pub measurements: Vec<Measurement>,
    /// Response time against load.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// What it has as the note of an experiment; absent where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<RunNote>,
    /// What its kind of measurement found, beside trials and curves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// What its figures were required to be, and whether they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<GoalVerdict>,
    /// What the run says about its target, in plain words; the most important first.
    pub findings: Vec<String>,
    /// Doubts about the whole run; those about a trial or a curve are with it.
    pub warnings: Vec<Warning>,
    /// Doubts about rows of its tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_warnings: Vec<RowWarning>,
}

/// A doubt about a row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowWarning {
    /// The row, as it is named.
    pub row: String,
    /// What must be known of it.
    #[serde(flatten)]
    pub warning: Warning,
}

impl RowWarning {
    /// The warnings of rows, each by its name.
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
    /// A complete run of no length, in which nothing was measured: for `..Run::empty(…)` behind
    /// what a command did measure.
    #[must_use]
    pub fn empty(settings: Setup, environment: Environment, target: TargetDescription) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            settings,
            environment,
            target,
            ..Self::default()
        }
    }

    /// Whether a table sums up the trials, which then have no rows of their own in summaries.
    #[must_use]
    pub fn are_trials_summed_up(&self) -> bool {
        self.tables.iter().any(|it| it.sums_up_trials)
    }

    /// Whether no storage was measured, but models in virtual time.
    #[must_use]
    pub fn is_of_models(&self) -> bool {
        let mut places = std::iter::once(&self.target).chain(&self.other_targets);
        places.all(|it| it.kind == TargetKind::Simulated)
    }

    /// The measurement of that name.
    #[must_use]
    pub fn measurement(&self, name: &str) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|measurement| measurement.name == name)
    }

    /// The load curve that the run is about, where no table sums it up.
    #[must_use]
    pub fn curve(&self) -> Option<&Curve> {
        self.curves.first().filter(|_| !self.are_trials_summed_up())
    }

    /// Everything that was recorded interval by interval: the measurement, how many clients or
    /// users it had, and what came in each interval.
    pub fn intervals(&self) -> impl Iterator<Item = (&str, u32, &SystemSeries)> {
        let trials = self.measurements.iter();
        trials.filter_map(|it| Some((it.name.as_str(), it.clients, it.series.as_ref()?)))
    }

    /// Every warning, with what it is about: `run`, `curve`, the title of one of several curves, or
    /// the name of a row.
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

    /// The I/O engines that its trials used, such as `uring`; empty where there were none.
    #[must_use]
    pub fn engines(&self) -> String {
        let engines: BTreeSet<&str> = self.measurements.iter().map(|it| &*it.driver).collect();
        engines.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// Every warning of the run, its measurements and its curve.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.scoped_warnings().map(|(_, warning)| warning)
    }

    /// What the first finding says of storage that was not the same at the end of a check-up.
    #[must_use]
    pub fn change(&self) -> Option<&str> {
        let has_changed = |it: &Warning| it.code == WarningCode::LevelChanged;
        let first = self.findings.first()?;
        self.all_warnings()
            .any(has_changed)
            .then_some(first.as_str())
    }

    /// Whether a warning makes a number useless.
    #[must_use]
    pub fn has_invalid_number(&self) -> bool {
        self.all_warnings()
            .any(|warning| warning.severity == Severity::Invalid)
    }
}
