//! Journals of runs that were killed.

pub fn read(bytes: &[u8]) {
    let _ = lab::readers::run_journal(bytes);
}
