//! A fleet under MPI: launcher detection, the library opened at run time, and the shim for
//! libraries without the standard ABI. Knows nothing about trials or storage.

// The library is written in C, and gets buffers.
#![allow(unsafe_code)]

mod abi;
mod launcher;
mod library;
mod mpi_fleet;
mod shim;

pub use launcher::{Launched, detect};
pub use library::{MpiError, open};
pub use mpi_fleet::MpiFleet;
pub use shim::{Built, build, cache_directory};
