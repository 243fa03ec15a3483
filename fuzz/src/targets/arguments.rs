//! Command lines of the classic programs, one word a line.

use vintage::diskrand::PassLength;
use vintage::rpt::Transact;
use vintage::{diskmbps, diskrand};

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
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
}
