//! Documents of runs that are imported or in an archive: each is reported, and written as it was.
#![no_main]

use report::Style;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(run) = results::from_json(text) else {
        return;
    };
    let written = results::json(&run);
    if let Ok(again) = results::from_json(&written) {
        assert_eq!(results::json(&again), written);
    }
    fuzz::report(&run, &Style::default());
});
