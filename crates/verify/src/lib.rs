//! What written blocks say of themselves, and what reading them back tells of a target.
//!
//! Every sector of a write begins with a [`SectorHeader`]. A [`Ledger`] keeps what was written
//! where, what of it was acknowledged, and what was flushed. Together they tell a write that was
//! lost, one that is old, misplaced, torn or flipped. Reads and writes nothing itself: bytes come
//! in, findings go out.

mod check;
mod files;
mod finding;
mod header;
mod ledger;
mod state;

pub use check::{Bounds, check, check_alone};
pub use files::{FileFindings, number_of_file};
pub use finding::{Class, Expected, Findings, SectorContent, VerifyMismatch};
pub use header::{
    HEADER_BYTES, SECTOR_BYTES, Sector, SectorFault, SectorHeader, read_sector, seal,
};
pub use ledger::{
    BLOCK_WORDS, ExpectedDurability, Ledger, LedgerError, Words, WriteOutcome, new_words,
    words_needed, words_of,
};
pub use state::{STATE_MAGIC, StateError, StateHead, StateTarget};
