//! The head of a state file, with the identity of its ledger and targets, followed by the ledger's
//! words.
//!
//! Little-endian: magic `SkState1` (8), CRC-32C of all that follows up to the words (4), bytes
//! before the words (4), seed (8), unit (8), number of targets (4), 4 zeroes; then of each target
//! its bytes (8), 0 for one that is not verified, the length of its path (4) and the path. Zeroes
//! fill it up to a multiple of 4096 bytes.

/// First bytes of state files.
pub const STATE_MAGIC: [u8; 8] = *b"SkState1";
/// Alignment of the words.
const PAGE: usize = 4096;
/// Bytes before the first target.
const FIXED: usize = 40;
/// Start of the part covered by the checksum.
const COVERED: usize = 12;
/// Maximum size of a head: the paths of 65,536 files.
const HEAD_BYTES_MAX: usize = 1 << 28;

/// A target of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTarget {
    /// Its size in bytes; 0 if it is not verified.
    pub bytes: u64,
    /// Its path as bytes, since paths need not be text.
    pub path: Vec<u8>,
}

/// Head of a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateHead {
    /// Seed in the headers of its writes.
    pub seed: u64,
    /// Block size, bytes.
    pub unit: u64,
    /// All targets, by number.
    pub targets: Vec<StateTarget>,
}

/// Why a file is not a valid state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It starts with something else.
    #[error("it is no state of --verify-state: it begins with other bytes")]
    Foreign,
    /// It ends too early.
    #[error("it is cut short: a state of these targets has {needed} bytes, and it has {there}")]
    Short {
        /// Required size, bytes.
        needed: u64,
        /// Actual size, bytes.
        there: u64,
    },
    /// Its checksum is wrong.
    #[error("it is damaged: its head has checksum {computed:08x} where it says {carried:08x}")]
    Damaged {
        /// The stored checksum.
        carried: u32,
        /// The computed checksum.
        computed: u32,
    },
}

impl StateHead {
    /// Lengths of the targets in bytes, for a ledger.
    pub fn lens(&self) -> Vec<u64> {
        self.targets.iter().map(|it| it.bytes).collect()
    }

    /// Its encoded bytes, followed by the words.
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

    /// Length of the head that starts with these [`StateHead::FIRST_BYTES`].
    ///
    /// # Errors
    /// If it is invalid.
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

    /// Number of bytes needed to determine the length.
    pub const FIRST_BYTES: usize = 16;

    /// Decodes a head of [`StateHead::encoded_len`] bytes.
    ///
    /// # Errors
    /// If it is invalid or damaged.
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
        // With a correct checksum, someone wrote these numbers intentionally, but they are still
        // checked.
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
