//! A link between two network namespaces with a delay, a rate, a queue and losses that are known.
//!
//! The kernel's own means (netem) are a module that a machine may not have. Here two Ethernet
//! interfaces are joined by a loop that holds each packet back as long as the link would. It is
//! made for links up to about 1 Gbit/s, and for truth about windows and round trips, not for speed.

mod ends;
mod lane;
mod relay;

pub use ends::{Ends, LinkEnd, WireError, check_ends};
pub use lane::{Lane, LaneSettings, LaneTally, PacketOutcome};
pub use relay::relay;
