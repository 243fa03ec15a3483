//! Clients that measure servers over a network: HTTP pages, FTP files, plain TCP streams; and a
//! link with known delay and rate to measure over.
//!
//! Knows nothing about studies, readings or reports. Every time counts from when a client starts to
//! connect. Failures are counted by cause and never dropped.

mod endpoint;
pub mod faults;
pub mod ftp;
pub mod http;
mod local_file;
pub mod name_space;
pub mod patience;
pub mod processor;
pub mod socket;
pub mod tcp;
#[cfg_attr(not(feature = "tls"), path = "without/tls.rs")]
mod tls;
mod transport;
pub mod url;
pub mod wire;

pub use endpoint::{Endpoint, EndpointError};
pub use faults::FailureCounts;
pub use tls::TLS_LEFT_OUT;

/// Parsers of data from servers and the kernel, for the fuzz targets.
#[doc(hidden)]
pub mod readers {
    pub use crate::ftp::reply::{Reply, read_reply};
    pub use crate::http::response::{Broken, Response};
}

/// Whether the measurement should stop.
pub type IsStopped<'a> = &'a (dyn Fn() -> bool + Sync);
