//! A link between two network namespaces with known delay, rate, queue and loss.
//!
//! The kernel's own tool (netem) is a module that a machine may lack. Here a loop joins two
//! Ethernet interfaces and delays each packet as the link would. It is meant for links up to about
//! 1 Gbit/s, and for correct windows and round trips rather than speed.

mod ends;
mod lane;
mod relay;

pub use ends::{Ends, LinkEnd, WireError, check_ends};
pub use lane::{Lane, LaneSettings, LaneTally, PacketOutcome};
pub use relay::relay;
