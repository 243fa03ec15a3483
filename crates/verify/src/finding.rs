//! Findings from reading back, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Maximum number of findings kept with details; the others are only counted.
const KEPT_MAX: usize = 100;

units::words! {
    /// How a block differs from what was written there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// Nothing that was written there is there: zeroes, or bytes that no write of ours made.
        Lost = "lost",
        /// An older write is there.
        Stale = "stale",
        /// A write to another place is there.
        Misplaced = "misplaced",
        /// A part of the write is there, and another part is not.
        Torn = "torn",
        /// The write is there, and some of its bits are not as they were written.
        Flipped = "flipped",
    }
}

/// Writes that may be at a place, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The oldest.
    pub least: u64,
    /// The newest; `None` if unknown.
    pub most: Option<u64>,
}

/// Content of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "holds", rename_all = "kebab-case")]
pub enum SectorContent {
    Zeroes,
    /// Bytes without a header.
    Foreign,
    /// A write of this run.
    Write {
        /// Its number.
        sequence: u64,
    },
    /// A write of another run.
    OtherRun {
        /// The seed of the other run.
        seed: u64,
    },
    /// A write to another place.
    Elsewhere {
        /// Its target.
        target: u32,
        /// Its offset.
        offset: u64,
        /// Its number.
        sequence: u64,
    },
    /// A wrong checksum.
    Checksum {
        /// The stored checksum.
        carried: u32,
        /// The checksum of the bytes.
        computed: u32,
    },
}

/// A place with wrong content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyMismatch {
    /// Class of the difference.
    pub class: Class,
    /// Number of the file or device.
    pub target: u32,
    /// Offset of the first wrong sector, bytes from the start of the target.
    pub offset: u64,
    /// Bytes in wrong sectors from there that belong to the same write.
    pub bytes: u64,
    /// Expected writes.
    pub expected: Expected,
    /// Content of the first wrong sector.
    pub found: SectorContent,
}

/// Counts of findings by class, with details of the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    counts: [u64; Class::ALL.len()],
    kept: Vec<VerifyMismatch>,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            Some(most) if most == self.least => write!(f, "write {most}"),
            Some(most) => write!(f, "one of writes {} to {most}", self.least),
            None if self.least <= 1 => write!(f, "a write to this place"),
            None => write!(f, "write {} or a later one", self.least),
        }
    }
}

impl fmt::Display for SectorContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeroes => f.write_str("zeroes"),
            Self::Foreign => f.write_str("bytes that no verified write made"),
            Self::Write { sequence } => write!(f, "write {sequence}"),
            Self::OtherRun { seed } => write!(f, "a write of another run ({seed:016x})"),
            Self::Elsewhere {
                target,
                offset,
                sequence,
            } => write!(f, "write {sequence} to offset {offset} of target {target}"),
            Self::Checksum { carried, computed } => {
                write!(f, "checksum {computed:08x} where it says {carried:08x}")
            }
        }
    }
}

impl fmt::Display for VerifyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at offset {} ({} bytes): expected {}, found {}",
            self.class.name(),
            self.offset,
            self.bytes,
            self.expected,
            self.found
        )
    }
}

impl Findings {
    /// Adds a finding.
    pub fn note(&mut self, finding: VerifyMismatch) {
        self.counts[finding.class as usize] += 1;
        if self.kept.len() < KEPT_MAX {
            self.kept.push(finding);
        }
    }

    /// Number of findings in a class.
    pub fn count(&self, class: Class) -> u64 {
        self.counts[class as usize]
    }

    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first findings, in order of discovery.
    pub fn first(&self) -> &[VerifyMismatch] {
        &self.kept
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        let room = KEPT_MAX - self.kept.len();
        self.kept.extend(other.kept.iter().take(room));
    }
}

impl fmt::Display for Findings {
    /// "2 lost, 1 torn"; "nothing wrong" without findings.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = Class::ALL.iter().filter(|class| self.count(**class) > 0);
        let parts = there.map(|class| format!("{} {}", self.count(*class), class.name()));
        match self.total() {
            0 => f.write_str("nothing wrong"),
            _ => f.write_str(&parts.collect::<Vec<_>>().join(", ")),
        }
    }
}
