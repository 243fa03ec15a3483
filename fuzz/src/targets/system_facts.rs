//! What a file says of compared systems.

pub fn read(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = report::SystemsTable::read(text);
    }
}
