//! Carrying out one operation by blocking system calls, in place.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::AsRawFd;

use rustix::fs::FallocateFlags;
use rustix::io::ReadWriteFlags;
use workload::{Durability, Errno, Op, Request, TargetId, WriteOut};

use crate::payload::Payload;
use crate::table::{Handle, TargetTable, last_errno};

/// How often a transfer that gets nowhere is tried again before it counts as failed.
pub(crate) const FRUITLESS_TRIES_MAX: u8 = 100;

/// Why work of a processor never comes here.
const NOT_STORAGE: &str = "work of a processor goes to the threads that compute";

/// Memory for one transfer that nobody else uses meanwhile.
pub(crate) struct TransferMemory {
    pub(crate) start: *mut u8,
    pub(crate) len: usize,
}

impl TransferMemory {
    /// The first `len` bytes.
    fn bytes(&mut self, len: u32) -> &mut [u8] {
        assert!(
            len as usize <= self.len,
            "{len} bytes do not fit a buffer of {}",
            self.len
        );
        // SAFETY: whoever made this value promised `len` bytes at `start` for its own use only, and
        // all memory of a pool is initialised.
        unsafe { std::slice::from_raw_parts_mut(self.start, len as usize) }
    }
}

/// Carry `request` out and wait for it.
pub(crate) fn carry_out(
    table: &TargetTable,
    request: &Request,
    memory: &mut TransferMemory,
    payload: &Payload,
) -> Result<u32, Errno> {
    let id = request.op.target();
    match request.op {
        Op::Read { .. } | Op::Write { .. } | Op::Flush { .. } | Op::WriteOut { .. } => {
            let handle = table.handle(id)?;
            let bytes = memory.bytes(request.op.memory_len());
            let target = table.stamp_id(id);
            let ticket = payload.begin(request, target, bytes);
            let result = perform(&handle, request.op, bytes);
            if !payload.looks_at_ends() {
                return result;
            }
            let moved = result.map_or(0, |moved| moved as usize);
            payload.end(request, target, ticket, (result, &bytes[..moved]))
        }
        Op::Trim { .. }
        | Op::Create { .. }
        | Op::Open { .. }
        | Op::Close { .. }
        | Op::Remove { .. }
        | Op::Stat { .. } => change_file(table, request.op),
        Op::Compute { .. } => unreachable!("{NOT_STORAGE}"),
    }
}

/// Move bytes, or flush.
fn perform(handle: &Handle<'_>, op: Op, bytes: &mut [u8]) -> Result<u32, Errno> {
    match op {
        Op::Read { offset, .. } => transfer(handle, BlockingTransfer::Read, offset, bytes),
        Op::Write {
            offset, durability, ..
        } => {
            let way = match durability {
                Durability::Through => BlockingTransfer::WriteThrough,
                _ => BlockingTransfer::Write,
            };
            let moved = transfer(handle, way, offset, bytes)?;
            match durability {
                Durability::Volatile | Durability::Through => {}
                Durability::Synced => drop(flush(handle, libc::fsync)?),
                Durability::DataSynced => drop(flush(handle, libc::fdatasync)?),
            }
            Ok(moved)
        }
        Op::Flush {
            data_only: true, ..
        } => flush(handle, libc::fdatasync),
        Op::WriteOut {
            offset, span, how, ..
        } => write_out(handle, offset, span, how),
        _ => flush(handle, libc::fsync),
    }
}

