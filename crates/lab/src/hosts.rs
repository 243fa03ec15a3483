//! A laboratory on several hosts: rank 0 decides and adds up, the others do as it says.

mod ground;
mod leading;
mod party;
mod serving;
mod wire;

pub(crate) use ground::{Ground, Seen};
pub use leading::FleetLaboratory;
pub use party::{Party, Welcome};
pub(crate) use serving::serve;
