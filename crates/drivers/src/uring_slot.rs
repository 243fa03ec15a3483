//! One request on its way through the ring: its entries, what comes back, what is still missing.

use std::fs::File;
use std::os::fd::RawFd;
use std::sync::Arc;

use io_uring::{opcode, squeue, types};
use units::Instant;
use workload::{ClientId, Completion, Durability, Errno, Op, Request, TargetId};

use crate::blocking::FRUITLESS_TRIES_MAX;
use crate::payload::Payload;
use crate::table::{Handle, TargetTable};
use crate::verification::Ticket;

/// Marks the completion of a durable write's flush; the lower half is the slot's number.
pub(crate) const FLUSH_MARK: u64 = 1 << 32;
/// A request on its way.
pub(crate) struct UringSlot {
    request: Request,
    pub(crate) issued: Instant,
    memory: *mut u8,
    file: types::Fd,
    is_registered_file: bool,
    /// Which registered piece of memory `memory` lies in, if it does in one.
    piece: Option<u16>,
    /// Keeps a shared file open until its request is done.
    shared: Option<(Arc<File>, u32)>,
    moved: u32,
    /// What verification keeps of it.
    ticket: Ticket,
    /// Completions still to come.
    pub(crate) awaited: u8,
    fruitless: u8,
    pub(crate) outcome: RequestOutcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestOutcome {
    /// All parts went well so far, or the file ended.
    Good,
    /// What is missing must be sent again.
    Incomplete,
    Failed(Errno),
}

/// How data move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UringTransfer {
    Read,
    Write,
    WriteThrough,
}

impl UringSlot {
    pub(crate) fn empty() -> Self {
        let target = TargetId(0);
        let (client, due) = (ClientId(0), Instant::START);
        Self {
            request: Request::new(
                client,
                due,
                Op::Flush {
                    target,
                    data_only: false,
                },
            ),
            issued: Instant::START,
            memory: std::ptr::null_mut(),
            file: types::Fd(-1),
            is_registered_file: false,
            piece: None,
            shared: None,
            moved: 0,
            ticket: Ticket::None,
            awaited: 0,
            fruitless: 0,
            outcome: RequestOutcome::Good,
        }
    }

    pub(crate) fn new(
        request: Request,
        handle: &Handle<'_>,
        memory: *mut u8,
        (registered, piece): (u32, Option<u16>),
    ) -> Self {
        let (number, shared): (RawFd, _) = match handle {
            Handle::Target(_, place) if *place < registered => (*place as RawFd, None),
            Handle::Target(..) => (handle.raw_fd(), None),
            Handle::Shared(file, unit) => (handle.raw_fd(), Some((Arc::clone(file), *unit))),
        };
        let is_registered_file = matches!(handle, Handle::Target(_, place) if *place < registered);
        Self {
            request,
            memory,
            file: types::Fd(number),
            is_registered_file,
            piece,
            shared,
            ..Self::empty()
        }
    }

    /// The same with what verification keeps.
    pub(crate) fn with(mut self, ticket: Ticket) -> Self {
        self.ticket = ticket;
        self
    }

    /// The entry for what is left of the request, and the one linked behind it.
    pub(crate) fn entries(&self, index: u32) -> (squeue::Entry, Option<squeue::Entry>) {
        let mark = u64::from(index);
        match self.request.op {
            Op::Read { offset, len, .. } => (
                self.transfer(offset, len, UringTransfer::Read)
                    .user_data(mark),
                None,
            ),
            Op::Write {
                offset,
                len,
                durability,
                ..
            } => {
                let way = match durability {
                    Durability::Through => UringTransfer::WriteThrough,
                    _ => UringTransfer::Write,
                };
                let write = self.transfer(offset, len, way).user_data(mark);
                let flush = match durability {
                    Durability::Volatile | Durability::Through => return (write, None),
                    Durability::Synced => types::FsyncFlags::empty(),
                    Durability::DataSynced => types::FsyncFlags::DATASYNC,
                };
                let flush = opcode::Fsync::new(self.file).flags(flush).build();
                let flush = self.on_file(flush).user_data(mark | FLUSH_MARK);
                (self.with_flags(write, squeue::Flags::IO_LINK), Some(flush))
            }
            Op::Flush { data_only, .. } => {
                let flags = match data_only {
                    true => types::FsyncFlags::DATASYNC,
                    false => types::FsyncFlags::empty(),
                };
                let flush = opcode::Fsync::new(self.file).flags(flags).build();
                (self.on_file(flush).user_data(mark), None)
            }
            Op::WriteOut {
                offset, span, how, ..
            } => {
                let out = opcode::SyncFileRange::new(self.file, span)
                    .offset(offset)
                    .flags(how.flags())
                    .build();
                (self.on_file(out).user_data(mark), None)
            }
            Op::Trim { .. }
            | Op::Create { .. }
            | Op::Open { .. }
            | Op::Close { .. }
            | Op::Remove { .. }
            | Op::Stat { .. } => unreachable!("files are changed in place"),
            Op::Compute { .. } => unreachable!("a ring moves data"),
        }
    }

