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
mod step;
mod times;
mod wire;

pub use fleet_laboratory::FleetLaboratory;
pub(crate) use ground::{Ground, Seen};
pub use lockstep::Place;
pub use party::{Host, Party, Welcome};
pub(crate) use serving::serve;
pub(crate) use step::take_step;
pub(crate) use wire::HostStep;
