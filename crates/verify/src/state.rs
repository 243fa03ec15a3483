//! The beginning of a state file: whose ledger it holds, of which targets. The ledger's
//! words follow.
//!
//! Little-endian: magic `SkState1` (8), CRC-32C of all that follows up to the words (4),
//! bytes before
//! the words (4), seed (8), unit (8), number of targets (4), 4 zeroes; then of each target
//! its bytes (8),
//! 0 for one that is not verified, the length of its path (4) and the path. Zeroes fill it up to a
//! multiple of 4096 bytes.

/// What state files begin with.
pub const STATE_MAGIC: [u8; 8] = *b"SkState1";
/// The words begin at a multiple of this.
const PAGE: usize = 4096;
/// Bytes before the first target.
const FIXED: usize = 40;
/// The checksum covers what is behind it.
const COVERED: usize = 12;
/// More than any run has: the paths of 65,536 files.
const HEAD_BYTES_MAX: usize = 1 << 28;

/// A target of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTarget {
    /// Bytes of it; 0 where it is not verified.
    pub bytes: u64,
    /// Where it is, as bytes: paths need not be text.
    pub path: Vec<u8>,
}

/// What a state file says before its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateHead {
    /// What the headers of its writes carry.
    pub seed: u64,
    /// Bytes of a block.
    pub unit: u64,
    /// All targets, by their numbers.
    pub targets: Vec<StateTarget>,
}

/// Why a file is no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It begins with something else.
    #[error("it is no state of --verify-state: it begins with other bytes")]
    Foreign,
    /// It ends too early.
    #[error("it is cut short: a state of these targets has {needed} bytes, and it has {there}")]
    Short {
        /// Bytes that it should have.
        needed: u64,
        /// Bytes that it has.
        there: u64,
    },
    /// Its checksum is not that of its bytes.
    #[error("it is damaged: its head has checksum {computed:08x} where it says {carried:08x}")]
    Damaged {
        /// The checksum that it carries.
        carried: u32,
        /// The checksum of what it holds.
        computed: u32,
    },
}

impl StateHead {
    /// Lengths of the targets in bytes, as a ledger takes them.
    #[must_use]
    pub fn lens(&self) -> Vec<u64> {
        self.targets.iter().map(|it| it.bytes).collect()
    }

    /// Its bytes: the words begin behind them.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = STATE_MAGIC.to_vec();
        bytes.extend([0; 8]);
        bytes.extend(self.seed.to_le_bytes());
        bytes.extend(self.unit.to_le_bytes());
        bytes.extend((self.targets.len() as u32).to_le_bytes());
        bytes.extend([0; 4]);
        for target in &self.targets {
            bytes.extend(target.bytes.to_le_bytes());
            bytes.extend((target.path.len() as u32).to_le_bytes());
            bytes.extend(&target.path);
        }
        bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        let len = bytes.len() as u32;
        bytes[12..16].copy_from_slice(&len.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[COVERED..]);
        bytes[8..COVERED].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// How many bytes the head has that begins with these [`StateHead::FIRST_BYTES`].
    ///
    /// # Errors
    /// When it is none.
    pub fn encoded_len(first: &[u8]) -> Result<usize, StateError> {
        if !first.starts_with(&STATE_MAGIC) {
            return Err(StateError::Foreign);
        }
        let there = first.len() as u64;
        let len = number(first, COVERED).ok_or(StateError::Short {
            needed: PAGE as u64,
            there,
        })? as usize;
        match (PAGE..=HEAD_BYTES_MAX).contains(&len) && len.is_multiple_of(PAGE) {
            true => Ok(len),
            false => Err(StateError::Foreign),
        }
    }

    /// As many bytes tell how many there are.
    pub const FIRST_BYTES: usize = 16;

    /// What those bytes say, which are as many as [`StateHead::encoded_len`] says.
    ///
    /// # Errors
    /// When they are no head, or a damaged one.
    // fuzzed: state
    pub fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let len = Self::encoded_len(bytes)?;
        let Some(bytes) = bytes.get(..len) else {
            return Err(StateError::Short {
                needed: len as u64,
                there: bytes.len() as u64,
            });
        };
        let carried = number(bytes, 8).unwrap_or_default();
        let computed = crc32c::crc32c(&bytes[COVERED..]);
        if carried != computed {
            return Err(StateError::Damaged { carried, computed });
        }
        // With the right checksum these are numbers that somebody wrote as such; they are looked at
        // all the same.
        let mut targets = Vec::new();
        let mut at = FIXED;
        for _ in 0..number(bytes, 32).ok_or(StateError::Foreign)? {
            let size = long(bytes, at).ok_or(StateError::Foreign)?;
            let named = number(bytes, at + 8).ok_or(StateError::Foreign)? as usize;
            let path = bytes.get(at + 12..).and_then(|rest| rest.get(..named));
            targets.push(StateTarget {
                bytes: size,
                path: path.ok_or(StateError::Foreign)?.to_vec(),
            });
            at += 12 + named;
        }
        Ok(Self {
            seed: long(bytes, 16).ok_or(StateError::Foreign)?,
            unit: long(bytes, 24).ok_or(StateError::Foreign)?,
            targets,
        })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*four))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> StateHead {
        let target = |bytes, path: &[u8]| StateTarget {
            bytes,
            path: path.to_vec(),
        };
        StateHead {
            seed: 0x1122_3344_5566_7788,
            unit: 4096,
            targets: vec![
                target(1 << 30, b"/mnt/a"),
                target(0, b""),
                target(7, b"/\xff"),
            ],
        }
    }

    #[test]
    fn it_is_read_back_as_it_was_written() {
        let many = StateHead {
            targets: vec![head().targets[0].clone(); 1000],
            ..head()
        };
        for head in [head(), many] {
            let bytes = head.encode();
            assert!(bytes.len().is_multiple_of(PAGE));
            assert_eq!(StateHead::encoded_len(&bytes[..16]), Ok(bytes.len()));
            assert_eq!(StateHead::decode(&bytes), Ok(head));
        }
    }

    #[test]
    fn any_damaged_byte_and_any_cut_is_seen() {
        let bytes = head().encode();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(StateHead::decode(&damaged).is_err(), "byte {at}");
            assert!(StateHead::decode(&bytes[..at]).is_err(), "cut at {at}");
        }
        assert_eq!(StateHead::decode(b"#!/bin/sh\n"), Err(StateError::Foreign));
    }
}
