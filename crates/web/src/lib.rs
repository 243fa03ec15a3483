//! An HTTP server for pages and a live feed, on its own thread.
//!
//! Knows nothing about runs: the caller provides the pages. On a loopback address only requests for
//! that host are answered, so that no page of another site reaches it by DNS rebinding; on any
//! other address the path starts with a random token. Few connections are held at a time, and no
//! slow ones. Nothing is written.

mod admission;
mod connection_slots;
mod feed;
pub mod readers;
mod server;
mod unasked;

pub use feed::{EventFeed, FeedReceiver, feed};
pub use server::{ClientPatience, Pages, StartError, WebAnswer, WebServer};
