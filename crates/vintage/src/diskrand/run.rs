//! Runs `diskrand`: writes a file of records and reads it at random, performs the transactions of
//! one user, or removes the file.
//!
//! As in 1997 everything goes through the system's cache unless direct I/O is requested. A program
//! is one user with at most one request outstanding; several users are several programs. Source:
//! the document "Disk and Transaction Random Access Test".

mod data_file;
mod log;
mod script;
mod storage;
mod summary;
mod user;
mod write;

pub use data_file::erase;
pub use summary::ReadSummary;
pub use user::{UserOutcome, run_user};
pub use write::run_write;

use std::path::Path;

use crate::diskrand::{ReadArguments, WriteArguments};
use drivers::Caching;
use units::Duration;

use crate::run::Console;
use host::inspect::inspect;
use results::WarningCode;

/// Cautions about a file that is on no disk of this machine.
const ELSEWHERE: [WarningCode; 2] = [WarningCode::MemoryBacked, WarningCode::RemoteFileSystem];

/// `Write`, with options that the document lacks.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// The command line.
    pub arguments: WriteArguments,
    /// Whether the page cache is used.
    pub caching: Caching,
    /// Reserve of free space.
    pub reserve: Option<u64>,
}

/// `Read` and its variants, with options that the document lacks.
#[derive(Clone, Debug)]
pub struct UserRequest {
    /// The command line.
    pub arguments: ReadArguments,
    /// Whether the page cache is used.
    pub caching: Caching,
    /// Length of a unit of CPU work.
    pub cpu_unit: Duration,
}

/// Reports where the file is, if it is on no disk of this machine.
fn name_cautions(file: &Path, console: &mut dyn Console) {
    // Unknown facts are not reported; the file is opened in any case.
    let cautions = inspect(file).map_or_else(|_| Vec::new(), |(_, cautions)| cautions);
    for caution in cautions {
        if ELSEWHERE.contains(&caution.code) {
            console.note(&format!("note: {}", caution.text()));
        }
    }
}
