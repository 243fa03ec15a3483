//! Runs `diskrand`: writes a file of records and reads it at random, makes the transactions of one
//! user, or removes the file.
//!
//! As in 1997 everything goes through the system's cache unless direct I/O is asked for. A program
//! is one user: it has one request outstanding at most, and several programs make several users.
//! Source: the document "Disk and Transaction Random Access Test".

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

/// Cautions about a file that lies on no disk of this machine.
const ELSEWHERE: [WarningCode; 2] = [WarningCode::MemoryBacked, WarningCode::RemoteFileSystem];

/// `Write`, and what the document does not have.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// What was typed.
    pub arguments: WriteArguments,
    /// Whether the page cache takes part.
    pub caching: Caching,
    /// Room that stays free.
    pub reserve: Option<u64>,
}

/// `Read` and its relatives, and what the document does not have.
#[derive(Clone, Debug)]
pub struct UserRequest {
    /// What was typed.
    pub arguments: ReadArguments,
    /// Whether the page cache takes part.
    pub caching: Caching,
    /// What a unit of processor work is.
    pub cpu_unit: Duration,
}

/// Say where the file lives, when that is no disk of this machine.
fn name_cautions(file: &Path, console: &mut dyn Console) {
    // What cannot be found out is not said; the file is opened in any case.
    let cautions = inspect(file).map_or_else(|_| Vec::new(), |(_, cautions)| cautions);
    for caution in cautions {
        if ELSEWHERE.contains(&caution.code) {
            console.note(&format!("note: {}", caution.text()));
        }
    }
}
