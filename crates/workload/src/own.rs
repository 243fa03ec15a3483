//! Clients that a kind of measurement brings itself.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::address::AddressError;
use crate::client::Client;
use crate::op::TargetId;

/// What is counted of clients of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnCounts {
    /// Units of work, which the clients report themselves.
    #[default]
    Units,
    /// Operations that are due on a schedule, whatever the storage does.
    Scheduled {
        /// How many are due per second, on average.
        per_second: f64,
    },
    /// Units of work that are due on a schedule.
    ScheduledUnits {
        /// How many are due per second, on average.
        per_second: f64,
    },
    /// Operations, each asked for when an earlier one is done.
    Operations,
}

/// Makes the clients of a kind.
pub trait MakeClient: fmt::Debug + Send + Sync {
    /// Client `client` of `clients`, with its streams drawn from `seed`.
    ///
    /// # Errors
    /// When the client has nothing to do there.
    fn client(&self, seed: u64, client: u32, clients: u32)
    -> Result<Box<dyn Client>, AddressError>;

    /// What its clients saw besides their operations, for the host that adds up what several did.
    fn report(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// What must be known of clients without knowing them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OwnSpec {
    /// The kind of measurement.
    pub kind: String,
    /// Its settings, as they would be typed.
    pub settings: Vec<(String, String)>,
    /// File or device.
    pub target: TargetId,
    /// Bytes of it that are used, from its first one on.
    pub len: u64,
    /// All offsets and lengths of operations are multiples of this, bytes.
    pub unit: u32,
    /// The largest number of bytes that one operation moves.
    pub len_max: u32,
    /// Whether anything is read.
    pub reads: bool,
    /// Whether anything is written.
    pub writes: bool,
    /// Whether each write survives a power loss once it is done.
    pub is_durable: bool,
    /// What is counted.
    #[serde(default)]
    pub counts: OwnCounts,
    /// Makes them; a specification that was read from an archive has none.
    #[serde(skip)]
    pub maker: Option<Arc<dyn MakeClient>>,
}

impl PartialEq for OwnSpec {
    /// The settings say what the maker makes.
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
    /// What its clients saw besides their operations, once they are done.
    #[must_use]
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
