//! Connections that hold a slot and have asked for nothing yet. They give way as soon as others
//! wait outside, so that nobody keeps a page from its reader by opening connections.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// All of a listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnaskedConnections(Arc<Mutex<Vec<UnaskedEntry>>>);

#[derive(Debug)]
struct UnaskedEntry {
    gives_way: Arc<Notify>,
    /// Whether it was there when somebody waited before.
    was_here: bool,
}

/// One of them; none any more when it has asked, or is dropped.
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

    /// Somebody waits outside: those that were here the last time give way.
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
    /// A request has come.
    pub fn has_asked(&self) {
        let is_other = |it: &UnaskedEntry| !Arc::ptr_eq(&it.gives_way, &self.gives_way);
        self.all.all().retain(is_other);
    }

    /// Until it has to give way.
    pub async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}
