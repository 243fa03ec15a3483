//! What jobs of a trial tell each other: that one has ended with which all others are to end, as
//! with fio's `exitall`, and the shares that they keep to of what they do together, as fio's `flow`
//! has it.
//!
//! Each request takes a token. A job whose part of all tokens is above its part of all weights is
//! held back until others have taken theirs. A job that ends leaves with its tokens and its weight.
//! Follows fio's documentation, "I/O flow"; which job takes a token first is not told by its rule.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

use crate::client::Agenda;

/// A job that is held back asks again after this long. Others may be on other processors, and tell
/// nobody what they take.
const AGAIN: Duration = Duration::from_micros(10);

/// A job's part in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowSpec {
    /// Which flow it belongs to.
    pub id: u32,
    /// Its weight, above zero.
    pub weight: u32,
    /// How long it waits once it is held back; as short as can be where it is zero.
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

/// What the jobs of a flow did, and what they weigh.
#[derive(Debug)]
struct FlowGate {
    tokens: AtomicU64,
    weights: AtomicU64,
}

/// One job's side of a gate.
#[derive(Clone, Debug)]
pub(crate) struct FlowMember {
    spec: FlowSpec,
    gate: Arc<FlowGate>,
    tokens: u64,
    /// Requests that were held back.
    held: u32,
    has_left: bool,
}

impl JobGates {
    pub(crate) fn end(&self) -> JobsEnd {
        self.end.clone()
    }

    /// One more job of a flow; all join before any of them begins.
    pub(crate) fn member(&self, spec: FlowSpec) -> Option<FlowMember> {
        if spec.weight == 0 {
            return None;
        }
        let mut by_id = self.by_id.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = by_id.entry(spec.id).or_insert_with(|| {
            Arc::new(FlowGate {
                // fio's begins with one, which belongs to nobody.
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
    /// Take a token at `at`. Where there is none the job is woken to ask again.
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

    /// How many requests were held back until now.
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
