//! What is asked of a server, and what came of it.

use std::time::Duration;

use stats::Histogram;

use crate::FailureCounts;
use crate::url::Url;

/// Whether connections outlive a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// A new connection for each request, as in 1994.
    Cold,
    /// Connections stay open from request to request and from page to page.
    Kept,
}

/// When no more pages are begun. Pages under way are always finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many in all.
    Pages(u64),
    /// After so long.
    Span(Duration),
}

/// Clients that load a page again and again, each without a pause.
#[derive(Clone, Debug)]
pub struct PagePlan {
    /// The document.
    pub page: Url,
    /// Paths of what it shows, on the same server; loaded when the document is there.
    pub objects: Vec<String>,
    /// Clients at the same time.
    pub clients: usize,
    /// Connections that one client has at most.
    pub connections: usize,
    /// Whether they are kept.
    pub reuse: Reuse,
    /// When it ends.
    pub until: Until,
    /// How long one request may take, from connecting to its last byte.
    pub timeout: Duration,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct PageOutcome {
    /// From the start of the first connection to the end of the last page.
    pub elapsed: Duration,
    /// The span in which requests and bytes were counted for their rates: with
    /// [`Until::Span`] what was begun in it may end after it, and is not counted.
    pub counted: Duration,
    /// Pages that came whole.
    pub pages: u64,
    /// Pages with a document or an object that did not come.
    pub pages_broken: u64,
    /// Times of whole pages in nanoseconds: from the start of the first connection, or the first
    /// request where it was kept, to the last byte of the last object.
    pub page_times: Histogram,
    /// Times of good requests, in nanoseconds; with the connecting where there was some.
    pub request_times: Histogram,
    /// Times of good requests to the first byte of their answer, in nanoseconds, as
    /// `request_times`.
    pub first_byte_times: Histogram,
    /// Good requests.
    pub requests: u64,
    /// Good requests within `counted`.
    pub requests_counted: u64,
    /// Bytes of the answers' bodies, all of them.
    pub body_bytes: u64,
    /// Bytes received within `counted`, with headers.
    pub bytes_counted: u64,
    /// Connections made.
    pub connects: u64,
    /// Requests sent once more because the server had closed a kept connection meanwhile.
    pub resent: u64,
    /// What failed.
    pub faults: FailureCounts,
    /// Processor time of this client.
    pub client_cpu: Duration,
    /// Somebody ended it early.
    pub is_stopped: bool,
}
