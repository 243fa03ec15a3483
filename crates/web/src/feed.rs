//! What a browser is told while something goes on: server-sent events.
//!
//! Whoever tells never waits: what finds the way full is dropped. Whoever comes late is told what
//! was told before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::response::sse::Event;
use futures_util::stream::{Stream, unfold};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// Events on their way to the server.
const UNDER_WAY_MAX: usize = 64;
/// Events that are kept for those who come late.
const KEPT_MAX: usize = 1_000;
/// Name of the last event.
const END: &str = "end";

/// The end at which things are told.
#[derive(Clone, Debug)]
pub struct EventFeed(Sender<FeedEvent>);

/// Something that was told.
#[derive(Clone, Debug)]
struct FeedEvent {
    name: &'static str,
    text: String,
}

/// A feed, and what the server reads of it.
#[must_use]
pub fn feed() -> (EventFeed, FeedReceiver) {
    let (sender, receiver) = channel(UNDER_WAY_MAX);
    (EventFeed(sender), FeedReceiver(receiver))
}

impl EventFeed {
    /// Tell something, unless the way is full.
    pub fn send(&self, text: String) {
        let name = "message";
        let _ = self.0.try_send(FeedEvent { name, text });
    }

    /// Tell the last thing. Waits for the server to take it.
    pub fn end(self, text: String) {
        let _ = self.0.blocking_send(FeedEvent { name: END, text });
    }
}

/// The end at which a server reads.
#[derive(Debug)]
pub struct FeedReceiver(Receiver<FeedEvent>);

/// What was told, for everybody who listens.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    kept: Arc<Mutex<KeptEvents>>,
    count: watch::Receiver<u64>,
}

#[derive(Debug, Default)]
struct KeptEvents {
    events: VecDeque<FeedEvent>,
    /// Events that were told in all.
    count: u64,
    is_ended: bool,
}

impl Board {
    /// A board, and what fills it until the feed ends.
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

    /// Everything from the beginning to the end.
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

    /// The first event after the one of that number; `Some(None)` when there will be none.
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
