//! Writes the content that a workload asks for into the memory of a request.

use std::sync::atomic::{AtomicU64, Ordering};

use workload::{Content, Fill, Freshness};

use crate::buffers::{fill_incompressible, mix};

/// Percent are counted out of this many.
const WHOLE: u64 = 100;

/// Makes the content of one client's writes.
#[derive(Debug)]
pub struct ContentSource {
    content: Content,
    seed: u64,
    /// Writes so far.
    writes: AtomicU64,
}

impl ContentSource {
    /// A source whose noise follows from `seed`.
    pub fn new(content: Content, seed: u64) -> Self {
        Self {
            content: content.settled(),
            seed: mix(seed ^ 0x636f_6e74_656e_7421),
            writes: AtomicU64::new(0),
        }
    }

    /// Fill `bytes`, which are about to be written.
    pub fn fill(&self, bytes: &mut [u8]) {
        let Content {
            fill,
            compressible_percent,
            chunk_bytes,
            ..
        } = &self.content;
        if self.content.is_drawn() {
            let number = self.writes.fetch_add(1, Ordering::Relaxed);
            let original = original_of(number, self.content.duplicate_percent);
            let seed = mix(self.seed ^ original);
            fill_mixed(bytes, seed, *compressible_percent, *chunk_bytes, fill);
            return;
        }
        match fill {
            Fill::Zeroes => bytes.fill(0),
            Fill::Pattern(pattern) => repeat(pattern, bytes),
            Fill::Noise if self.content.freshness == Freshness::Repeated => {
                fill_incompressible(bytes, self.seed);
            }
            Fill::Noise => {}
        }
    }
}

/// The number of the write that write `number` holds the bytes of: itself, or the last original.
/// Of any 100 writes in a row, `percent` are repeats, and they are spread evenly.
fn original_of(number: u64, percent: u32) -> u64 {
    let percent = u64::from(percent).min(WHOLE);
    let repeats_before = |count: u64| (u128::from(count) * u128::from(percent) / 100) as u64;
    let is_repeat = |number: u64| repeats_before(number + 1) > repeats_before(number);
    // Never more than 100 steps: there is an original among any 100, except where all repeat.
    let mut number = number;
    if percent == WHOLE {
        return 0;
    }
    while number > 0 && is_repeat(number) {
        number -= 1;
    }
    number
}

/// Noise, then what compresses, in every chunk.
fn fill_mixed(bytes: &mut [u8], seed: u64, percent: u32, chunk_bytes: u32, fill: &Fill) {
    if percent == 0 {
        return fill_incompressible(bytes, seed);
    }
    let chunk_bytes = match chunk_bytes {
        0 => bytes.len().max(1),
        bytes => bytes as usize,
    };
    for (chunk, number) in bytes.chunks_mut(chunk_bytes).zip(0_u64..) {
        let noise = (chunk.len() as u64 * (WHOLE - u64::from(percent)) / WHOLE) as usize;
        let (noise, rest) = chunk.split_at_mut(noise);
        fill_incompressible(noise, mix(seed.wrapping_add(number)));
        match fill {
            Fill::Pattern(pattern) => repeat(pattern, rest),
            Fill::Noise | Fill::Zeroes => rest.fill(0),
        }
    }
}

/// The pattern over and over.
fn repeat(pattern: &[u8], bytes: &mut [u8]) {
    if pattern.is_empty() {
        return bytes.fill(0);
    }
    for piece in bytes.chunks_mut(pattern.len()) {
        piece.copy_from_slice(&pattern[..piece.len()]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn written(content: Content, writes: usize, len: usize) -> Vec<Vec<u8>> {
        let source = ContentSource::new(content, 7);
        let write = |_| {
            let mut bytes = vec![0x5a; len];
            source.fill(&mut bytes);
            bytes
        };
        (0..writes).map(write).collect()
    }

    #[test]
    fn the_share_of_repeats_is_what_was_asked_for() {
        for percent in 0..=100 {
            let content = Content {
                freshness: Freshness::Drawn,
                duplicate_percent: percent,
                ..Content::default()
            };
            let found = written(content, 1000, 64);
            let different: BTreeSet<_> = found.iter().collect();
            let expected = if percent == 100 {
                1
            } else {
                1000 - percent as usize * 10
            };
            assert_eq!(different.len(), expected, "{percent} %");
        }
    }

    /// Chunks hold exactly this many bytes of noise, whatever their size.
    #[test]
    fn the_compressible_part_is_what_was_asked_for() {
        for (percent, chunk) in [(25, 512), (50, 4096), (90, 1000), (99, 100), (50, 0)] {
            let content = Content {
                compressible_percent: percent,
                chunk_bytes: chunk,
                ..Content::default()
            };
            let found = &written(content, 1, 8192)[0];
            let whole = if chunk == 0 { 8192 } else { chunk as usize };
            for part in found.chunks(whole) {
                let noise = part.len() * (100 - percent as usize) / 100;
                assert!(
                    part[noise..].iter().all(|byte| *byte == 0),
                    "{percent} {chunk}"
                );
                let last = part[..noise].iter().rposition(|byte| *byte != 0);
                assert!(
                    last.is_none_or(|last| noise - last < 8),
                    "{percent} {chunk}"
                );
            }
        }
    }

    #[test]
    fn fills_are_exact() {
        let zeroes = Content {
            fill: Fill::Zeroes,
            ..Content::default()
        };
        assert_eq!(written(zeroes, 1, 5)[0], [0; 5]);
        let pattern = Content {
            fill: Fill::Pattern(b"abc".to_vec()),
            ..Content::default()
        };
        assert_eq!(written(pattern.clone(), 1, 7)[0], b"abcabca");
        let all = Content {
            compressible_percent: 100,
            ..pattern
        };
        assert_eq!(written(all, 1, 4)[0], b"abca");
        let repeated = Content {
            freshness: Freshness::Repeated,
            ..Content::default()
        };
        let found = written(repeated, 3, 4096);
        assert!(found[0] == found[1] && found[1] == found[2]);
        assert_ne!(found[0], vec![0x5a; 4096]);
    }
}
