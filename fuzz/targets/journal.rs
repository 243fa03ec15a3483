//! Journals of studies.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok((_, whole)) = study::readers::journal(bytes) {
        assert!(whole <= bytes.len());
    }
});
