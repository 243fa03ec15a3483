//! What a run found, as plain values: what archive, reports and screens read.

mod curve;
pub mod environment;
mod file_tests;
pub mod live;
mod measurement;
mod mode;
mod rab;
mod random_access;
mod run;
mod series;
mod transactions;
mod transfer;
mod warning;
mod what_if;

pub use curve::{Curve, CurvePoint, Level, LevelOutcome, Saturation};
pub use environment::{Caution, Environment, TargetDescription};
pub use file_tests::{
    FileCallTimes, FileComparison, FilePass, FileState, FileSystemRole, FileTest, FileTests,
    MetadataTree,
};
pub use measurement::{Access, CpuCost, ErrorCount, KindTimes, Lateness, Measurement, Times};
pub use mode::Mode;
pub use rab::{Group, ModeChange, ModeComparison, Rab, RabAverage, RabLevel, RabWorkload, Rabmark};
pub use random_access::{RandomAccess, RandomCell, RandomKind};
pub use run::{Run, SCHEMA_VERSION, Settings, Status};
pub use series::{SystemSample, SystemSeries};
pub use transactions::{
    StandardRow, StandardTable, TransactionLoad, Transactions, UserSearchResult, UserSearchStep,
    UserTimes,
};
pub use transfer::{
    AloneTogether, StreamPass, Transfer, TransferKind, TransferMode, TransferPass, TransferSeries,
    TransferStream,
};
pub use warning::{Severity, Warning};
pub use what_if::{
    DeviceRow, MeasuredRange, ModelParameter, ModelScore, Prediction, UnseenScore, WhatIf,
};
