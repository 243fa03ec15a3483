//! Virtual clients: what they ask of storage and when.
//!
//! A client's stream of operations depends on the seed and its number only: not on the driver, the
//! number of workers, or timing.

mod address;
mod client;
mod control;
mod files;
mod group;
mod mix;
mod op;

pub use address::{AddressError, AddressSpec, Addresses, Partition, Pattern, Region, Start};
pub use client::{Agenda, Client, Event};
pub use control::{ControlSpec, ControlThread, Placement, ThreadType};
pub use files::{FilesClient, FilesPhase, FilesSpec};
pub use group::{AnyClient, ClientSpec};
pub use mix::{Gap, GapShape, Mix, MixClient, MixSpec, Pacing, Size};
pub use op::{ClientId, Completion, Durability, Errno, Op, OpKind, Request, TargetId};
