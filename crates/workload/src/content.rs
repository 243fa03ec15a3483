//! Content of writes: noise, zeroes or a pattern, how compressible it is, and how many writes
//! repeat an earlier one.

use serde::{Deserialize, Serialize};

/// Maximum length of a pattern, bytes.
pub const PATTERN_BYTES_MAX: usize = 512;
/// Default size of the chunk over which compressible bytes are spread.
pub const CHUNK_BYTES_USUAL: u32 = 512;

/// Source of the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Random bytes; the compressible part is zeroes.
    #[default]
    Noise,
    /// Only zeroes.
    Zeroes,
    /// This pattern repeated; with noise, it is the compressible part.
    Pattern(Vec<u8>),
}

/// Which writes have unique content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freshness {
    /// All: every sector of 512 bytes is unique, but the rest repeats after some MiB.
    #[default]
    Marked,
    /// All, completely: the bytes are drawn for each write.
    Drawn,
    /// None: a buffer is sent repeatedly unchanged.
    Repeated,
}

/// Content of a workload's writes. The default neither compresses nor deduplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Content {
    /// Source of the bytes.
    pub fill: Fill,
    /// Which writes are unique.
    pub freshness: Freshness,
    /// Percentage of each chunk that compresses to nothing.
    pub compressible_percent: u32,
    /// Chunk size in bytes: noise first, then the compressible part.
    pub chunk_bytes: u32,
    /// Percentage of writes that repeat their client's last non-repeated one.
    pub duplicate_percent: u32,
}

impl Default for Content {
    fn default() -> Self {
        Self {
            fill: Fill::Noise,
            freshness: Freshness::Marked,
            compressible_percent: 0,
            chunk_bytes: CHUNK_BYTES_USUAL,
            duplicate_percent: 0,
        }
    }
}

impl Content {
    /// Whether it is the default.
    pub fn is_default(&self) -> bool {
        let Self {
            fill,
            freshness,
            compressible_percent,
            duplicate_percent,
            chunk_bytes: _,
        } = self;
        *fill == Fill::Noise
            && *freshness == Freshness::Marked
            && (*compressible_percent, *duplicate_percent) == (0, 0)
    }

    /// Whether noise is drawn for each write.
    pub fn is_drawn(&self) -> bool {
        let is_mixed = self.compressible_percent > 0 || self.duplicate_percent > 0;
        is_mixed || (self.fill == Fill::Noise && self.freshness == Freshness::Drawn)
    }

    /// The same with fully compressible content as a fill without noise.
    #[must_use]
    pub fn settled(mut self) -> Self {
        if self.compressible_percent >= 100 {
            self.compressible_percent = 0;
            self.duplicate_percent = 0;
            self.fill = match self.fill {
                Fill::Noise => Fill::Zeroes,
                other => other,
            };
        }
        self
    }
}
