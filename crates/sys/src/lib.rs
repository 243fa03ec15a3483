//! System calls that no crate wraps safely: clocks, ended processes, the page cache, extents,
//! network devices, words shared through a file, whether a thread slept, limits. Knows nothing
//! about targets, drivers or measurements.

// The kernel writes into memory that these calls hand it; `drivers` is the only other crate that
// may use it.
#![allow(unsafe_code)]

mod child;
mod clock;
mod counter;
mod extents;
mod limit;
mod network;
mod page_cache;
mod shared_words;
mod switches;

pub use child::{Reads, Reaped, reap};
pub use clock::{MonotonicClock, clocks_disagree, linger, pause, timespec, want_punctual_timers};
pub use extents::count_extents;
pub use limit::{Limited, limits_of};
pub use network::{limit_window, open_tap, round_trip};
pub use page_cache::{drop_cached, expect_random_reads, expect_sequential_reads, resident_share};
pub use shared_words::SharedWords;
pub use switches::voluntary_switches;
