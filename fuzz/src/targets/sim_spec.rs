//! What stands behind `sim:` on a command line.

use sim::{FileSystemSpec, SimSpec, device_text};
use units::Instant;

pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut load = |path: &str| device_text(path).map(str::to_owned).ok_or_else(String::new);
    if let Ok(spec) = FileSystemSpec::parse_with(text, &mut load) {
        drop(spec.build(7, Instant::START));
    }
    if let Ok(spec) = SimSpec::parse(text) {
        super::super::kit::exercise(&mut spec.driver(7, 8, Instant::START), spec.size.0);
    }
}
