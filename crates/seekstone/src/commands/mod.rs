//! One module for each command.

pub mod clean;
pub mod compare;
mod compare_checks;
mod compare_runs;
pub mod curve;
pub mod curve_targets;
pub mod devices;
pub mod drive;
pub mod export;
pub mod files;
pub mod finish;
pub mod fio;
mod fio_disks;
mod fio_hosts;
mod fio_idleness;
mod fio_logs;
pub mod fio_run;
pub mod fleet;
pub mod fleet_launch;
pub mod generate;
pub mod hpc;
pub mod import;
pub mod import_run;
pub mod inspect;
pub mod io500;
pub mod kind;
#[cfg_attr(not(feature = "web"), path = "../without/live.rs")]
pub mod live;
pub mod measures;
pub mod measuring;
pub mod names;
mod offers;
pub mod positioning;
pub mod rab;
pub mod random;
mod repeat;
pub mod replay;
pub mod run;
pub mod runs;
#[cfg_attr(not(feature = "web"), path = "../without/serve.rs")]
pub mod serve;
pub mod setup;
pub mod ssd;
pub mod study;
pub mod time;
pub mod transactions;
pub mod transfer;
pub mod trial;
mod trial_iolog;
pub mod trial_targets;
pub mod unfinished;
pub mod verify;
#[cfg_attr(not(feature = "vintage"), path = "../without/vintage.rs")]
pub mod vintage;
pub mod what_if;
mod what_if_device;
pub mod wire;
