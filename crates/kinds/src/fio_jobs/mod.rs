//! fio's jobs, carried out: phases between walls, workloads side by side within a phase.

mod amount;
mod checks;
mod curve_targets;
mod file_calls;
mod file_names;
mod fill;
mod follow;
mod hosts;
mod job_values;
mod laws;
mod load_shares;
mod opened;
mod pace;
mod pattern;
mod plan;
mod replayed;
mod reporting;
mod request_log;
mod run;
mod saturation;
mod steady_count;
mod targets;
mod verify;
mod workload_file;

pub use curve_targets::{CurveOfTargets, curve_of_targets};
pub use file_calls::CalledFiles;
pub use follow::LogTo;
pub use hosts::HostTimes;
pub use load_shares::LoadShares;
pub use opened::{UnfitJobs, check_jobs};
pub use plan::{FioPlan, JobPhase, JobStorage, OutputRow, PlanError, phase_names, plan_jobs};
pub use reporting::{Reporting, StatusReports};
pub use run::{FioRequest, FioRun, JobTimes, TrialShape, as_fio_date, run_jobs};
pub use targets::trial_of_targets;
pub use verify::{AfterPhase, VerifyPlan};
pub use workload_file::{JobTarget, WorkloadText, read_workloads};
