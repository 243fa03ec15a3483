//! Who owns a file: the one place that decides what may be written, cut or removed.
//!
//! `docs/safety.md` has the table of what is done to files and by which proof. [`seal`] proves by
//! content that a file is ours, [`identity`] that a name still stands for a file that this process
//! made, [`beneath`] opens nothing outside of a directory, and [`removal`] removes nothing else.

pub(crate) mod beneath;
pub(crate) mod identity;
pub(crate) mod removal;
pub(crate) mod seal;
