//! The full-screen display: draws the state of a run, and forwards keys.
//!
//! The windows and keys are those of the RPT manual of 1995; the curve, the precision, the warnings
//! and the help are additions. The display knows nothing about measuring: [`Screen`] takes a
//! [`results::live::Live`] and gives back [`results::live::LiveCommand`]s, and [`draw`] is a pure
//! function of what it shows.

mod compact;
mod curve;
mod draw;
mod help;
mod keys;
mod layout;
mod number;
mod pen;
mod precision;
mod screen;
mod status;
mod summary;
mod terminal;
mod verbose;
mod view;
mod warnings;

pub use draw::draw;
pub use screen::Screen;
pub use view::{Charset, Look, Palette, ViewState};
