//! Engines on storage, and on none, compiled here once: this crate is optimised for measuring, and
//! those that run trials are not. Inlined, they would be compiled there after all.

use engine::{Driver, Engine, EventLoop, NullDriver};
use sys::MonotonicClock;
use workload::AnyClient;

/// The loop of an engine on storage.
#[inline(never)]
pub fn storage_loop(engine: &mut Engine<Box<dyn Driver>, AnyClient>) -> &mut dyn EventLoop {
    engine
}

/// The loop of an engine whose driver completes at once.
#[inline(never)]
pub fn null_loop(engine: &mut Engine<NullDriver<MonotonicClock>, AnyClient>) -> &mut dyn EventLoop {
    engine
}
