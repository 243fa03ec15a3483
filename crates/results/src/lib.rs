//! Results of a run as plain values, read by archive, reports and screens.

mod comparison;
mod curve;
pub mod environment;
mod failure;
mod file_tests;
mod generator;
mod goal;
mod interval;
mod json;
pub mod live;
mod measurement;
pub mod metric;
mod mode;
mod named;
mod note;
mod percentile;
mod price;
mod rab;
mod random_access;
mod rank_share;
mod reading;
mod replay;
mod replicate;
mod run;
mod saying;
mod schema_3;
mod seed;
mod series;
mod setup;
mod show;
mod ssd;
mod study;
mod summary;
mod table;
mod tables;
mod timing;
mod transactions;
mod transfer;
mod validation;
mod verdict;
mod warning;
mod warning_code;
mod what_if;

pub use comparison::{
    FigureRatio, RatioRow, SetupDifference, Shown, compare, ratio_table, set_differences,
    setup_differences, workload_differences,
};
pub use curve::{Arrivals, Curve, CurveLevel, CurvePoint, LevelOutcome, OpenTrial, Saturation};
pub use environment::{Caution, Environment, RankHost, TargetDescription};
pub use failure::{ErrorClass, ErrorCount};
pub use file_tests::{
    FileCallTimes, FileComparison, FilePass, FileState, FileSystemRole, FileTest, FileTests,
    FileTransfers, MetadataTree, ONE_BLOCK, StonewallFigures, StonewallPass,
};
pub use generator::{Generator, RoomWait};
pub use goal::{GateLimit, GateRow, GoalVerdict, LimitVerdict, StudyChange, StudyLimit};
pub use interval::{Interval, histogram_in, histogram_text, percentile_in};
pub use json::{JsonError, from_json, json, json_without_tables};
pub use measurement::{
    Access, CpuCost, KindTimes, Lateness, Measurement, Resolution, Tails, Times,
    UnfinishedOperations, Work,
};
pub use metric::{KnownMetric, METRICS, is_metric, metrics_of};
pub use mode::Mode;
pub use named::NamedFigure;
pub use note::RunNote;
pub use percentile::{PERCENTILES, Percentile, USER_PERCENTILE, shares, user_shares};
pub use price::{PRICE, Price};
pub use rab::{
    ModeChange, ModeComparison, Rab, RabAverage, RabGroup, RabLevel, RabOverRuns, RabWorkload,
    Rabmark,
};
pub use random_access::{RandomAccess, RandomCell, RandomKind};
pub use rank_share::RankShare;
pub use reading::{Better, Reading, Unit};
pub use replay::{Replay, ReplayDeal, ReplayHost, ReplayLag, ReplayPace};
pub use replicate::{Replicate, ReplicateTurn};
pub use run::{RowWarning, Run, SCHEMA_VERSION, Status};
pub use saying::{KNOWN, Saying, change_in_words, in_a_sentence, known, spoken, with_unit};
pub use series::{Law, QueueLaw, ServerTimes, SteadyLaw, SystemSample, SystemSeries};
pub use setup::{FileText, RunSetting, SettingOrigin, Setup};
pub use show::{PlotOf, Show, TableShape};
pub use ssd::{
    COMPOSITE_SIZES, DeviceHealth, PtsWindow, PurgeRecord, RoundTrend, SsdBurst, SsdCell,
    SsdCellRound, SsdLoad, SsdPattern, SsdPhase, SsdRound, SsdSegment, SsdTests, Tracked,
};
pub use study::{
    Study, StudyCell, StudyComparison, StudyFactor, StudyFigure, StudyKinds, StudyOutlier,
    StudyReplicate, StudyScale, StudySetting, StudyVerdict,
};
pub use summary::{Entries, GoalSummary, Summary};
pub use table::{Figure, Metric, Role, Row, Table, Trust, percentile_name};
pub use tables::{Io500Found, Io500PhaseFound, SSD_SEGMENTS};
pub use timing::{CommandComparison, TimedCommand, TimedRun, Timing, TimingVerdict};
pub use transactions::{
    StandardRow, StandardTable, TransactionLoad, Transactions, UserSearchOutcome, UserSearchResult,
    UserSearchStep, UserTimes,
};
pub use transfer::{
    AloneTogether, BlockTimes, StreamPass, Transfer, TransferKind, TransferMode, TransferPass,
    TransferSeries, TransferStream,
};
pub use validation::{Bar, Reference, Standing, Validation, ValidationRow, ValidationTable};
pub use verdict::{RunVerdict, main_rows};
pub use warning::{Severity, Warning};
pub use warning_code::{UnlistedCode, WarningCode, WarningScope};
pub use what_if::{
    DeviceRow, MeasuredRange, ModelParameter, ModelScore, Prediction, UnseenScore, WhatIf,
};
pub use workload::{DirectoryUse, TransferOrder};
