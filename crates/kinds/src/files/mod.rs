//! `files`: programs that use files.

mod doubts;
mod hosts;
mod model;
mod needs;
mod pass;
mod run;
mod stonewall;
mod subject;
mod verified;

pub use run::{FileWork, FilesRequest, MemoryDisk, measure_files};
pub use subject::memory_disk;
