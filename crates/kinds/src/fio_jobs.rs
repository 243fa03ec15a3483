//! fio's jobs, carried out: phases between walls, workloads side by side within a phase.

mod beside;
mod checks;
mod follow;
mod plan;
mod run;
mod verify;

pub use beside::{Beside, Status};
pub use follow::LogTo;
pub use plan::{FioPlan, Phase, PlanError, Row, Storage, phase_names, plan_jobs};
pub use run::{FioRequest, FioRun, JobTimes, run_jobs};
pub use verify::{AfterPhase, VerifyPlan};
