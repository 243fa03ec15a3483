//! Clients provided by a kind of measurement.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::address::AddressError;
use crate::client::Client;
use crate::op::TargetId;

/// What is counted for clients of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnCounts {
    /// Units of work, reported by the clients.
    #[default]
    Units,
    /// Operations on a schedule that does not depend on the storage.
    Scheduled {
        /// Mean number due per second.
        per_second: f64,
    },
    /// Units of work on a schedule.
    ScheduledUnits {
        /// Mean number due per second.
        per_second: f64,
    },
    /// Operations, each requested when an earlier one completes.
    Operations,
}

/// Creates the clients of a kind.
pub trait MakeClient: fmt::Debug + Send + Sync {
    /// Client `client` of `clients`, with streams from `seed`.
    ///
    /// # Errors
    /// If the client has nothing to do there.
    fn client(&self, seed: u64, client: u32, clients: u32)
    -> Result<Box<dyn Client>, AddressError>;

    /// Report of its clients besides their operations, for the host that adds up the results of
    /// several.
    fn report(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// What must be known about clients without knowing their type.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnSpec {
    /// The kind of measurement.
    pub kind: String,
    /// Its settings as typed.
    pub settings: Vec<(String, String)>,
    /// File or device.
    pub target: TargetId,
    /// Bytes used of it, from the first on.
    pub len: u64,
    /// Alignment of all operations, bytes.
    pub unit: u32,
    /// Maximum bytes moved by one operation.
    pub len_max: u32,
    /// Whether anything is read.
    pub reads: bool,
    /// Whether anything is written.
    pub writes: bool,
    /// Whether each write is durable when complete.
    pub is_durable: bool,
    /// What is counted.
    #[serde(default)]
    pub counts: OwnCounts,
    /// Creates them; a specification from an archive has none.
    #[serde(skip)]
    pub maker: Option<Arc<dyn MakeClient>>,
}

impl PartialEq for OwnSpec {
    /// The settings determine what the maker creates.
    fn eq(&self, other: &Self) -> bool {
        let Self {
            kind,
            settings,
            target,
            len,
            unit,
            len_max,
            reads,
            writes,
            is_durable,
            counts,
            maker: _,
        } = self;
        *kind == other.kind
            && *settings == other.settings
            && (*target, *len) == (other.target, other.len)
            && (*unit, *len_max) == (other.unit, other.len_max)
            && (*reads, *writes, *is_durable) == (other.reads, other.writes, other.is_durable)
            && *counts == other.counts
    }
}

impl OwnSpec {
    /// Report of its clients besides their operations, once they are finished.
    pub fn report(&self) -> Vec<u8> {
        self.maker.as_ref().map_or_else(Vec::new, |it| it.report())
    }

    pub(crate) fn client(
        &self,
        seed: u64,
        client: u32,
        clients: u32,
    ) -> Result<Box<dyn Client>, AddressError> {
        let maker = self.maker.as_ref().ok_or_else(|| AddressError::Unmade {
            kind: self.kind.clone(),
        })?;
        maker.client(seed, client, clients)
    }
}
