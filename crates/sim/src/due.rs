//! What is due first, where things are planned far more often than they are looked at.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Values in order of a number, and of their arrival where it is the same. A heap: an ordered map
/// took a sixth more of a whole simulation.
#[derive(Clone, Debug)]
pub struct DueQueue<T> {
    items: BinaryHeap<DueItem<T>>,
    sequence: u64,
}

#[derive(Clone, Debug)]
struct DueItem<T> {
    key: Reverse<(u64, u64)>,
    what: T,
}

impl<T> PartialEq for DueItem<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for DueItem<T> {}

impl<T> Ord for DueItem<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> PartialOrd for DueItem<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Default for DueQueue<T> {
    fn default() -> Self {
        Self {
            items: BinaryHeap::new(),
            sequence: 0,
        }
    }
}

impl<T> DueQueue<T> {
    pub fn push(&mut self, due: u64, what: T) {
        let key = Reverse((due, self.sequence));
        self.sequence += 1;
        self.items.push(DueItem { key, what });
    }

    /// When the first is due.
    pub fn first(&self) -> Option<u64> {
        self.items.peek().map(|it| it.key.0.0)
    }

    /// Takes the first, with when it was due.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        self.items.pop().map(|it| (it.key.0.0, it.what))
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
