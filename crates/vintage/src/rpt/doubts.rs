//! Checks that detect a doubtful load of a sum, whatever its mean response time converged to.
//!
//! Source: the law of the RPT manual of 1995, "Summary": load times response time is the number of
//! outstanding I/Os. A control thread has one I/O outstanding, so the product cannot exceed the
//! number of threads.

use crate::rpt::sums::{Calculation, Sums};

/// Minimum number of messages per thread for a reliable load of a batch workload.
const EDGES: f64 = 10.0;

/// Messages of a batch workload's sum: `least`, rounded up to whole rounds of its threads.
///
/// Threads in lockstep report in bunches of one message each. A sum that is not a whole number of
/// rounds starts and ends at different places of a bunch, and its time is off by up to a whole
/// round.
pub const fn whole_rounds(least: u32, threads: u32) -> u32 {
    least.next_multiple_of(threads)
}

/// Senders of the messages of a sum.
#[derive(Clone, Debug, Default)]
pub struct Senders {
    /// Messages of each thread.
    counts: Vec<u32>,
    messages: u32,
    is_out_of_step: bool,
}

impl Senders {
    /// No messages yet, from `threads` threads.
    pub fn of(threads: u32) -> Self {
        Self {
            counts: vec![0; threads as usize],
            ..Self::default()
        }
    }

    /// Adds a message of that thread.
    pub fn note_report(&mut self, thread: u32) {
        let round = self.messages / (self.counts.len().max(1) as u32);
        self.messages += 1;
        if let Some(count) = self.counts.get_mut(thread as usize) {
            *count += 1;
            self.is_out_of_step |= *count != round + 1;
        }
    }

    /// Several threads, each with one message in every round.
    fn are_in_step(&self) -> bool {
        let rounds = self.counts.first().copied().unwrap_or_default();
        self.counts.len() > 1
            && !self.is_out_of_step
            && self.counts.iter().all(|&count| count == rounds)
    }
}

/// Without lockstep, the first and last round of a sum are uncertain.
pub fn edges(sums: &Sums, senders: &Senders) -> Option<String> {
    let (messages, threads) = (sums.messages, sums.threads);
    if senders.are_in_step() {
        return Some(format!(
            "{threads} threads run in step, and go on as they began: the load is that of the \
             places where they began, whatever has converged; other places gave up to 7 % more or \
             less on a disk: measure several runs (-n 5)"
        ));
    }
    (threads > 1.0 && messages < EDGES * threads).then(|| {
        format!(
            "the load of {messages} messages of {threads} threads that keep no step is uncertain \
             by up to {:.0} %, whatever has converged: raise Dnmin to {} or more",
            100.0 * threads / messages,
            EDGES * threads
        )
    })
}

/// More I/Os outstanding than threads: the load cannot be so high. `slack` is the required factor
/// of means.
pub fn outstanding(found: &Calculation, threads: f64, slack: f64) -> Option<String> {
    let outstanding = found.load * found.response_ms / 1e3;
    (outstanding > threads * (1.0 + slack)).then(|| {
        format!(
            "load x response time makes {outstanding:.1} I/Os outstanding, and {threads:.1} \
             threads have one each: the load is overstated by {:.0} % or more; raise Dnmin",
            100.0 * (outstanding / threads - 1.0)
        )
    })
}

/// Threads of a batch workload with no message in the sum.
pub fn silent(senders: &Senders) -> Option<String> {
    let (threads, messages) = (senders.counts.len(), senders.messages);
    let counts = senders.counts.iter().enumerate();
    let silent: Vec<String> = counts
        .filter(|(_, count)| **count == 0)
        .map(|(thread, _)| thread.to_string())
        .collect();
    let (last, others) = silent.split_last()?;
    let names = match others {
        [] => format!("thread {last}"),
        others => format!("threads {} and {last}", others.join(", ")),
    };
    Some(format!(
        "{names} of {threads} sent none of the {messages} messages: the result is that of the \
         other threads; raise Dnmin, or measure with seekstone rab"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_a_batch_workload_is_whole_rounds() {
        let check = |least, threads, expected| assert_eq!(whole_rounds(least, threads), expected);
        check(8, 5, 10);
        check(8, 2, 8);
        check(8, 1, 8);
        check(2, 5, 5);
    }

    #[test]
    fn a_load_that_threads_cannot_have_outstanding_is_doubted() {
        let check = |response_ms, load, threads, expected: Option<&str>| {
            let found = outstanding(&Calculation::new(response_ms, load, 1.0), threads, 0.03);
            match expected {
                None => assert_eq!(found, None),
                Some(words) => assert!(
                    found.as_deref().is_some_and(|text| text.contains(words)),
                    "{found:?}"
                ),
            }
        };
        check(240.0, 33.0, 5.0, Some("7.9 I/Os outstanding"));
        check(240.0, 33.0, 5.0, Some("overstated by 58 %"));
        // Threads that never wait have one I/O outstanding each, within the precision of the means.
        check(240.0, 21.0, 5.0, None);
        check(20.0, 40.0, 1.0, None);
    }

    #[test]
    fn threads_without_a_message_are_named() {
        let heard = |threads: u32, by: &[u32]| {
            let mut senders = Senders::of(threads);
            by.iter().for_each(|thread| senders.note_report(*thread));
            senders
        };
        let text = silent(&heard(5, &[4; 10])).expect("four of them");
        assert!(
            text.starts_with("threads 0, 1, 2 and 3 of 5 sent none of the 10"),
            "{text}"
        );
        let text = silent(&heard(3, &[1, 2, 1])).expect("one of them");
        assert!(text.starts_with("thread 0 of 3"), "{text}");
        assert_eq!(silent(&heard(3, &[2, 0, 1])), None);
        for (by, is_in_step) in [
            (&[1, 2, 0, 1, 2, 0][..], true),
            (&[1, 2, 0, 1, 0, 2], true),
            (&[1, 2, 0, 1, 1, 0], false),
            (&[0, 0, 1, 1, 2, 2], false),
            (&[1, 2, 0, 1], false),
        ] {
            assert_eq!(heard(3, by).are_in_step(), is_in_step, "{by:?}");
        }
        assert!(!heard(1, &[0, 0]).are_in_step(), "one thread alone");
    }
}
