//! A laboratory on several hosts: rank 0 decides and adds up, the others do as it says.

mod fleet_laboratory;
mod ground;
mod leading;
#[cfg(test)]
mod load;
mod lockstep;
mod log;
mod neighbours;
mod party;
mod serving;
mod stakes;
mod step;
mod times;
mod void_hosts;
pub(crate) mod wire;

pub use fleet_laboratory::{FleetLaboratory, HostRows};
pub use ground::{Ground, Seen};
pub use lockstep::Place;
pub use party::{Host, Party, Welcome};
pub use serving::serve;
pub use stakes::{Stake, Stakes};
pub(crate) use step::take_step;
pub(crate) use wire::HostStep;
pub use wire::{from_bytes, to_bytes};
