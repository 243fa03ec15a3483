//! One archived invocation, with everything that is needed to repeat it.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::environment::{Environment, TargetDescription};
use crate::file_tests::FileTests;
use crate::measurement::Measurement;
use crate::rab::{Rab, RabWorkload};
use crate::random_access::RandomAccess;
use crate::study::Study;
use crate::timing::Timing;
use crate::transactions::Transactions;
use crate::transfer::Transfer;
use crate::warning::{Severity, Warning};

/// The version of the JSON form of a [`Run`]. It rises when a reader of an older form would go
/// wrong.
pub const SCHEMA_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Status {
    /// Everything was measured.
    Complete,
    /// It was stopped early; what had been measured by then is here.
    Partial {
        /// What stopped it.
        reason: String,
    },
}

/// The settings that fix what was done, as resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The command, as in `run`.
    pub command: String,
    /// The arguments as typed.
    pub arguments: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Time allowed, nanoseconds.
    pub budget_ns: Option<u64>,
    /// Bytes of the test file.
    pub size_bytes: Option<u64>,
    /// Levels asked for, nanoseconds.
    pub levels_ns: Vec<u64>,
    /// Number of workers.
    pub workers: u32,
    /// Which driver was asked for.
    pub driver: String,
    /// Requests handed to the kernel together at most; 0: an eighth of each worker's depth.
    pub batch: u32,
}

/// One invocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA_VERSION`] of the program that wrote this.
    pub schema: u32,
    /// Number in the archive, once it has one.
    pub id: Option<i64>,
    /// How it ended.
    pub status: Status,
    /// What was asked for.
    pub settings: Settings,
    /// Where it ran.
    pub environment: Environment,
    /// What was measured.
    pub target: TargetDescription,
    /// How long it took, nanoseconds.
    pub elapsed_ns: u64,
    /// Trials that are results, in the order of their making. Scouts of curves are in the curve.
    pub measurements: Vec<Measurement>,
    /// Response time against load.
    pub curve: Option<Curve>,
    /// The workloads of the RAID Performance Test.
    #[serde(default)]
    pub rab: Option<Rab>,
    /// What users of transactions saw.
    #[serde(default)]
    pub transactions: Option<Transactions>,
    /// Transfer rates.
    #[serde(default)]
    pub transfer: Option<Transfer>,
    /// Service times of random access.
    #[serde(default)]
    pub random: Option<RandomAccess>,
    /// Commands that were timed side by side.
    #[serde(default)]
    pub timing: Option<Timing>,
    /// How a measurement depends on factors.
    #[serde(default)]
    pub study: Option<Study>,
    /// Times of programs that use files.
    #[serde(default)]
    pub files: Option<FileTests>,
    /// What the run says about its target, in plain words; the most important first.
    pub findings: Vec<String>,
    /// Doubts about the whole run; those about one number are with it.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// A complete run of no length, in which nothing was measured: for `..Run::empty(…)` behind
    /// what a command did measure.
    #[must_use]
    pub fn empty(settings: Settings, environment: Environment, target: TargetDescription) -> Self {
        Self {
            schema: SCHEMA_VERSION,
            id: None,
            status: Status::Complete,
            settings,
            environment,
            target,
            elapsed_ns: 0,
            measurements: Vec::new(),
            curve: None,
            rab: None,
            transactions: None,
            transfer: None,
            random: None,
            timing: None,
            study: None,
            files: None,
            findings: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The measurement of that name.
    #[must_use]
    pub fn measurement(&self, name: &str) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|measurement| measurement.name == name)
    }

    /// Every warning of the run, its measurements and its curve.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings
            .iter()
            .chain(
                self.measurements
                    .iter()
                    .flat_map(|measurement| &measurement.warnings),
            )
            .chain(self.curve.iter().flat_map(|curve| &curve.warnings))
            .chain(
                self.rab
                    .iter()
                    .flat_map(|rab| rab.workloads.iter().flat_map(RabWorkload::all_warnings)),
            )
            .chain(
                self.transfer
                    .iter()
                    .flat_map(|found| &found.series)
                    .flat_map(|series| &series.warnings),
            )
            .chain(
                self.random
                    .iter()
                    .flat_map(|found| &found.cells)
                    .flat_map(|cell| &cell.warnings),
            )
            .chain(
                self.timing
                    .iter()
                    .flat_map(|found| &found.commands)
                    .flat_map(|command| &command.warnings),
            )
            .chain(
                self.files
                    .iter()
                    .flat_map(|found| &found.tests)
                    .flat_map(|test| &test.warnings),
            )
    }

    /// Whether a warning makes a number useless.
    #[must_use]
    pub fn has_void_number(&self) -> bool {
        self.all_warnings()
            .any(|warning| warning.severity == Severity::Void)
    }
}
