//! A file that is unlocked on drop.

use std::fs::File;
use std::ops::{Deref, DerefMut};

/// A locked file. A child process that is being started holds every open file for a moment, so
/// closing alone would leave the lock a little longer. This unlocks explicitly.
#[derive(Debug)]
pub struct Locked(pub File);

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // If that fails, the lock ends when the last holder closes the file.
        let _ = self.0.unlock();
    }
}
