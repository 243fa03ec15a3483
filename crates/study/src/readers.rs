//! Private readers of text from outside, for the fuzz targets.

use crate::journal;

/// Reads the bytes of a journal; gives the replicates in it and the bytes of whole lines.
///
/// # Errors
/// When it is none.
pub fn journal(bytes: &[u8]) -> Result<(usize, usize), String> {
    let (recorded, whole) = journal::read(bytes)?;
    Ok((recorded.replicates.len(), whole))
}
