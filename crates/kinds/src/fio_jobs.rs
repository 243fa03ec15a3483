//! fio's jobs, carried out: phases between walls, workloads side by side within a phase.

mod beside;
mod follow;
mod plan;
mod run;

pub use beside::{Beside, Status};
pub use follow::LogTo;
pub use plan::{FioPlan, Phase, PlanError, Row, Storage, plan_jobs};
pub use run::{FioRequest, FioRun, JobTimes, run_jobs};
