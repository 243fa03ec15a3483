//! The prefix that is a run's own: nothing else in a bucket is ever written or deleted.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drivers::Seal;

use super::client::{Backoff, PutCondition, S3Client, S3Options};
use super::fault::S3Fault;
use crate::measure::place::{MeasureError, Result};

/// How every key of ours begins.
pub const KEYS_BEGIN: &str = "seekstone-";
/// The object that says whose a prefix is.
pub(super) const MARKER: &str = ".seekstone-run";
/// Threads that delete.
const THREADS: usize = 16;

/// A prefix with a secret in it, and the marker that stands there while the run uses it. Removes
/// all of it when it is dropped.
pub struct RunPrefix {
    client: Arc<S3Client>,
    name: String,
    is_removed: bool,
}

impl RunPrefix {
    /// Make one, for a run (or a replicate) with that seed.
    ///
    /// # Errors
    /// When the server refuses: nothing is left then.
    pub fn claim(client: Arc<S3Client>, seed: u64) -> Result<Self> {
        let secret = Seal::of_this_run().number();
        let name = format!("{KEYS_BEGIN}{secret:016x}{seed:016x}/");
        let this = Self {
            client,
            name,
            is_removed: false,
        };
        // There are servers that make a bucket of whatever is put into it.
        let listed = this.client.list_page(&this.name, None, Some(1), false);
        listed.map_err(|fault| this.client.failed(&fault))?;
        let text = marker_text(&this.name);
        let key = this.key(MARKER);
        let put = |condition| {
            let len = text.len() as u64;
            this.client
                .put(&key, len, &mut Cursor::new(&text), condition)
        };
        let made = match put(PutCondition::IfAbsent) {
            // Servers of an older kind: a secret of 64 bits is no one else's.
            Err(fault) if fault.is_unsupported() => put(PutCondition::Always),
            made => made,
        };
        made.map_err(|fault| this.client.failed(&fault))?;
        Ok(this)
    }

    /// As it stands before each key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A key of this run.
    pub fn key(&self, name: &str) -> String {
        format!("{}{name}", self.name)
    }

    /// Remove all objects and unfinished uploads, after a signal, too.
    ///
    /// # Errors
    /// When something is left; the message says what removes it.
    pub fn remove(mut self) -> Result<()> {
        self.is_removed = true;
        self.remove_all()
    }

    fn remove_all(&self) -> Result<()> {
        let client = self.client.unstopped();
        remove_prefix(&client, &self.name).map_err(|fault| {
            MeasureError::Failed(format!(
                "{}: {}* is left behind ({fault}). `seekstone clean {}` removes it",
                client.named, self.name, client.named
            ))
        })
    }
}

impl Drop for RunPrefix {
    fn drop(&mut self) {
        if !self.is_removed {
            // After a failure, which is what the user is told.
            let _ = self.remove_all();
        }
    }
}

/// What the marker of a prefix holds.
pub(super) fn marker_text(name: &str) -> String {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let pid = std::process::id();
    format!("seekstone 1\nprefix {name}\nhost {host}\nprocess {pid}\n")
}

/// Delete what lies beneath a prefix of ours: unfinished uploads, objects, and the marker last.
pub(super) fn remove_prefix(client: &S3Client, name: &str) -> Result<(), S3Fault> {
    // A server without such lists has no uploads in parts, or no leave for us.
    let uploads = client.uploads(name).unwrap_or_default();
    for (key, upload) in uploads {
        client.abort(&key, &upload)?;
    }
    let marker = format!("{name}{MARKER}");
    client.list(name, None, false, &mut |page| {
        let keys = page.into_iter().map(|it| it.key);
        let keys: Vec<String> = keys.filter(|key| *key != marker).collect();
        delete_all(client, &keys)
    })?;
    client.delete(&marker)?;
    let (left, _) = client.list_page(name, None, None, false)?;
    match left.first() {
        None => Ok(()),
        Some(left) => Err(S3Fault::other(
            "GET",
            &format!("{} is still listed", left.key),
        )),
    }
}

fn delete_all(client: &S3Client, keys: &[String]) -> Result<(), S3Fault> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
            client.delete(key)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = THREADS.min(keys.len());
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let ends = threads.into_iter().map(|it| it.join().expect("no panic"));
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

/// How a bucket is asked where nothing is measured.
pub(super) fn plain_options(ca: Option<&std::path::Path>) -> S3Options {
    S3Options {
        ca: ca.map(Into::into),
        is_in_host: None,
        timeout: std::time::Duration::from_secs(60),
        backoff: Backoff::Never,
        // The most that one request may bring.
        part: 5 << 30,
    }
}
