//! The event loop, its recorder and its clients.

mod arrivals;
mod failures;
mod invariants;
mod late_clients;
mod stonewall;
mod units_of_work;

#[path = "../support/mod.rs"]
mod support;
