//! A thread that does things at their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// What is to be done.
pub type Answer = Box<dyn FnOnce() + Send>;

/// Hands answers to the thread, which ends with the last of these.
pub struct AnswerTimer {
    sender: Sender<Due>,
}

struct Due {
    at: Instant,
    answer: Answer,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl AnswerTimer {
    pub fn start() -> io::Result<Self> {
        let (sender, receiver) = channel();
        std::thread::Builder::new()
            .name("answers".into())
            .spawn(move || answer_all(&receiver))?;
        Ok(Self { sender })
    }

    /// Let `answer` happen at that instant.
    pub fn at(&self, at: Instant, answer: Answer) {
        let _ = self.sender.send(Due { at, answer });
    }
}

fn answer_all(receiver: &Receiver<Due>) {
    let mut waiting: BinaryHeap<Reverse<Due>> = BinaryHeap::new();
    let mut is_over = false;
    while !is_over || !waiting.is_empty() {
        let now = Instant::now();
        while waiting.peek().is_some_and(|next| next.0.at <= now) {
            let Reverse(due) = waiting.pop().expect("just seen");
            (due.answer)();
        }
        let next = waiting.peek().map(|next| next.0.at);
        let patience = next.map_or(Duration::MAX, |at| at.saturating_duration_since(now));
        match receiver.recv_timeout(patience) {
            Ok(due) => waiting.push(Reverse(due)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                is_over = true;
                std::thread::sleep(patience.min(Duration::from_millis(10)));
            }
        }
    }
}
