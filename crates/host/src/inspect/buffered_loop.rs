//! Page-cache hits below a loop device: unless it is attached with direct I/O, the kernel reads and
//! writes its backing file through the page cache, whatever a program requests from the device.

use std::path::Path;

use super::block::{Stack, names_beneath, stack};
use super::{SystemRoots, mounts};
use crate::counters::device_activity;

/// Bytes moved so far above such a cache and below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// By loop devices that use the page cache.
    pub above: BytesMoved,
    /// By the devices below their backing files, which other processes may also use.
    pub below: BytesMoved,
}

/// Bytes moved by devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesMoved {
    /// Read from them.
    pub read: u64,
    /// Written to them.
    pub written: u64,
}

/// Reads the counters of the stack below `device`. `None` without a loop device that uses the page
/// cache, and if its file is not on a device.
pub fn buffered_loops(facts: &SystemRoots, device: &str) -> Option<Layers> {
    let mounts = mounts::read(facts);
    let Stack { devices, .. } = stack(facts, &mounts, &[device.to_owned()]);
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for device in devices.iter().filter(|it| it.backing_direct != Some(true)) {
        let Some(file) = &device.backing_file else {
            continue;
        };
        let mount = mounts::holding(&mounts, None, Path::new(file))?;
        above.push(device.name.clone());
        below.extend(names_beneath(facts, mount));
    }
    below.sort_unstable();
    below.dedup();
    Some(Layers {
        above: moved(facts, &above)?,
        below: moved(facts, &below)?,
    })
}

/// Total moved by these devices; `None` if there are none, or one has no counters.
fn moved(facts: &SystemRoots, names: &[String]) -> Option<BytesMoved> {
    let mut all: Option<BytesMoved> = None;
    for name in names {
        let activity = device_activity(facts, name)?;
        let sum = all.get_or_insert_default();
        sum.read += activity.read_bytes;
        sum.written += activity.written_bytes;
    }
    all
}