/// Create, open, close, remove or look at a file, or trim a part of it.
pub(crate) fn change_file(table: &TargetTable, op: Op) -> Result<u32, Errno> {
    let target: TargetId = op.target();
    match op {
        Op::Create { .. } => table.create(target),
        Op::Open { .. } => table.open(target),
        Op::Close { .. } => table.close(target),
        Op::Remove { .. } => table.remove(target),
        Op::Stat { .. } => table.stat(target),
        Op::Trim { offset, len, .. } => trim(&table.handle(target)?, offset, len),
        Op::Read { .. } | Op::Write { .. } | Op::Flush { .. } | Op::WriteOut { .. } => {
            unreachable!("transfers are not file changes")
        }
        Op::Compute { .. } => unreachable!("{NOT_STORAGE}"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockingTransfer {
    Read,
    Write,
    WriteThrough,
}

/// Move all of `bytes`, or as much as there is before the end of the file.
#[inline]
fn transfer(
    handle: &Handle<'_>,
    way: BlockingTransfer,
    offset: u64,
    bytes: &mut [u8],
) -> Result<u32, Errno> {
    match call(handle.file(), way, offset, bytes) {
        Ok(count) if count as usize == bytes.len() => Ok(count),
        first => carry_on(handle, way, (offset, bytes), first),
    }
}

/// Go on after a first call that did not move all.
#[cold]
fn carry_on(
    handle: &Handle<'_>,
    way: BlockingTransfer,
    (offset, bytes): (u64, &mut [u8]),
    mut last: Result<u32, Errno>,
) -> Result<u32, Errno> {
    let mut moved = 0_u32;
    let mut fruitless = 0;
    loop {
        match last {
            Ok(count) if moved as usize + count as usize == bytes.len() => return Ok(moved + count),
            Ok(count) => {
                match handle.resume_at(offset, moved, count, way == BlockingTransfer::Read) {
                    None => return Ok(moved + count),
                    Some(next) if next <= moved => fruitless += 1,
                    Some(next) => moved = next,
                }
                if fruitless > FRUITLESS_TRIES_MAX {
                    return Err(Errno(libc::EIO));
                }
            }
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
        let rest = &mut bytes[moved as usize..];
        last = call(handle.file(), way, offset + u64::from(moved), rest);
    }
}

/// Without the C library: in a program of several threads its calls can be cancelled, which costs
/// some nanoseconds each.
#[inline]
fn call(file: &File, way: BlockingTransfer, offset: u64, bytes: &mut [u8]) -> Result<u32, Errno> {
    let count = match way {
        BlockingTransfer::Read => rustix::io::pread(file, bytes, offset),
        BlockingTransfer::Write => rustix::io::pwrite(file, bytes, offset),
        BlockingTransfer::WriteThrough => {
            let bytes = [IoSlice::new(bytes)];
            rustix::io::pwritev2(file, &bytes, offset, ReadWriteFlags::DSYNC)
        }
    };
    // A count never exceeds the length, which fits 32 bits.
    count
        .map(|count| count as u32)
        .map_err(|error| Errno(error.raw_os_error()))
}

/// Discard a part of a device; a part of a file is given back to its file system.
fn trim(handle: &Handle<'_>, offset: u64, len: u32) -> Result<u32, Errno> {
    let done = match handle.is_device() {
        true => discard(handle.file(), offset, len.into()),
        false => punch(handle.file(), offset, len.into()),
    };
    let errno = |error: std::io::Error| Errno(error.raw_os_error().unwrap_or(libc::EIO));
    done.map(|()| len).map_err(errno)
}

/// `BLKDISCARD` of `linux/fs.h`: `_IO(0x12, 119)`.
const DISCARD: u32 = 0x1277;

/// Tell a device that a part of it is worthless.
pub(crate) fn discard(file: &File, offset: u64, len: u64) -> std::io::Result<()> {
    let range = [offset, len];
    // SAFETY: the request reads two numbers of 64 bits, and `range` outlives the call.
    let outcome = unsafe { libc::ioctl(file.as_raw_fd(), DISCARD as _, range.as_ptr()) };
    match outcome {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Give the blocks of a part of a file back.
pub(crate) fn punch(file: &File, offset: u64, len: u64) -> std::io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(rustix::fs::fallocate(file, flags, offset, len)?)
}

fn flush(
    handle: &Handle<'_>,
    call: unsafe extern "C" fn(libc::c_int) -> libc::c_int,
) -> Result<u32, Errno> {
    loop {
        // SAFETY: `fsync` and `fdatasync` take a number only; one that is not open gives an error.
        if unsafe { call(handle.raw_fd()) } == 0 {
            return Ok(0);
        }
        match last_errno() {
            Errno(libc::EINTR) => {}
            error => return Err(error),
        }
    }
}

/// Write cached pages out, from `offset` on.
fn write_out(handle: &Handle<'_>, offset: u64, span: u32, how: WriteOut) -> Result<u32, Errno> {
    let number = handle.raw_fd();
    loop {
        // SAFETY: `sync_file_range` takes numbers only; a file that is not open gives an error.
        let ended =
            unsafe { libc::sync_file_range(number, offset as i64, span.into(), how.flags()) };
        match (ended, last_errno()) {
            (0, _) => return Ok(0),
            (_, Errno(libc::EINTR)) => {}
            (_, error) => return Err(error),
        }
    }
}
