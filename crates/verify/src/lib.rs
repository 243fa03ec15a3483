//! Verification: self-describing blocks, and findings from reading them back.
//!
//! Every sector of a write begins with a [`SectorHeader`]. A [`Ledger`] records which writes went
//! where, and which were acknowledged and flushed. Together they detect writes that are lost,
//! stale, misplaced, torn or flipped. Reads and writes nothing itself: bytes come in, findings go
//! out.

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
