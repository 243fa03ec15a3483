//! Server-sent events to browsers during a run.
//!
//! The sender never waits: events are dropped if the queue is full. Late listeners get earlier
//! events first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::sse::Event;
use futures_util::stream::{Stream, unfold};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// Queue length to the server.
const UNDER_WAY_MAX: usize = 64;
/// Number of events kept for late listeners.
const KEPT_MAX: usize = 1_000;
/// Name of the last event.
const END: &str = "end";

/// The sending end of a feed.
#[derive(Clone, Debug)]
pub struct EventFeed(Sender<FeedEvent>);

/// A sent event.
#[derive(Clone, Debug)]
struct FeedEvent {
    name: &'static str,
    text: String,
}

/// A feed, with its receiving end for the server.
pub fn feed() -> (EventFeed, FeedReceiver) {
    let (sender, receiver) = channel(UNDER_WAY_MAX);
    (EventFeed(sender), FeedReceiver(receiver))
}

impl EventFeed {
    /// Sends an event, unless the queue is full.
    pub fn send(&self, text: String) {
        let name = "message";
        let _ = self.0.try_send(FeedEvent { name, text });
    }

    /// Sends the last event. Waits for the server to take it.
    pub fn end(self, text: String) {
        let _ = self.0.blocking_send(FeedEvent { name: END, text });
    }
}

/// The receiving end for a server.
#[derive(Debug)]
pub struct FeedReceiver(Receiver<FeedEvent>);

/// Sent events, for all listeners.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    kept: Arc<Mutex<KeptEvents>>,
    count: watch::Receiver<u64>,
}

#[derive(Debug, Default)]
struct KeptEvents {
    events: VecDeque<FeedEvent>,
    /// Total number of events.
    count: u64,
    is_ended: bool,
}

impl Board {
    /// A board, and the task that fills it until the feed ends.
    pub fn of(mut source: FeedReceiver) -> (Self, impl Future<Output = ()>) {
        let kept = Arc::new(Mutex::new(KeptEvents::default()));
        let (sender, count) = watch::channel(0);
        let board = Self {
            kept: Arc::clone(&kept),
            count,
        };
        let fill = async move {
            while let Some(event) = source.0.recv().await {
                let mut kept = locked(&kept);
                kept.is_ended = event.name == END;
                kept.count += 1;
                kept.events.push_back(event);
                if kept.events.len() > KEPT_MAX {
                    kept.events.pop_front();
                }
                let _ = sender.send(kept.count);
            }
        };
        (board, fill)
    }

    /// All events from first to last.
    pub fn listen(&self) -> impl Stream<Item = Result<Event, std::convert::Infallible>> + use<> {
        unfold((self.clone(), 0_u64), |(mut board, seen)| async move {
            loop {
                if let Some(event) = board.after(seen) {
                    let (number, event) = event?;
                    let event = Event::default().event(event.name).data(event.text);
                    return Some((Ok(event), (board, number)));
                }
                board.count.changed().await.ok()?;
            }
        })
    }

    /// The first event after number `seen`; `Some(None)` if there will be none.
    fn after(&self, seen: u64) -> Option<Option<(u64, FeedEvent)>> {
        let kept = locked(&self.kept);
        let first = kept.count - kept.events.len() as u64;
        let at = seen.max(first) - first;
        match kept.events.get(at as usize) {
            Some(event) => Some(Some((first + at + 1, event.clone()))),
            None => kept.is_ended.then_some(None),
        }
    }
}

fn locked(kept: &Mutex<KeptEvents>) -> MutexGuard<'_, KeptEvents> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
