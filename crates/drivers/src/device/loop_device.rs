//! What a loop device lies on, by device and inode: names go, are hidden, or belong to others.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use super::block_layer::{DeviceNumber, StorageIdentity, bytes_of};

/// `LOOP_GET_STATUS64` of `linux/loop.h`.
const GET_STATUS: u32 = 0x4c05;

/// What a loop device says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoopStatus {
    /// The file or device that it lies on.
    pub storage: StorageIdentity,
    pub bytes: Range<u64>,
}

/// `struct loop_info64` of `linux/loop.h`; what is not read here has names of no meaning.
#[repr(C)]
#[derive(Default)]
struct RawStatus {
    device: u64,
    inode: u64,
    device_of_node: u64,
    offset: u64,
    size_limit: u64,
    numbers: [u32; 4],
    names: [[u64; 8]; 2],
    key: [u64; 4],
    initial: [u64; 2],
}

const _: () = assert!(size_of::<RawStatus>() == 232, "as large as the kernel's");

/// Ask the loop device `name`.
///
/// # Errors
/// `ENXIO` when nothing is attached; others when there is no node, or it may not be opened.
pub(super) fn ask_loop(name: &str, number: DeviceNumber) -> io::Result<LoopStatus> {
    let path = format!("/dev/{name}");
    let is_it = fs::metadata(&path).map(|node| {
        node.file_type().is_block_device() && DeviceNumber::of_node(node.rdev()) == number
    });
    if !is_it? {
        return Err(io::Error::other(format!("{path} is another device")));
    }
    let file = File::open(&path)?;
    let mut raw = RawStatus::default();
    // SAFETY: `raw` has the size and layout of the structure that this request writes, and outlives
    // the call.
    let outcome = unsafe { libc::ioctl(file.as_raw_fd(), GET_STATUS as _, &raw mut raw) };
    if outcome != 0 {
        return Err(io::Error::last_os_error());
    }
    let storage = match raw.device_of_node {
        0 => StorageIdentity::File {
            file_system: decode(raw.device),
            inode: raw.inode,
        },
        node => StorageIdentity::Device(decode(node)),
    };
    Ok(LoopStatus {
        storage,
        bytes: bytes_of(raw.offset, raw.size_limit),
    })
}

/// The kernel's own layout of a device number, which is not that of the C library.
fn decode(raw: u64) -> DeviceNumber {
    DeviceNumber {
        major: (raw >> 8 & 0xfff) as u32,
        minor: (raw & 0xff | raw >> 12 & 0xfff00) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_of_the_kernel_are_read() {
        for (major, minor) in [(7, 0), (8, 17), (259, 255), (259, 256), (4095, 0xfffff)] {
            let raw = minor & 0xff | major << 8 | (minor & !0xff) << 12;
            let expected = DeviceNumber {
                major: major as u32,
                minor: minor as u32,
            };
            assert_eq!(decode(raw), expected);
        }
    }
}
