//! `files`: programs that use files.

mod doubts;
mod hosts;
mod io500;
mod model;
mod needs;
mod pass;
mod run;
mod stonewall;
mod stripes;
mod subject;
mod verified;

pub use io500::{Io500Outcome, Io500Request, measure_io500};
pub use run::{FileWork, FilesRequest, MemoryDisk, measure_files};
pub use stripes::LustreStripes;
pub use subject::memory_disk;
