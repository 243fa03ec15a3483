//! Listed requests of a workload.

use std::fmt;
use std::sync::Arc;

use units::Duration;

use crate::op::Op;

/// Requests with their due times since the workload's start, in order.
#[derive(Clone, PartialEq, Eq)]
pub struct JobScript(pub Arc<[(Duration, Op)]>);

impl fmt::Debug for JobScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests", self.0.len())
    }
}
