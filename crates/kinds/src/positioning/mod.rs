//! `positioning`: files opened in a random order, and the time until the first record of each.

mod filled;
pub mod kp3;
mod rounds;
mod study;
mod tables;

pub use rounds::{PositioningRequest, Published, measure_positioning};
pub(crate) use study::KIND;
