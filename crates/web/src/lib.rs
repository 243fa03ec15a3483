//! Serves pages and a live feed over HTTP, on a thread of its own.
//!
//! Knows nothing about runs: whoever starts a server says what its pages are. On a loopback address
//! only requests for that host are answered, so that no page of another site reaches it through a
//! name of its own; on any other address the path begins with a random token. Few connections are
//! held at a time, and none that is slow. Nothing is written.

mod admission;
mod connection_slots;
mod feed;
pub mod readers;
mod server;
mod unasked;

pub use feed::{EventFeed, FeedReceiver, feed};
pub use server::{ClientPatience, Pages, StartError, WebAnswer, WebServer};
