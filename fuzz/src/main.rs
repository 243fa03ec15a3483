//! Fuzzes the reader that the variable READER names.
#![no_main]

mod kit;
mod targets;

use std::sync::LazyLock;

static READER: LazyLock<targets::Reader> = LazyLock::new(|| {
    let wanted = std::env::var("READER").expect("READER names a reader");
    let mut readers = targets::READERS.iter();
    let found = readers.find(|(name, _)| *name == wanted);
    found.expect("READER is one of src/targets.rs").1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| READER(bytes));
