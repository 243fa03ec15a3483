//! What written bytes are: noise, zeroes or a pattern, how much of them compresses, and how many
//! writes repeat an earlier one.

use serde::{Deserialize, Serialize};

/// Bytes of a pattern, at most.
pub const PATTERN_BYTES_MAX: usize = 512;
/// The chunk in which compressible bytes are spread, where nobody says.
pub const CHUNK_BYTES_USUAL: u32 = 512;

/// What bytes are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Random bytes; their compressible part is zeroes.
    #[default]
    Noise,
    /// Zeroes alone.
    Zeroes,
    /// These bytes over and over; beside noise, the compressible part.
    Pattern(Vec<u8>),
}

/// Which writes hold bytes that no other write holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Freshness {
    /// Each: every sector of 512 bytes differs from all others, and the rest comes again after
    /// some MiB.
    #[default]
    Marked,
    /// Each, in all its bytes: they are drawn for it.
    Drawn,
    /// None: a buffer is sent again and again as it is.
    Repeated,
}

/// What the writes of a workload hold. The default neither compresses nor deduplicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Content {
    /// What bytes are made of.
    pub fill: Fill,
    /// Which writes are unlike all others.
    pub freshness: Freshness,
    /// Percent of each chunk that compresses to nothing.
    pub compressible_percent: u32,
    /// Bytes of a chunk: its noise comes first, then what compresses.
    pub chunk_bytes: u32,
    /// Percent of writes that repeat the last one of their client that was none.
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
    /// Whether it is what is written where nobody asks for anything.
    #[must_use]
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
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        let is_mixed = self.compressible_percent > 0 || self.duplicate_percent > 0;
        is_mixed || (self.fill == Fill::Noise && self.freshness == Freshness::Drawn)
    }

    /// The same where all that compresses is a fill without noise.
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
