//! The programs of 1995 to 1997, what reads their logs, and what is held against their tables.

mod diskmbps;
mod diskrand;
mod import;
mod merge;
mod rpt;
mod status;
mod together;
mod transact;
mod validate;

pub use diskmbps::diskmbps;
pub use diskrand::diskrand;
pub use import::import;
pub use merge::merge;
pub use rpt::rpt;
pub use together::together;
pub use transact::transact;
pub use validate::validate;
