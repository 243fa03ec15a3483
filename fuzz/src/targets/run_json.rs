//! Documents of runs that are imported or in an archive: each is reported, and written as it was.

use report::Style;

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(run) = results::from_json(text) else {
        return;
    };
    let written = results::json(&run);
    if let Ok(again) = results::from_json(&written) {
        assert_eq!(results::json(&again), written);
    }
    super::super::kit::report(&run, &Style::default());
}
