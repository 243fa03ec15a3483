//! `--live`, in a build without pages.

use std::net::SocketAddr;

use kinds::stage::Stage;
use results::Run;
use study::StudyStage;

use crate::exit::UsageError;
use crate::left_out::WEB;

/// A page of a run, of which this build has none.
pub enum LivePage {}

impl LivePage {
    /// Refuse.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: SocketAddr, _: &str) -> anyhow::Result<Self> {
        Err(UsageError(WEB.to_string()).into())
    }

    pub fn show(&mut self, _: &Stage<'_>) {
        match *self {}
    }

    pub fn show_study(&mut self, _: &StudyStage) {
        match *self {}
    }

    pub fn end(self, _: Option<&Run>) {
        match self {}
    }
}
