//! The names that a work directory and the files in it have.

use std::ffi::OsStr;

use super::{DIRECTORY_PREFIX, MARKER_DRAFT, MARKER_NAME};

/// A name with every row of digits as one `#`, so that numbered files have one shape.
pub(crate) fn shape_of(name: &str) -> String {
    let mut shape = String::new();
    for character in name.chars() {
        match character {
            '0'..='9' if shape.ends_with('#') => {}
            '0'..='9' => shape.push('#'),
            other => shape.push(other),
        }
    }
    shape
}

/// Small files are named by number, so that millions of them need no list.
pub(crate) fn small_file_name(number: u32) -> String {
    format!("f{number:07}")
}

/// The number in the name of a small file.
pub(crate) fn small_file_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('f')?;
    let is_number = digits.len() >= 7 && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// A name for a directory.
pub(crate) fn directory_name(random: u64) -> String {
    format!("{DIRECTORY_PREFIX}{}", checked_digits(random))
}

/// Whether [`directory_name`] gives such a name; earlier versions gave others.
pub(crate) fn is_given_name(name: &str) -> bool {
    name.strip_prefix(DIRECTORY_PREFIX).is_some_and(is_checked)
}

/// Sixteen digits for a name: of a random number one half, and then its checksum, so that no name
/// that somebody else gave is taken for one of ours.
pub fn checked_digits(random: u64) -> String {
    let half = format!("{:08x}", random >> 32);
    let check = crc32c::crc32c(half.as_bytes());
    format!("{half}{check:08x}")
}

/// Whether [`checked_digits`] gives these.
pub fn is_checked(digits: &str) -> bool {
    let half = digits.get(..8);
    let number = half.and_then(|it| u64::from_str_radix(it, 16).ok());
    number.is_some_and(|it| checked_digits(it << 32) == digits)
}

/// Whether it may be a name of ours.
pub(crate) fn is_directory_name(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_prefix(DIRECTORY_PREFIX))
        .is_some_and(|digits| {
            digits.len() == 16
                && digits
                    .bytes()
                    .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
}

/// Whether `name` can stand in our directory: no path, nothing special, not the marker.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=200).contains(&name.len())
        && name.bytes().all(is_plain)
        && !matches!(name, "." | ".." | MARKER_NAME | MARKER_DRAFT)
}
