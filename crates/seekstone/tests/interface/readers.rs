//! Each reader that is fuzzed ends in a value or an error on every input that was kept, and on what
//! small damage makes of it. `make fuzz` goes on from there.

#[path = "../../../../fuzz/src/kit.rs"]
mod kit;
#[path = "../../../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

/// Inputs of a reader that are tried, at most: the smallest.
const INPUTS_MAX: usize = 100;
/// Bytes of an input that is tried.
const BYTES_MAX: u64 = 4 << 10;

fn inputs(corpus: &Path) -> Vec<Vec<u8>> {
    let listed = fs::read_dir(corpus).unwrap_or_else(|error| panic!("{corpus:?}: {error}"));
    let sized = |path: PathBuf| Some((path.metadata().ok()?.len(), path));
    let paths = listed.filter_map(|entry| sized(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|(bytes, _)| *bytes <= BYTES_MAX).collect();
    paths.sort();
    let each = paths.into_iter().take(INPUTS_MAX);
    each.map(|(_, path)| fs::read(path).expect("an input"))
        .collect()
}

/// The input, cut short, with a byte changed, and with a piece of it twice.
fn damaged(input: &[u8], random: &mut fastrand::Rng) -> [Vec<u8>; 4] {
    let at = random.usize(..=input.len());
    let mut changed = input.to_vec();
    if let Some(byte) = changed.get_mut(at) {
        *byte ^= 1 << random.u8(..8);
    }
    let twice = [input, &input[at / 2..at]].concat();
    [input.to_vec(), input[..at].to_vec(), changed, twice]
}

#[test]
fn readers_end_in_a_value_or_an_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, read) in targets::READERS {
        let inputs = inputs(&root.join(name));
        assert!(!inputs.is_empty(), "fuzz/corpus/{name} has no small input");
        let mut random = fastrand::Rng::with_seed(7);
        for input in &inputs {
            for input in damaged(input, &mut random) {
                let ended = std::panic::catch_unwind(|| read(&input));
                assert!(
                    ended.is_ok(),
                    "{name}: {:?}",
                    String::from_utf8_lossy(&input)
                );
            }
        }
    }
}
