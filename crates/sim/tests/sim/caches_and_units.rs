//! Controllers with a cache, memory disks, and drives that are split into units.

use crate::support::{MS, WRITE, command, disk, finish, outstanding};
use sim::{Action, Controller, ControllerSpec, Device, Disk, MemoryDevice, MemorySpec, Split};
use units::{Duration, Instant};

const READ: Action = Action::Read;

/// Half a millisecond for an access, and a millisecond for a KiB.
fn memory() -> MemoryDevice {
    MemoryDevice::new(MemorySpec {
        size: 1 << 20,
        access: MS / 2,
        rate: 1024e3,
    })
}

fn cached(bytes: u64) -> Controller {
    let spec = ControllerSpec {
        cache: bytes,
        time: MS / 10,
        rate: Some(10.24e6),
    };
    Controller::new(spec, Box::new(memory()))
}

/// What commands take that follow each other, each a second after the one before.
fn take(device: &mut dyn Device, commands: &[(Action, u64, u64)]) -> Vec<u64> {
    let begins = (1..).map(|second| Instant(second * 1000 * MS));
    let takes = |(begin, &(action, offset, len)): (Instant, &(Action, u64, u64))| {
        let end = finish(device, begin, command(action, offset, len));
        end.since(begin).as_nanos()
    };
    begins.zip(commands).map(takes).collect()
}

#[test]
fn memory_serves_one_command_at_a_time_wherever_it_goes() {
    let commands = [
        (READ, 0, 1024),
        (WRITE, 777 << 10, 2048),
        (Action::Flush, 0, 0),
    ];
    let expected = [MS + MS / 2, 2 * MS + MS / 2, MS / 2];
    assert_eq!(take(&mut memory(), &commands), expected);
    let reads = (0..10).map(|number| command(READ, number * 1024, 1024));
    let each = Duration(MS + MS / 2);
    assert_eq!(outstanding(&mut memory(), 4, reads), Duration(10 * each.0));
}

#[test]
fn what_a_controller_holds_needs_no_storage() {
    let (miss, hit) = (MS + MS / 2, MS / 10 + MS / 10);
    let story = [
        ((READ, 0, 1024), miss),
        ((READ, 0, 1024), hit),
        // Half of it is not there: all of it is read.
        ((READ, 512, 1024), miss),
        // A write goes through, and stays.
        ((WRITE, 8192, 1024), miss),
        ((READ, 8192, 1024), hit),
        // Eight blocks fit; those used least recently went.
        ((READ, 16_384, 2048), 2 * MS + MS / 2),
        ((READ, 8192, 1024), hit),
        ((READ, 0, 1024), miss),
        ((Action::Flush, 0, 0), MS / 2),
    ];
    let found = take(&mut cached(4096), &story.map(|(command, _)| command));
    assert_eq!(found, story.map(|(_, expected)| expected));
}

#[test]
fn a_controller_answers_what_it_holds_one_after_the_other() {
    let mut cached = cached(1 << 20);
    take(&mut cached, &[(READ, 0, 10_240)]);
    let reads = (0..10).map(|number| command(READ, number * 1024, 1024));
    assert_eq!(outstanding(&mut cached, 10, reads), Duration(10 * (MS / 5)));
}

/// Platters: the same cylinders on fewer surfaces. Cylinders: so many of them on all surfaces.
#[test]
fn a_unit_is_a_smaller_disk_with_the_same_arm() {
    let whole = disk();
    let (near, flat) = (
        whole.unit(4, Split::Cylinders),
        whole.unit(4, Split::Platters),
    );
    assert_eq!(near.capacity, whole.capacity / 4);
    assert_eq!(flat.capacity, whole.capacity / 4);
    assert_eq!(near.seek_table(), whole.seek_table()[..250]);
    assert_eq!(flat.seek_table(), whole.seek_table());
    let end = |spec: sim::DiskSpec| {
        let last = spec.capacity - 512;
        take(&mut Disk::new(spec, 0), &[(READ, last, 512)])[0]
    };
    // From end to end: 999 and 249 cylinders of 10 us each, and the same wait for the last sector.
    let turns = |ns: u64| ns / (10 * MS);
    let (far, near) = (end(flat), end(near));
    assert!(far > near && turns(far - near) <= 1, "{far} {near}");
    // A unit of everything is the disk itself, whichever way it is split.
    assert_eq!(whole.unit(1, Split::Platters), whole);
    assert_eq!(
        whole.unit(1, Split::Cylinders).seek_table(),
        whole.seek_table()
    );
}
