//! The programs, formats and figures of the documents of 1984 to 1999.

mod classic;
mod classic_data;
mod classic_names;
mod classic_places;
mod diskmbps;
mod diskrand;
mod diskrand_refused;
mod documents_rows;
mod rab;
mod rab_files;
mod rab_modes;
mod rab_refused;
mod rab_stay;
mod terminal;
mod together;
mod validate;

#[path = "../support/mod.rs"]
mod support;
