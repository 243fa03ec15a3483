//! A file whose lock goes with its value.

use std::fs::File;
use std::ops::{Deref, DerefMut};

/// A file that was locked. A program that is being started holds every open file until it has
/// begun, so closing this one would leave its lock for a moment longer; here it is given back.
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
        // Refused, it goes with the last who holds the file.
        let _ = self.0.unlock();
    }
}
