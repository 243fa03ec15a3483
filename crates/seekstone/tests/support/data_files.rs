//! Data files of `diskrand`, and its logs.

use std::fs;

use super::Scratch;

/// Make a data file of one megabyte.
#[track_caller]
pub fn write(scratch: &Scratch, file: &str) {
    let args = [
        "diskrand",
        "Write",
        file,
        "1",
        "0",
        "Made.txt",
        "--short",
        "--reserve",
        "0",
    ];
    scratch.check(&args, 0, "File written 1 Mbytes, 256 records of 4096 bytes");
}

/// The text of a file of a test's.
pub fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).expect("a log")
}
