//! What written blocks say of themselves, and what reading them back tells of a target.
//!
//! Every sector of a write begins with a [`Header`]. A [`Ledger`] keeps what was written where,
//! what of it was acknowledged, and what was flushed. Together they tell a write that was lost, one
//! that is old, misplaced, torn or flipped. Reads and writes nothing itself: bytes come in,
//! findings go out.

mod check;
mod files;
mod finding;
mod header;
mod ledger;
mod state;

pub use check::{Bounds, check, check_alone};
pub use files::{FileFindings, number_of_file};
pub use finding::{Class, Expected, Finding, Findings, Found};
pub use header::{HEADER_BYTES, Header, SECTOR_BYTES, Sector, SectorFault, read_sector, seal};
pub use ledger::{
    BLOCK_WORDS, Ledger, LedgerError, Outcome, Trust, Words, new_words, words_needed, words_of,
};
pub use state::{STATE_MAGIC, StateError, StateHead, StateTarget};
