//! How many requests may be outstanding where nobody said.

use drivers::{DriverKind, UringSupport, probe};
use units::Bytes;

/// Clients up to this number have a request each, whatever the block size ...
const CLOSED_MIN: u32 = 1024;
/// ... and more of them do while the buffers of all take no more memory than this.
const CLOSED_BYTES: u64 = 256 << 20;
/// Open arrivals need room for those that come while others are under way: at least this much ...
const OPEN_MIN: u32 = 256;
/// ... and for those that come in this time, seconds, which only a storage in trouble takes ...
const OPEN_SECONDS: f64 = 0.1;
/// ... as far as their buffers take no more memory than this.
const OPEN_BYTES: u64 = 256 << 20;
/// The most requests that users have outstanding; more users wait their turn.
pub const DEPTH_MAX: u32 = 4096;

/// How many requests of `block` so many clients may have outstanding: one each, as far as memory,
/// or threads, allow.
pub fn closed_depth(driver: DriverKind, clients: u32, block: Bytes) -> u32 {
    let most = match has_threads(driver) {
        true => CLOSED_MIN,
        false => buffers(CLOSED_BYTES, block).max(CLOSED_MIN),
    };
    clients.min(most)
}

/// How many requests of an open load may be outstanding, at least `least`: more than a storage that
/// carries it ever has, so that the queue is the storage's and not ours. Each costs a buffer of
/// `block`, or a thread. `rate` is in arrivals per second.
pub fn open_depth(driver: DriverKind, least: u32, rate: f64, block: Bytes) -> u32 {
    let least = least.max(OPEN_MIN);
    if has_threads(driver) {
        return least;
    }
    let most = buffers(OPEN_BYTES, block).into();
    least.max((rate * OPEN_SECONDS).min(most) as u32)
}

/// Whether each request outstanding costs a thread.
fn has_threads(driver: DriverKind) -> bool {
    match driver {
        DriverKind::Threads => true,
        DriverKind::Auto | DriverKind::Uring => probe() != UringSupport::Usable,
    }
}

/// Buffers of `block` in so many bytes, as many as a driver takes.
fn buffers(bytes: u64, block: Bytes) -> u32 {
    let count = bytes / block.as_u64().max(4096);
    count.min(drivers::DEPTH_MAX as u64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_a_request_each_while_memory_is_enough() {
        let check = |driver, clients, block, expected| {
            assert_eq!(closed_depth(driver, clients, block), expected);
        };
        check(DriverKind::Threads, 5_000, Bytes(4096), 1024);
        check(DriverKind::Threads, 7, Bytes(4096), 7);
        if !has_threads(DriverKind::Auto) {
            check(DriverKind::Auto, 5_000, Bytes(4096), 5_000);
            check(DriverKind::Auto, 100_000, Bytes(4096), 16_384);
            check(DriverKind::Uring, 5_000, Bytes(1 << 20), 1024);
        }
    }
}
