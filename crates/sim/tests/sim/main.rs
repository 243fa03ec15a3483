//! Queues and models of hardware against known answers.

mod arrays;
mod burst;
mod caches_and_units;
mod conformance;
mod definitions;
mod disks;
mod faults;
mod file_systems;
mod group;
mod hosts_and_links;
mod jobs;
mod machine_faults;
mod modern;
mod other_devices;
mod queues;
mod rt11;
mod slower_than_trials;
mod transport;
mod users;

#[path = "../../../procedure/tests/support/mod.rs"]
mod procedures;

#[path = "../../../drivers/tests/conformance_suite/mod.rs"]
mod conformance_suite;

#[path = "../support/mod.rs"]
mod support;
