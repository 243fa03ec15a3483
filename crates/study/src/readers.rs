//! Private parsers of untrusted text, for the fuzz targets.

use crate::journal;

/// Parses a journal up to the last complete line. Returns the number of repeats and the length of
/// these lines.
///
/// # Errors
/// If it is invalid.
pub fn journal(bytes: &[u8]) -> Result<(usize, usize), String> {
    let last = bytes.iter().rposition(|&byte| byte == b'\n');
    let whole = last.map_or(0, |last| last + 1);
    let recorded = journal::read(&bytes[..whole])?;
    Ok((recorded.replicates.len(), whole))
}
