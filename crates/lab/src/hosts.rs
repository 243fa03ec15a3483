//! A laboratory on several hosts: rank 0 decides and adds up, the others follow.

mod claims;
mod common_target;
mod fleet_laboratory;
mod leading;
#[cfg(test)]
mod load_tests;
mod lockstep;
mod log;
mod neighbours;
mod ranks;
mod rounds;
mod serving;
mod step;
mod times;
#[cfg(test)]
#[path = "../../fleet/tests/support/virtual_fleet.rs"]
mod virtual_fleet;
mod void_hosts;
pub(crate) mod wire;

pub use claims::{HostClaims, TargetClaim};
pub use common_target::{CommonTarget, TargetReport};
pub use fleet_laboratory::{FleetLaboratory, HostRows};
pub use ranks::{RankMachine, Ranks, TargetSharing, Welcome};
pub use rounds::{RankPart, RankRounds, opened_on_all};
pub use serving::serve;
pub(crate) use step::take_step;
pub(crate) use wire::HostStep;
pub use wire::{from_bytes, to_bytes};
