//! Device definitions: what is accepted is built, and carries out requests.

use sim::{FileSystemSpec, SimSpec, device_text};
use units::Instant;

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
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
        super::super::kit::exercise(&mut spec.driver(7, 8, Instant::START), spec.size.0);
    }
}
