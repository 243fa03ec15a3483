//! fio's jobs, carried out: phases between walls, workloads side by side within a phase.

mod checks;
mod fill;
mod follow;
mod hosts;
mod opened;
mod pace;
mod plan;
mod reporting;
mod request_log;
mod run;
mod steady_count;
mod targets;
mod verify;
mod workload_file;

pub use follow::LogTo;
pub use hosts::HostTimes;
pub use plan::{FioPlan, Phase, PlanError, Row, Storage, phase_names, plan_jobs};
pub use reporting::{Reporting, Status};
pub use run::{FioRequest, FioRun, JobTimes, TrialShape, run_jobs};
pub use targets::{curve_of_targets, trial_of_targets};
pub use verify::{AfterPhase, VerifyPlan};
pub use workload_file::{JobTarget, WorkloadText, read_workloads};
