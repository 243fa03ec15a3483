//! `seekstone serve`, in a build without pages.

use crate::args::ServeArgs;
use crate::exit::{Exit, UsageError};
use crate::left_out::WEB;

/// Refuse.
///
/// # Errors
/// Always.
pub fn serve(_: &ServeArgs) -> anyhow::Result<Exit> {
    Err(UsageError(WEB.to_string()).into())
}
