//! Requests that a workload asks for as they are listed.

use std::fmt;
use std::sync::Arc;

use units::Duration;

use crate::op::Op;

/// Requests, and when each is due since the workload's start, in that order.
#[derive(Clone, PartialEq, Eq)]
pub struct JobScript(pub Arc<[(Duration, Op)]>);

impl fmt::Debug for JobScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requests", self.0.len())
    }
}
