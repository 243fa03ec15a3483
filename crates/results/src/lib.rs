//! What a run found, as plain values: what archive, reports and screens read.

mod curve;
pub mod environment;
mod file_tests;
mod generator;
pub mod live;
mod measurement;
mod mode;
mod positioning;
mod rab;
mod random_access;
mod reading;
mod run;
mod series;
mod study;
mod timing;
mod transactions;
mod transfer;
mod validation;
mod warning;
mod what_if;

pub use curve::{Arrivals, Curve, CurvePoint, Level, LevelOutcome, OpenTrial, Saturation};
pub use environment::{Caution, Environment, TargetDescription};
pub use file_tests::{
    FileCallTimes, FileComparison, FilePass, FileState, FileSystemRole, FileTest, FileTests,
    MetadataTree,
};
pub use generator::{Generator, RoomWait};
pub use measurement::{
    Access, CpuCost, ErrorCount, KindTimes, Lateness, Measurement, Tails, Times, Unfinished,
};
pub use mode::Mode;
pub use positioning::{Positioning, PublishedPositioning};
pub use rab::{Group, ModeChange, ModeComparison, Rab, RabAverage, RabLevel, RabWorkload, Rabmark};
pub use random_access::{RandomAccess, RandomCell, RandomKind};
pub use reading::{Better, Reading, Unit};
pub use run::{Run, SCHEMA_VERSION, Settings, Status};
pub use series::{SteadyLaw, SystemSample, SystemSeries};
pub use study::{
    Study, StudyCell, StudyComparison, StudyFactor, StudyFigure, StudyOutlier, StudyReplicate,
    StudyScale, StudySetting, StudyVerdict,
};
pub use timing::{CommandComparison, TimedCommand, TimedRun, Timing};
pub use transactions::{
    StandardRow, StandardTable, TransactionLoad, Transactions, UserSearchResult, UserSearchStep,
    UserTimes,
};
pub use transfer::{
    AloneTogether, StreamPass, Transfer, TransferKind, TransferMode, TransferPass, TransferSeries,
    TransferStream,
};
pub use validation::{Bar, Reference, Standing, Validation, ValidationRow, ValidationTable};
pub use warning::{Severity, Warning};
pub use what_if::{
    DeviceRow, MeasuredRange, ModelParameter, ModelScore, Prediction, UnseenScore, WhatIf,
};
