//! Device definitions: what is accepted is built, and carries out requests.
#![no_main]

use sim::{FileSystemSpec, SimSpec, device_text};
use units::Instant;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut load = |path: &str| match path {
        "fuzz.toml" => Ok(text.to_owned()),
        other => device_text(other)
            .map(str::to_owned)
            .ok_or_else(|| "is not there".to_owned()),
    };
    if let Ok(spec) = FileSystemSpec::parse_with("fuzz.toml", &mut load) {
        drop(spec.build(7, Instant::START));
    }
    if let Ok(spec) = SimSpec::parse_with("fuzz.toml", &mut load) {
        fuzz::exercise(&mut spec.driver(7, 8, Instant::START), spec.size.0);
    }
});
