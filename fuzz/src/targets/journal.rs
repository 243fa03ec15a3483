//! Journals of studies.

pub fn read(bytes: &[u8]) {
    if let Ok((_, whole)) = study::readers::journal(bytes) {
        assert!(whole <= bytes.len());
    }
}
