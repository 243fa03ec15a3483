//! Usual times: those of the last day, without events.

use std::collections::VecDeque;

use crate::times::ProbeTimes;

/// Parts of the day, which expire as a whole.
const PARTS: usize = 24;
/// Minutes per part.
const PART_MINUTES: u32 = 60;

/// The times of the last day.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usual {
    parts: VecDeque<ProbeTimes>,
    /// Minutes in the last part.
    minutes: u32,
    all: ProbeTimes,
}

impl Usual {
    /// Adds the times of a minute.
    pub fn add(&mut self, minute: &ProbeTimes) {
        if self.minutes == 0 || self.minutes >= PART_MINUTES {
            self.begin_part();
        }
        self.minutes += 1;
        self.all.merge(minute);
        if let Some(part) = self.parts.back_mut() {
            part.merge(minute);
        }
    }

    fn begin_part(&mut self) {
        self.minutes = 0;
        self.parts.push_back(ProbeTimes::default());
        if self.parts.len() > PARTS {
            self.parts.pop_front();
            self.all = ProbeTimes::default();
            for part in &self.parts {
                self.all.merge(part);
            }
        }
    }

    /// All of them.
    pub const fn times(&self) -> &ProbeTimes {
        &self.all
    }
}
