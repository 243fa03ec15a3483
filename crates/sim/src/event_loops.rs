//! Engines on models, compiled here once, since this crate is optimised for measuring and crates
//! that run trials are not. Inlined, they would be compiled there after all.

use engine::{Engine, EventLoop};
use workload::AnyClient;

use crate::driver::SimDriver;
use crate::group::SimGroup;

/// The event loop of an engine on a model.
#[inline(never)]
pub fn model_loop(engine: &mut Engine<SimDriver, AnyClient>) -> &mut dyn EventLoop {
    engine
}

/// The event loop of an engine on several models.
#[inline(never)]
pub fn group_loop(engine: &mut Engine<SimGroup, AnyClient>) -> &mut dyn EventLoop {
    engine
}
