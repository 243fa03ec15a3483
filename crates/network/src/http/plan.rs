//! A planned load, and its result.

use std::time::Duration;

use stats::Histogram;

use crate::FailureCounts;
use crate::url::Url;

/// Whether connections are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// A new connection per request, as in 1994.
    Cold,
    /// Connections stay open between requests and pages.
    Kept,
}

/// When to stop starting pages. Pages in progress are always finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this many in total.
    Pages(u64),
    /// After this time.
    Span(Duration),
}

/// Clients that load a page repeatedly without pause.
#[derive(Clone, Debug)]
pub struct PagePlan {
    /// The document.
    pub page: Url,
    /// Paths of its inlined objects on the same server, loaded after the document.
    pub objects: Vec<String>,
    /// Number of concurrent clients.
    pub clients: usize,
    /// Maximum connections per client.
    pub connections: usize,
    /// Whether connections are reused.
    pub reuse: Reuse,
    /// When to stop.
    pub until: Until,
    /// Maximum time of a request, from connecting to its last byte.
    pub timeout: Duration,
}

/// Result of a load.
#[derive(Clone, Debug, Default)]
pub struct PageOutcome {
    /// From the start of the first connection to the end of the last page.
    pub elapsed: Duration,
    /// The time in which requests and bytes were counted for rates. With [`Until::Span`], requests
    /// that end after it are not counted.
    pub counted: Duration,
    /// Complete pages.
    pub pages: u64,
    /// Pages with a missing document or object.
    pub pages_broken: u64,
    /// Times of complete pages, nanoseconds: from the start of the first connection (or of the
    /// first request on a kept one) to the last byte of the last object.
    pub page_times: Histogram,
    /// Times of successful requests, nanoseconds, including any connecting.
    pub request_times: Histogram,
    /// Times to first byte of successful requests, nanoseconds, as in `request_times`.
    pub first_byte_times: Histogram,
    /// Successful requests.
    pub requests: u64,
    /// Successful requests within `counted`.
    pub requests_counted: u64,
    /// Total bytes of response bodies.
    pub body_bytes: u64,
    /// Bytes received within `counted`, headers included.
    pub bytes_counted: u64,
    /// Connections opened.
    pub connects: u64,
    /// Requests retried because the server had closed a kept connection.
    pub resent: u64,
    /// Failures by cause.
    pub faults: FailureCounts,
    /// CPU time of this client.
    pub client_cpu: Duration,
    /// Whether it was stopped early.
    pub is_stopped: bool,
}
