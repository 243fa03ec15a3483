//! Command lines of the classic programs, one word a line.
#![no_main]

use vintage::diskrand::PassLength;
use vintage::rpt::Transact;
use vintage::{diskmbps, diskrand};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    let _ = diskrand::typed(&words, PassLength::AsDocumented);
    let _ = diskrand::typed(&words, PassLength::Short);
    if let Ok(arguments) = diskmbps::typed(&words) {
        assert!(arguments.passes <= diskmbps::PASSES_MAX);
    }
    let mut transact = Transact::default();
    for pair in words.chunks_exact(2) {
        let _ = transact.set(&pair[0], &pair[1]);
    }
    if let Ok(parameters) = transact.parameters("fuzz", 1) {
        for bytes in [None, Some(0), Some(1 << 30)] {
            let _ = workload::check_threads(std::slice::from_ref(&parameters), bytes);
        }
    }
});
