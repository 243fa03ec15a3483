//! Verification options of a job.

/// fio's methods. Here they are all the same: a header with a checksum in each sector.
const METHODS: &str = "
    crc7 crc16 crc32 crc32-intel crc32c crc32c-intel crc64 md5 sha1 sha256 sha512 sha3-224
    sha3-256 sha3-384 sha3-512 xxhash xxhash64 meta pattern pattern_hdr
";
/// Values that switch verification off; with the last one, fio only pretends.
const OFF: [&str; 4] = ["0", "none", "false", "null"];

/// Verification of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// Whether its writes get headers, against which reads are checked.
    pub is_on: bool,
    /// Whether its writes are read back.
    pub reads_back: bool,
    /// Whether reading back ends at the first finding.
    pub is_fatal: bool,
    /// The bytes after each header, if there is a pattern.
    pub pattern: Option<Vec<u8>>,
}

impl Default for Verify {
    fn default() -> Self {
        Self {
            is_on: false,
            reads_back: true,
            is_fatal: false,
            pattern: None,
        }
    }
}

/// Whether that method verifies anything.
///
/// # Errors
/// If fio has no such method.
pub(crate) fn is_method_on(text: &str) -> Result<bool, String> {
    let word = text.split(':').next().unwrap_or(text);
    let is_method = METHODS.split_whitespace().any(|method| method == word);
    match (OFF.contains(&word), is_method) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => Err(format!("{text:?} is none of fio's methods, such as crc32c")),
    }
}
