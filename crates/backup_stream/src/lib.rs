//! The stream that the measurement `backup` writes: blocks of one size, each with its number and a
//! CRC, and groups of them with a block of redundancy, as in BACKUP of VMS.
//!
//! The format is our own, described in docs/backup-stream.md. The code only transforms bytes, which
//! is part of the measurement: the crate is optimised like the engine.

mod block;
mod decoder;
mod encoder;
mod entries;

pub use block::{
    BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, BlockRole, GROUP_MAX, HEADER_BYTES, StreamLayout,
};
pub use decoder::{Damage, Decoder, Unreadable, What};
pub use encoder::Encoder;
pub use entries::{BackupEntry, EntryFault, EntryKind, NAME_BYTES_MAX, Unpacked, Unpacker, packed};
