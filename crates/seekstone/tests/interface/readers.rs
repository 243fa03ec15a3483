//! Each reader that is fuzzed ends in a value or an error on every input that was kept, and on what
//! small damage makes of it. `make fuzz` goes on from there.

#[path = "../../../../fuzz/src/kit.rs"]
mod kit;
#[path = "../../../../fuzz/src/targets/mod.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Removes what readers made in memory when it is dropped.
struct ScratchRemoval;

impl Drop for ScratchRemoval {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(kit::scratch_of_process());
    }
}

/// Inputs of a reader that are tried, at most: the smallest.
const INPUTS_MAX: usize = 100;
/// Bytes of an input that is tried.
const BYTES_MAX: u64 = 4 << 10;

fn inputs(corpus: &Path, bytes_max: u64) -> Vec<Vec<u8>> {
    let listed = fs::read_dir(corpus).unwrap_or_else(|error| panic!("{corpus:?}: {error}"));
    let sized = |path: PathBuf| Some((path.metadata().ok()?.len(), path));
    let paths = listed.filter_map(|entry| sized(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|(bytes, _)| *bytes <= bytes_max).collect();
    paths.sort();
    let each = paths.into_iter().take(INPUTS_MAX);
    each.map(|(_, path)| fs::read(path).expect("an input"))
        .collect()
}

/// Inputs of every size for the session of a time.
const BYTES_MAX_FOR_LONG: u64 = 64 << 10;
/// What stands in the place of a number.
const NUMBERS: [&str; 12] = [
    "0",
    "-0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "18446744073709551615",
    "1e400",
    "nan",
    "0.0000001",
    "99999999999999999999999999",
];

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

/// One of several damages: a byte, a piece away, a piece twice, a piece of another input, or
/// another number.
fn damaged_once(input: &[u8], others: &[Vec<u8>], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut ends = [random.usize(..=input.len()), random.usize(..=input.len())];
    ends.sort_unstable();
    let [begin, end] = ends;
    let (head, piece, tail) = (&input[..begin], &input[begin..end], &input[end..]);
    match random.u8(..5) {
        0 => {
            let mut changed = input.to_vec();
            if let Some(byte) = changed.get_mut(begin) {
                *byte = random.u8(..);
            }
            changed
        }
        1 => [head, tail].concat(),
        2 => [head, piece, piece, tail].concat(),
        3 => {
            let other = &others[random.usize(..others.len())];
            let from = random.usize(..=other.len());
            let taken = &other[from..(from + piece.len()).min(other.len())];
            [head, taken, tail].concat()
        }
        _ => {
            let is_digit = |at: &usize| input[*at].is_ascii_digit();
            let Some(first) = (begin..input.len()).find(is_digit) else {
                return head.to_vec();
            };
            let behind = (first..input.len()).find(|at| !is_digit(at));
            let behind = behind.unwrap_or(input.len());
            let number = NUMBERS[random.usize(..NUMBERS.len())].as_bytes();
            [&input[..first], number, &input[behind..]].concat()
        }
    }
}

/// A session where there is no fuzzer: without coverage, but of the same readers.
/// SEEKSTONE_READERS_SECONDS says how long for each.
#[test]
#[ignore = "takes some seconds for each reader"]
#[allow(clippy::print_stderr)]
fn readers_withstand_damage_for_a_time() {
    let _removal = ScratchRemoval;
    let given = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let span = Duration::from_secs(given("SEEKSTONE_READERS_SECONDS").unwrap_or(2));
    let seed = given("SEEKSTONE_READERS_SEED").unwrap_or(1);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut broken = Vec::new();
    for (name, read) in targets::READERS {
        let inputs = inputs(&root.join(name), BYTES_MAX_FOR_LONG);
        let mut random = fastrand::Rng::with_seed(seed);
        let (begun, mut executions) = (Instant::now(), 0_u64);
        while begun.elapsed() < span {
            let mut input = inputs[random.usize(..inputs.len())].clone();
            for _ in 0..random.usize(1..=6) {
                input = damaged_once(&input, &inputs, &mut random);
            }
            executions += 1;
            if std::panic::catch_unwind(|| read(&input)).is_err() {
                broken.push(format!("{name}: {:?}", String::from_utf8_lossy(&input)));
                break;
            }
        }
        eprintln!("{name:16} {executions:>9} executions");
    }
    assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
}

#[test]
fn readers_end_in_a_value_or_an_error() {
    let _removal = ScratchRemoval;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, read) in targets::READERS {
        let inputs = inputs(&root.join(name), BYTES_MAX);
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
