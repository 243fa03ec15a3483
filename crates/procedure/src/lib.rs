//! Decides what to measure next, and judges results: single trials, load curves, the check-up.
//!
//! Measurements go in, the next step comes out. Nothing here uses a clock, a file or a thread.

mod checkup;
mod curve;
mod doubts;
mod failures;
mod figure_name;
mod file_tests;
mod foreign;
mod mixed;
mod offer;
mod over_runs;
mod own_limits;
mod plan;
mod positioning;
mod profiles;
mod rab;
mod rab_batch;
mod rab_summary;
mod random_access;
mod repeats;
mod replay;
mod replications;
mod requirement;
mod rounds;
mod row;
mod single;
mod ssd;
pub mod study;
mod timing;
mod transactions;
mod transfer;
mod trial;
mod unfinished;
mod user_search;
mod verdict;
mod whatif;

pub use checkup::{
    CACHE_FILE, CheckUp, CheckUpFacts, CheckUpOptions, CheckUpOutcome, CheckUpStep,
    FIRST_SMALL_FILE, MAIN_BUFFERED, MAIN_DIRECT, SIZE_MIN, SMALL_FILES_MAX, cached_part, deals,
    fill_trial, is_second_look,
};
pub use curve::{
    CurveOptions, Levels, LoadCurve, POINTS_MIN, PointPlan, level_grid, warm_up_left_out,
};
pub use doubts::doubts;
pub use engine::OnError;
pub use failures::silent_part;
pub use figure_name::whole_name;
pub use file_tests::{
    DeviceRead, FileCell, FileItem, FilePlayed, FileStep, FilesPlan, FilesProcedure, RoundOrder,
    file_test, files_findings, growth, over_memory, time_alike,
};
pub use foreign::{OwnDeviceWork, OwnIo, Splitting, device_time, foreign_io, foreign_warning};
pub use monitor::{Ending, Monitor, TimeLimit, WithinLimit, usual_interval};
pub use offer::{OfferedFigures, OfferedRow};
pub use over_runs::over_runs;
pub use own_limits::busy_worker;
pub use plan::Plan;
pub use positioning::{
    PositioningError, PositioningFound, PositioningPlan, position, positioning_found,
    positioning_order, wider_bin,
};
pub use profiles::{
    APPLICATIONS, ApplicationProfile, LoadOperation, LoadOrder, PerMachine, ProfileLimit,
    ProfileLoad, ProfileStep, applications, profile_names, profile_text, read_profile,
};
pub use rab::{RabOptions, RabProcedure, RabSubject};
pub use rab_summary::{mode_comparisons, rab_averages, rab_over_runs};
pub use random_access::{
    BLOCKS_MIN, CellPlan, RandomOptions, RandomProcedure, RandomShape, RandomStep, ShapeError,
    SweepCells, TRIAL_MIN, random_doubts, random_findings,
};
pub use replay::{MeanPass, Replayed, passes_measured, replay};
pub use requirement::{Requirement, rated_name, split};
pub use rounds::{Rounds, RoundsEnd, RoundsRule, fits_another, most_within, time_needed};
pub use row::{RowOutline, row_measurement};
pub use single::{Circumstances, Standstill, TrialError, first_error, run_inline, summarise};
pub use ssd::{
    DemandPoint, LAPS_MIN, RoundTime, SegmentLoad, SsdOptions, SsdPhasePlan, SsdPlace,
    SsdProcedure, SsdSegmentPlan, SsdSegmentProcedure, SsdStep, SsdTest, pts_window, round_trend,
    ssd_findings, ssd_sayings, ssd_segments_saying, ssd_warnings,
};
pub use timing::{
    ROUNDS_MIN, TimingProcedure, TimingStep, compare_commands, make_means_geometric,
    summarise_command,
};
pub use transactions::{UnitCounts, transaction_load};
pub use transfer::{
    PassCount, SeriesPlan, TransferShape, alone_together, memory_up_to, rate_over, transfer_doubts,
};
pub use trial::{Preparation, Trial};
pub use user_search::{SearchOptions, SearchPlan, UserSearch};
pub use verdict::verdict;
pub use whatif::{
    Analysis, CacheClasses, Evidence, EvidenceError, GROUPS_MIN, Inquiry, LoadPoint,
    ProcessorDemand, QuestionError, RMS_MAX, SystemChange, WhatIfQuestion, cache_classes,
    curve_evidence, evidence,
};
