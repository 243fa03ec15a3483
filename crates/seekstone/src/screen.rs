//! The full screen.

pub use tui::Screen;
