//! A laboratory on several hosts: rank 0 decides and adds up, the others do as it says.

mod ground;
mod leading;
#[cfg(test)]
mod load;
mod lockstep;
mod neighbours;
mod party;
mod serving;
mod times;
mod wire;

pub(crate) use ground::{Ground, Seen};
pub use leading::FleetLaboratory;
pub use lockstep::Place;
pub use party::{Host, Party, Welcome};
pub(crate) use serving::serve;
