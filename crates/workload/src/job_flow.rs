//! State shared by the jobs of a trial: whether one has ended with which all must end, as with
//! fio's `exitall`, and their shares of the total work, as with fio's `flow`.
//!
//! Each request takes a token. A job whose share of all tokens exceeds its share of all weights is
//! held back until others catch up. When a job ends, its tokens and weight are removed. Follows
//! fio's documentation, "I/O flow", which does not say which job takes a token first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::client::Agenda;

/// A job that is held back retries after this time, since jobs on other processors do not notify
/// each other.
const AGAIN: Duration = Duration::from_micros(10);

/// A job's part in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// Number of the flow.
    pub id: u32,
    /// Its weight, above zero.
    pub weight: u32,
    /// How long it waits once it is held back; zero for the minimum.
    pub sleep: Duration,
}

/// The flows of a trial, and its end.
#[derive(Debug, Default)]
pub struct JobGates {
    end: JobsEnd,
    by_id: Mutex<BTreeMap<u32, Arc<FlowGate>>>,
}

/// Whether a job has ended that ends all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobsEnd(Arc<AtomicBool>);

impl JobsEnd {
    pub(crate) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tokens and weights of the jobs of a flow.
#[derive(Debug)]
struct FlowGate {
    tokens: AtomicU64,
    weights: AtomicU64,
}

/// One job's side of a flow.
#[derive(Clone, Debug)]
pub(crate) struct FlowMember {
    spec: FlowSpec,
    gate: Arc<FlowGate>,
    tokens: u64,
    /// Number of requests held back.
    held: u32,
    has_left: bool,
}

impl JobGates {
    pub(crate) fn end(&self) -> JobsEnd {
        self.end.clone()
    }

    /// Adds a job to a flow; all join before any of them starts.
    pub(crate) fn member(&self, spec: FlowSpec) -> Option<FlowMember> {
        if spec.weight == 0 {
            return None;
        }
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = by_id.entry(spec.id).or_insert_with(|| {
            Arc::new(FlowGate {
                // fio starts with one, which belongs to no job.
                tokens: AtomicU64::new(1),
                weights: AtomicU64::new(0),
            })
        });
        let weight = u64::from(spec.weight);
        gate.weights.fetch_add(weight, Ordering::Relaxed);
        Some(FlowMember {
            spec,
            gate: Arc::clone(gate),
            tokens: 0,
            held: 0,
            has_left: false,
        })
    }
}

impl FlowMember {
    /// Takes a token at `at`. If there is none, the job is woken to retry.
    pub(crate) fn holds_back(&mut self, at: Instant, agenda: &mut Agenda) -> bool {
        let all = self.gate.tokens.load(Ordering::Relaxed);
        let weights = self.gate.weights.load(Ordering::Relaxed);
        let (own, weight) = (u128::from(self.tokens), u128::from(self.spec.weight));
        let is_above = own * u128::from(weights) > weight * u128::from(all);
        if self.held == 0 && !is_above {
            self.tokens += 1;
            self.gate.tokens.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        if self.held == 0 {
            agenda.wake_at(at + self.spec.sleep.max(AGAIN));
        }
        self.held += 1;
        true
    }

    /// Number of requests held back until now.
    pub(crate) const fn take_held(&mut self) -> u32 {
        std::mem::replace(&mut self.held, 0)
    }

    /// The job has ended.
    pub(crate) fn leave(&mut self) {
        if std::mem::replace(&mut self.has_left, true) {
            return;
        }
        self.gate.tokens.fetch_sub(self.tokens, Ordering::Relaxed);
        let weight = u64::from(self.spec.weight);
        self.gate.weights.fetch_sub(weight, Ordering::Relaxed);
    }
}
