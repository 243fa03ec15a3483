//! Where a recorded request goes on a target that may be smaller than the one recorded.

use trace::{TraceOp as Recorded, TraceRecord};
use workload::{Durability, Op, TargetId};

/// What becomes of requests that reach beyond the target's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondEnd {
    /// They begin again at its first byte.
    Modulo,
    /// They are left out.
    Clip,
    /// There must be none.
    Refuse,
}

/// From the trace's places to the target's.
#[derive(Clone, Debug)]
pub(super) struct Fitting {
    pub fit: BeyondEnd,
    pub target: TargetId,
    /// Bytes of the target that are used, a multiple of `unit`.
    pub size: u64,
    pub unit: u64,
    /// Where the part of each file begins.
    pub bases: Vec<u64>,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FittedRecord {
    /// It is asked for where it was recorded.
    Kept(Op),
    /// The same at another offset.
    Moved(Op),
    /// It is not asked for.
    LeftOut,
}

impl Fitting {
    pub fn place(&self, record: &TraceRecord) -> FittedRecord {
        let target = self.target;
        let len = match record.op {
            Recorded::Sync => {
                let data_only = false;
                return FittedRecord::Kept(Op::Flush { target, data_only });
            }
            Recorded::Trim => return FittedRecord::LeftOut,
            Recorded::Read | Recorded::Write => record.length,
        };
        let base = self.bases.get(record.file as usize).copied();
        let offset = base.and_then(|base| base.checked_add(record.offset));
        let end = offset.and_then(|offset| offset.checked_add(len));
        let (Some(offset), Some(end)) = (offset, end) else {
            return FittedRecord::LeftOut;
        };
        if end <= self.size {
            return FittedRecord::Kept(self.op(record.op, offset, len));
        }
        if self.fit != BeyondEnd::Modulo || len > self.size {
            return FittedRecord::LeftOut;
        }
        // One that would reach over the end ends there.
        let last = (self.size - len) / self.unit * self.unit;
        let offset = (offset % self.size).min(last);
        FittedRecord::Moved(self.op(record.op, offset, len))
    }

    const fn op(&self, op: Recorded, offset: u64, len: u64) -> Op {
        let (target, len) = (self.target, len as u32);
        match op {
            Recorded::Write => Op::Write {
                target,
                offset,
                len,
                durability: Durability::Volatile,
            },
            _ => Op::Read {
                target,
                offset,
                len,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(offset: u64, length: u64, file: u32) -> TraceRecord {
        TraceRecord {
            at: 0,
            op: Recorded::Read,
            offset,
            length,
            file,
        }
    }

    #[test]
    fn requests_beyond_the_end_go_where_they_were_asked_to() {
        let check = |fit, record, expected: Option<(u64, bool)>| {
            let fitting = Fitting {
                fit,
                target: TargetId(0),
                size: 64 << 10,
                unit: 4096,
                bases: vec![0, 32 << 10],
            };
            let found = match fitting.place(&record) {
                FittedRecord::Kept(Op::Read { offset, len, .. }) => Some((offset, len, false)),
                FittedRecord::Moved(Op::Read { offset, len, .. }) => Some((offset, len, true)),
                _ => None,
            };
            let expected = expected.map(|(offset, moved)| (offset, record.length as u32, moved));
            assert_eq!(found, expected, "{fit:?}: {record:?}");
        };
        for fit in [BeyondEnd::Modulo, BeyondEnd::Clip, BeyondEnd::Refuse] {
            check(fit, read(60 << 10, 4096, 0), Some((60 << 10, false)));
            check(fit, read(0, 4096, 1), Some((32 << 10, false)));
            check(fit, read(0, 128 << 10, 0), None);
        }
        check(BeyondEnd::Clip, read(60 << 10, 8192, 0), None);
        check(BeyondEnd::Clip, read(32 << 10, 4096, 1), None);
        check(
            BeyondEnd::Modulo,
            read(60 << 10, 8192, 0),
            Some((56 << 10, true)),
        );
        check(BeyondEnd::Modulo, read(32 << 10, 4096, 1), Some((0, true)));
        check(
            BeyondEnd::Modulo,
            read(68 << 10, 4096, 0),
            Some((4096, true)),
        );
        check(BeyondEnd::Clip, read(u64::MAX - 4096, 4096, 1), None);
    }
}
