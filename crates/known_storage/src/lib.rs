//! Storage whose truth is known, operation by operation: one file in a file system of our own,
//! which decides how long each operation takes, serves any number at once, and keeps a log.
//!
//! What a benchmark prints is then held against what the storage did. Development only.

mod file_system;
mod timer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fuser::{BackgroundSession, Config, MountOption};

use crate::file_system::{FILE_NAME, OneFile};
use crate::timer::{Answer, AnswerTimer};

/// What is asked of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationType {
    Read,
    Write,
    Flush,
}

/// One operation as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub kind: OperationType,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Its number, from zero.
    pub number: u64,
    /// When it came, since the storage was mounted.
    pub at: Duration,
}

/// One operation that was answered.
#[derive(Clone, Copy, Debug)]
pub struct ServedOperation {
    pub arrival: Arrival,
    /// How long it was to take.
    pub delay: Duration,
    /// From its arrival to just before its answer.
    pub took: Duration,
    /// How many were with the storage when it had come.
    pub at_once: usize,
}

/// What the storage does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageFault {
    /// Every other operation fails with this number of an error.
    Error(i32),
    /// Every other transfer moves half of its bytes.
    Short,
    /// Every other transfer moves nothing.
    Empty,
    /// Every other transfer answers with a block more than was asked for.
    TooLong,
    /// The file is half as long.
    Shrunk,
    /// The name stands for another file.
    Replaced,
}

/// The delay of an operation that hangs: it is answered when [`KnownStorage::release`] is called.
pub const HELD: Duration = Duration::MAX;

/// How long an operation takes.
pub type Law = Box<dyn FnMut(&Arrival) -> Duration + Send>;

/// Whether an entry into the kernel returns before the storage has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownSubmission {
    /// It does: the server takes part in asynchronous direct I/O.
    Returns,
    /// It does not: whoever submits waits for the answer.
    Blocks,
}

/// How the storage behaves.
pub struct Behaviour {
    /// Size of the file, bytes.
    pub size: u64,
    pub submission: KnownSubmission,
    pub law: Law,
}

/// The mounted storage, until it is dropped.
pub struct KnownStorage {
    file: PathBuf,
    shared: Arc<StorageBook>,
    session: Option<BackgroundSession>,
}

/// What the file system and the thread that answers share.
struct StorageBook {
    mounted: Instant,
    state: Mutex<BookState>,
}

struct BookState {
    law: Law,
    arrivals: u64,
    at_once: usize,
    log: Vec<ServedOperation>,
    /// What it does wrong, from the operation of that number on.
    fault: Option<(StorageFault, u64)>,
    /// Answers of operations that hang; none hangs any more once this is taken away.
    held: Option<Vec<Answer>>,
}

impl KnownStorage {
    /// Mount it on the empty directory `at`.
    ///
    /// # Errors
    /// Where FUSE cannot be used, or the directory cannot be mounted on.
    pub fn mount(at: &Path, behaviour: Behaviour) -> io::Result<Self> {
        let Behaviour {
            size,
            submission,
            law,
        } = behaviour;
        let shared = Arc::new(StorageBook {
            mounted: Instant::now(),
            state: Mutex::new(BookState {
                law,
                arrivals: 0,
                at_once: 0,
                log: Vec::new(),
                fault: None,
                held: Some(Vec::new()),
            }),
        });
        let one_file = OneFile::new(size, submission, Arc::clone(&shared), AnswerTimer::start()?);
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("known_storage".into())];
        Ok(Self {
            session: Some(fuser::spawn_mount(one_file, at, &config)?),
            file: at.join(FILE_NAME),
            shared,
        })
    }

    /// The file to be measured.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Wait for somebody else to unmount it.
    pub fn wait_until_unmounted(&self) {
        while self
            .session
            .as_ref()
            .is_some_and(|it| !it.guard.is_finished())
        {
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Do that wrong from the operation of that number on. Said before anybody has looked at the
    /// file, what becomes of it is seen at once.
    pub fn misbehave(&self, fault: StorageFault, from: u64) {
        self.shared.state().fault = Some((fault, from));
    }

    /// Operations that hang.
    pub fn held(&self) -> usize {
        self.shared.state().held.as_ref().map_or(0, Vec::len)
    }

    /// Answer what hangs. From now on nothing does.
    pub fn release(&self) {
        self.shared.release();
    }

    /// The same after `limit`, where nobody did so before: a test that fails ends all the same.
    pub fn release_after(&self, limit: Duration) {
        let shared = Arc::downgrade(&self.shared);
        thread::spawn(move || {
            thread::sleep(limit);
            if let Some(shared) = shared.upgrade() {
                shared.release();
            }
        });
    }

    /// Everything that was answered so far, in the order of the answers.
    pub fn log(&self) -> Vec<ServedOperation> {
        self.shared.state().log.clone()
    }
}

impl Drop for KnownStorage {
    fn drop(&mut self) {
        self.release();
        let Some(session) = self.session.take() else {
            return;
        };
        if session.umount_and_join().is_err() {
            // Something of it is open still: it goes when that is closed.
            let at = self.file.parent().unwrap_or(&self.file);
            let _ = rustix::mount::unmount(at, rustix::mount::UnmountFlags::DETACH);
        }
    }
}

impl StorageBook {
    fn release(&self) {
        let held = self.state().held.take();
        held.into_iter().flatten().for_each(|answer| answer());
    }

    fn state(&self) -> MutexGuard<'_, BookState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is done wrong with the file by now.
    fn fault(&self) -> Option<StorageFault> {
        let state = self.state();
        let begun = state.fault.filter(|(_, from)| state.arrivals > *from);
        begun.map(|(fault, _)| fault)
    }

    /// Whether anything is done wrong, now or later.
    fn may_change(&self) -> bool {
        self.state().fault.is_some()
    }

    /// Keep an answer until what hangs is answered; gives it back when nothing hangs any more.
    fn hold(&self, answer: Answer) -> Option<Answer> {
        match &mut self.state().held {
            Some(held) => {
                held.push(answer);
                None
            }
            None => Some(answer),
        }
    }

    /// Take an operation; what is to be logged when it is answered.
    fn arrive(&self, kind: OperationType, offset: u64, len: u64) -> ServedOperation {
        let now = Instant::now();
        let mut state = self.state();
        let arrival = Arrival {
            kind,
            offset,
            len,
            number: state.arrivals,
            at: now.duration_since(self.mounted),
        };
        state.arrivals += 1;
        state.at_once += 1;
        let delay = (state.law)(&arrival);
        ServedOperation {
            arrival,
            delay,
            took: Duration::ZERO,
            at_once: state.at_once,
        }
    }

    fn leave(&self, served: ServedOperation) {
        let took = self.mounted.elapsed().saturating_sub(served.arrival.at);
        let mut state = self.state();
        state.at_once -= 1;
        state.log.push(ServedOperation { took, ..served });
    }
}
