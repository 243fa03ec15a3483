//! What this program itself had and did during a trial: how much of a number may be its own.

use serde::{Deserialize, Serialize};

/// The program's own part in a trial on real storage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Memory for transfers, bytes, over all workers.
    pub buffer_bytes: u64,
    /// Share of it, 0 to 1, that lay in huge pages; absent where the kernel does not tell.
    pub huge_page_share: Option<f64>,
}
