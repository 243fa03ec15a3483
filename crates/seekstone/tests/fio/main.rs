//! fio's job files, run here and by fio.

mod addresses;
mod amounts;
mod calls;
mod checked;
mod content;
mod directions;
mod iolog;
mod jobs;
mod kept;
mod output;
mod steady;
mod suite;
mod verify;

#[path = "../support/mod.rs"]
mod support;
