//! Connections that hold a slot without having sent a request. They are closed as soon as others
//! wait, so that nobody can block pages by opening connections.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// All such connections of a listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnaskedConnections(Arc<Mutex<Vec<UnaskedEntry>>>);

#[derive(Debug)]
struct UnaskedEntry {
    gives_way: Arc<Notify>,
    /// Whether it was there at the previous wait.
    was_here: bool,
}

/// One of them, removed when it sends a request or is dropped.
#[derive(Clone, Debug)]
pub(crate) struct UnaskedConnection {
    all: UnaskedConnections,
    gives_way: Arc<Notify>,
}

impl UnaskedConnections {
    pub fn add(&self) -> UnaskedConnection {
        let gives_way = Arc::new(Notify::new());
        self.all().push(UnaskedEntry {
            gives_way: Arc::clone(&gives_way),
            was_here: false,
        });
        UnaskedConnection {
            all: self.clone(),
            gives_way,
        }
    }

    /// Another connection waits: those that were here the last time are closed.
    pub fn give_way(&self) {
        self.all().retain_mut(|one| {
            let stays = !one.was_here;
            one.was_here = true;
            if !stays {
                one.gives_way.notify_one();
            }
            stays
        });
    }

    fn all(&self) -> MutexGuard<'_, Vec<UnaskedEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnaskedConnection {
    /// A request has arrived.
    pub fn has_asked(&self) {
        let is_other = |it: &UnaskedEntry| !Arc::ptr_eq(&it.gives_way, &self.gives_way);
        self.all.all().retain(is_other);
    }

    /// Waits until it must be closed.
    pub async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}
