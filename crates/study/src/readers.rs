//! Private readers of text from outside, for the fuzz targets.

use crate::journal;

/// Reads the bytes of a journal up to the last whole line; gives the replicates in it and the
/// bytes of those lines.
///
/// # Errors
/// When it is none.
pub fn journal(bytes: &[u8]) -> Result<(usize, usize), String> {
    let last = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = last.map_or(0, |last| last + 1);
    let recorded = journal::read(&bytes[..whole])?;
    Ok((recorded.replicates.len(), whole))
}
