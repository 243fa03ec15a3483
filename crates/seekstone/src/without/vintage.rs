//! The programs of 1995 to 1997, in a build without them.

use std::path::Path;

use archive::Archive;

use crate::exit::{Exit, UsageError};
use crate::left_out::VINTAGE;

pub use self::refuse as diskmbps;
pub use self::refuse as diskrand;
pub use self::refuse as rpt;
pub use self::refuse as together;
pub use self::refuse as transact;
pub use self::refuse as validate;

/// Refuse.
///
/// # Errors
/// Always.
pub fn refuse<A>(_: &A) -> anyhow::Result<Exit> {
    Err(UsageError(VINTAGE.to_string()).into())
}

/// Refuse a log.
///
/// # Errors
/// Always.
pub fn import(_: &mut Archive, file: &Path, _: &str) -> anyhow::Result<Exit> {
    refuse(&file)
}

/// Refuse logs.
///
/// # Errors
/// Always.
pub fn merge(_: &Path, sources: &[String]) -> anyhow::Result<Exit> {
    refuse(&sources)
}
