//! `watch --listen`, in a build without pages.

use std::net::SocketAddr;

use crate::exit::UsageError;
use crate::left_out::WEB;

/// A page of metrics, of which this build has none.
pub enum MetricsPage {}

impl MetricsPage {
    /// Refuse.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: SocketAddr) -> anyhow::Result<Self> {
        Err(UsageError(WEB.to_string()).into())
    }

    pub fn show(&self, _: String) {
        match *self {}
    }

    pub fn stop(self) {
        match self {}
    }
}