    #[inline]
    fn transfer(&self, offset: u64, len: u32, way: UringTransfer) -> squeue::Entry {
        let (fd, left) = (self.file, len - self.moved);
        let offset = offset + u64::from(self.moved);
        let memory = self.memory.wrapping_add(self.moved as usize);
        let priority = self.request.priority.0;
        let flags = match way {
            UringTransfer::Read | UringTransfer::Write => 0,
            UringTransfer::WriteThrough => libc::RWF_DSYNC,
        };
        let entry = match (way, self.piece) {
            (UringTransfer::Read, Some(piece)) => opcode::ReadFixed::new(fd, memory, left, piece)
                .offset(offset)
                .ioprio(priority)
                .build(),
            (UringTransfer::Read, None) => opcode::Read::new(fd, memory, left)
                .offset(offset)
                .ioprio(priority)
                .build(),
            (_, Some(piece)) => opcode::WriteFixed::new(fd, memory, left, piece)
                .offset(offset)
                .ioprio(priority)
                .rw_flags(flags)
                .build(),
            (_, None) => opcode::Write::new(fd, memory, left)
                .offset(offset)
                .ioprio(priority)
                .rw_flags(flags)
                .build(),
        };
        self.on_file(entry)
    }

    fn on_file(&self, entry: squeue::Entry) -> squeue::Entry {
        self.with_flags(entry, squeue::Flags::empty())
    }

    fn with_flags(&self, entry: squeue::Entry, flags: squeue::Flags) -> squeue::Entry {
        let registered = match self.is_registered_file {
            true => squeue::Flags::FIXED_FILE,
            false => squeue::Flags::empty(),
        };
        entry.flags(flags | registered)
    }

    /// Take note of a transfer's end, or of a flush's that stands alone.
    #[inline]
    pub(crate) fn note_transfer(&mut self, result: i32, targets: &TargetTable) {
        let len = self.request.op.len();
        match u32::try_from(result) {
            Ok(count) if self.moved + count == len => self.moved = len,
            Ok(count) => self.note_short(count, targets),
            Err(_) => self.note_error(result),
        }
    }

    fn note_short(&mut self, count: u32, targets: &TargetTable) {
        let request = self.request;
        let handle = match &self.shared {
            Some((file, unit)) => Ok(Handle::Shared(Arc::clone(file), *unit)),
            None => targets.handle(request.op.target()),
        };
        let (Ok(handle), Op::Read { offset, .. } | Op::Write { offset, .. }) = (handle, request.op)
        else {
            return;
        };
        let is_read = matches!(request.op, Op::Read { .. });
        match handle.resume_at(offset, self.moved, count, is_read) {
            None => self.moved += count,
            Some(next) if next > self.moved => {
                self.moved = next;
                self.outcome = RequestOutcome::Incomplete;
            }
            Some(_) => self.try_again(Errno(libc::EIO)),
        }
    }

    pub(crate) fn note_flush(&mut self, result: i32) {
        match -result {
            // The kernel breaks the link when the write was short or failed, which is known
            // already.
            libc::ECANCELED if self.outcome != RequestOutcome::Good => {}
            _ if result < 0 => self.note_error(result),
            _ => {}
        }
    }

    fn note_error(&mut self, result: i32) {
        let error = Errno(-result);
        match error.0 {
            libc::EINTR | libc::EAGAIN | libc::ECANCELED => self.try_again(error),
            _ => self.outcome = RequestOutcome::Failed(error),
        }
    }

    /// From now on a retry counts as failed.
    pub(crate) fn give_up(&mut self) {
        self.fruitless = FRUITLESS_TRIES_MAX;
    }

    fn try_again(&mut self, error: Errno) {
        self.fruitless += 1;
        self.outcome = match self.fruitless > FRUITLESS_TRIES_MAX {
            true => RequestOutcome::Failed(error),
            false => RequestOutcome::Incomplete,
        };
    }

    #[inline]
    pub(crate) fn finish(
        &mut self,
        completed: Instant,
        payload: &Payload,
        targets: &TargetTable,
    ) -> Completion {
        let Self {
            request,
            issued,
            moved,
            memory,
            ..
        } = *self;
        self.shared = None;
        let mut result = match self.outcome {
            RequestOutcome::Failed(error) => Err(error),
            RequestOutcome::Good | RequestOutcome::Incomplete => Ok(moved),
        };
        if payload.looks_at_ends() {
            // SAFETY: the kernel is done with the slot's memory, of which `moved` bytes were asked
            // for at most.
            let bytes = unsafe { std::slice::from_raw_parts(memory, moved as usize) };
            let target = targets.stamp_id(request.op.target());
            let ticket = std::mem::take(&mut self.ticket);
            result = payload.end(&request, target, ticket, (result, bytes));
        }
        Completion {
            request,
            issued,
            completed,
            result,
        }
    }
}
