//! Tables of TOML files, read key by key: every mistake is recorded with its line, an unknown key
//! with the one that was probably meant, and all are reported at once.
//!
//! Knows nothing about what the keys mean.

mod fault;
mod table;
mod value;

pub use fault::{TomlFault, TomlFaults, place_at, place_in, refused_value, unknown_key};
pub use table::{KeyedTable, TomlText, parse};
pub use value::{is_name, owned, owned_table, to_integer, typed};
