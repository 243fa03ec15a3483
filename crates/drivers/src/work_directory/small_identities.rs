//! What the small files of a work directory were when they were made.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::require_name;
use crate::guard::identity::Identity;

/// The identities of small files, by number, spread over enough locks that workers hardly ever
/// meet at one.
#[derive(Debug)]
pub(super) struct SmallIdentities {
    shards: [Mutex<HashMap<u32, Identity>>; 64],
}

impl Default for SmallIdentities {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self { shards }
    }
}

impl SmallIdentities {
    fn shard(&self, number: u32) -> MutexGuard<'_, HashMap<u32, Identity>> {
        let shard = &self.shards[number as usize % self.shards.len()];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, number: u32) -> Option<Identity> {
        self.shard(number).get(&number).copied()
    }

    pub(super) fn set(&self, number: u32, identity: Identity) {
        self.shard(number).insert(number, identity);
    }

    pub(super) fn forget(&self, number: u32) {
        self.shard(number).remove(&number);
    }

    /// `ESTALE` when the name does not stand for the file that was made any more.
    pub(super) fn require(
        &self,
        number: u32,
        directory: &OwnedFd,
        name: &str,
    ) -> Result<(), Errno> {
        let made = self.get(number).ok_or(Errno::NOENT)?;
        require_name(directory, name, &made)
    }
}
