//! Known rates, neighbours and limits on real storage. A program of its own, so that no other
//! test disturbs them. They begin in the order of their names: the longest is in `device_limits`.

mod bench;
mod device_limits;
mod fio_pace;
mod fleet_device;
mod foreign;
mod hangs;
mod known;
mod own_limits;
mod polling;
mod room;
mod rows;
mod time;
mod traps;
mod warm_up;
mod watch;

#[path = "../support/mod.rs"]
mod support;
