//! Many hosts, one run: the program under launchers of MPI.

mod alone;
mod commands;
mod compare;
mod faults;
mod files;
mod fio;
mod hpc;
mod launch;
mod nfs;
mod ranks;
mod replay;
mod same;
mod study_faults;
mod time;
mod transfer;
mod versions;

#[path = "../support/mod.rs"]
mod support;
