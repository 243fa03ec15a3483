//! A client that creates, reads or removes many small files, one after the other. Reading continues
//! as long as required; creating and removing end with the last file.
//!
//! The operations on one file have the same due time, so the response time of the last one is the
//! time for the whole file.

use serde::{Deserialize, Serialize};
use units::Instant;

use crate::client::{Agenda, Client, Event};
use crate::op::{Durability, Op, OpKind, TargetId};

/// Operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesPhase {
    /// Create, write, close.
    Make,
    /// Open, read, close.
    Read,
    Remove,
}

impl FilesPhase {
    /// The operation that ends the work on one file.
    pub const fn last_kind(self) -> OpKind {
        match self {
            Self::Make | Self::Read => OpKind::Close,
            Self::Remove => OpKind::Remove,
        }
    }
}

/// Parameters of a group of file clients. Client `k` of `n` takes every `n`-th file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesSpec {
    /// The operation.
    pub phase: FilesPhase,
    /// Index of the first file in the table of targets.
    pub first: TargetId,
    /// Number of files.
    pub count: u32,
    /// Bytes in each.
    pub len: u32,
}

/// One client of a [`FilesSpec`].
#[derive(Clone, Copy, Debug)]
pub struct FilesClient {
    spec: FilesSpec,
    stride: u32,
    first: u32,
    file: u32,
    step: u8,
    due: Instant,
}

impl FilesClient {
    /// Client `client` of `clients`.
    pub fn new(spec: FilesSpec, client: u32, clients: u32) -> Self {
        Self {
            spec,
            stride: clients.max(1),
            first: client,
            file: client,
            step: 0,
            due: Instant::START,
        }
    }

    fn issue_step(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.file >= self.spec.count {
            // Reading changes nothing and may be repeated; the rest is done once.
            if self.spec.phase != FilesPhase::Read || self.first >= self.spec.count {
                agenda.finish();
                return;
            }
            self.file = self.first;
        }
        if self.step == 0 {
            self.due = now;
        }
        let target = TargetId(self.spec.first.0 + self.file);
        let len = self.spec.len;
        let op = match (self.spec.phase, self.step) {
            (FilesPhase::Make, 0) => Op::Create { target },
            (FilesPhase::Make, 1) => Op::Write {
                target,
                offset: 0,
                len,
                durability: Durability::Volatile,
            },
            (FilesPhase::Read, 0) => Op::Open { target },
            (FilesPhase::Read, 1) => Op::Read {
                target,
                offset: 0,
                len,
            },
            (FilesPhase::Remove, _) => Op::Remove { target },
            (FilesPhase::Make | FilesPhase::Read, _) => Op::Close { target },
        };
        agenda.issue(self.due, op);
        if op.kind() == self.spec.phase.last_kind() {
            self.step = 0;
            self.file += self.stride;
        } else {
            self.step += 1;
        }
    }
}

impl Client for FilesClient {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match event {
            Event::Started { at } | Event::Due { at } => self.issue_step(at, agenda),
            Event::Completed(completion) => self.issue_step(completion.completed, agenda),
        }
    }
}
