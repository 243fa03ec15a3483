//! What the page cache beneath a loop device answers: unless it was attached for direct I/O, the
//! kernel reads and writes its file through the page cache, whatever a program asks of the device.

use std::path::Path;

use super::block::{Stack, names_beneath, stack};
use super::{SystemRoots, mounts};
use crate::counters::device_activity;

/// Bytes that were moved so far above such a cache and below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// By loop devices that use the page cache.
    pub above: BytesMoved,
    /// By the devices of the file systems that hold their files; others may use these, too.
    pub below: BytesMoved,
}

/// Bytes that devices moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesMoved {
    /// Read from them.
    pub read: u64,
    /// Written to them.
    pub written: u64,
}

/// Looks at what `device` stands on. `None` without a loop device that uses the page cache, and
/// where its file lies on no device.
#[must_use]
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

/// All that these devices moved; `None` where there are none, or one does not tell.
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
