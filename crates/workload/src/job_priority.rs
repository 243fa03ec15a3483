//! I/O priorities of a workload's requests.

use random::Stream;
use serde::{Deserialize, Serialize};

use crate::op::IoPriority;

/// A share of requests with a priority; the rest has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityShare {
    /// Requests with this length; any length if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub len: Option<u32>,
    /// Percentage of them.
    pub percent: u32,
    pub priority: IoPriority,
}

/// The priority of a request of that length.
pub(crate) fn draw(shares: &[PriorityShare], len: u32, choice: &mut Stream) -> IoPriority {
    if shares.is_empty() {
        return IoPriority::default();
    }
    let mut left = choice.below(100);
    let of_len = shares.iter().filter(|it| it.len.is_none_or(|it| it == len));
    for share in of_len {
        if left < u64::from(share.percent) {
            return share.priority;
        }
        left -= u64::from(share.percent);
    }
    IoPriority::default()
}
