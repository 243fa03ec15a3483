//! What is drawn of a run, on pages, in files and on screens alike.

pub(crate) mod intervals;
pub(crate) mod load;
pub(crate) mod nines;
pub(crate) mod of_tables;
pub(crate) mod over_time;
