//! Who owns a file: the one place that decides what may be written, cut or removed.
//!
//! `docs/safety.md` has the table of what is done to files and by which proof. [`seal`] proves by
//! content that a file is ours, [`identity`] that a name still stands for a file that this process
//! made, [`beneath`] opens nothing outside of a directory, [`removal`] removes nothing else,
//! [`new_file`] lets files come into being whole without going over others, [`regular_file`]
//! reads what a user named without waiting for anybody, [`kept`] marks what a run leaves to its
//! user on purpose, and [`strangers`] knows what others may have put in our way.

pub(crate) mod beneath;
pub(crate) mod identity;
pub(crate) mod kept;
pub(crate) mod new_file;
pub(crate) mod regular_file;
pub(crate) mod removal;
pub(crate) mod seal;
pub(crate) mod strangers;
