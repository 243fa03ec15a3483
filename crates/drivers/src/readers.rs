//! Private readers of text from outside, for the fuzz targets.

/// Reads a table of mounts, of swap space, or of arrays.
pub fn kernel_tables(text: &str) {
    crate::device::read_tables(text);
}
