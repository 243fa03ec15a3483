//! A machine driven manually, one operation after the other.

use engine::{Clock as _, Driver as _};
use random::{Purpose, Stream};
use results::{Setup, TransactionLoad};
use sim::{SimDriver, SimSpec};
use units::{Bytes, Duration, Instant};
use workload::{ClientId, Durability, Op, Request, TargetId};

use super::ValidationError;
use host::interrupt::Interrupt;
use kinds::transactions::{
    Ramp, TransactionsRequest, UserLoad, UsersQuestion, measure_transactions,
};
use lab::bench::{BenchRequest, default_settings};
use lab::cells::Cells;

/// Seed of all random draws of an experiment.
pub(super) const SEED: u64 = 1;

pub(super) struct SteppedMachine {
    driver: SimDriver,
    pub(super) bytes: u64,
}

impl SteppedMachine {
    /// An idle machine.
    pub(super) fn on(text: &str) -> Result<Self, ValidationError> {
        let spec = SimSpec::parse(text)?;
        Ok(Self {
            bytes: spec.size.0,
            driver: spec.driver(SEED, 1, Instant::START),
        })
    }

    /// Duration of an operation on an idle machine.
    pub(super) fn carry_out(&mut self, op: Op) -> Result<Duration, ValidationError> {
        let begun = self.driver.now();
        self.driver.submit(Request::new(ClientId(0), begun, op))?;
        let mut done = Vec::with_capacity(1);
        while done.is_empty() {
            self.driver.wait(None, &mut done)?;
        }
        Ok(done[0].completed.since(begun))
    }

    pub(super) fn read(&mut self, offset: u64, len: u64) -> Result<Duration, ValidationError> {
        self.carry_out(Op::Read {
            target: TargetId(0),
            offset,
            len: len as u32,
        })
    }

    pub(super) fn write(&mut self, offset: u64, len: u64) -> Result<Duration, ValidationError> {
        self.carry_out(Op::Write {
            target: TargetId(0),
            offset,
            len: len as u32,
            durability: Durability::Volatile,
        })
    }

    /// The share of `count` random 4 KiB reads that take at most `hit`.
    pub(super) fn share_within(
        &mut self,
        hit: Duration,
        count: u64,
        places: &mut Stream,
    ) -> Result<f64, ValidationError> {
        let mut hits = 0;
        for _ in 0..count {
            let offset = places.below(self.bytes / 4096) * 4096;
            hits += u64::from(self.read(offset, 4096)? <= hit);
        }
        Ok(hits as f64 / count as f64)
    }

    /// KiB per second of sequential operations, without the first.
    pub(super) fn in_order(
        &mut self,
        total: u64,
        len: u64,
        direction: DataDirection,
    ) -> Result<f64, ValidationError> {
        let mut spent = Duration::ZERO;
        for number in 0..total / len {
            let took = match direction {
                DataDirection::Reading => self.read(number * len, len)?,
                DataDirection::Writing => self.write(number * len, len)?,
            };
            if number > 0 {
                spent += took;
            }
        }
        Ok((total / len - 1) as f64 * len as f64 / 1024.0 / spent.as_secs_f64())
    }
}

/// Direction of transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DataDirection {
    Reading,
    Writing,
}

/// Offsets of an experiment's reads.
pub(super) fn places() -> Stream {
    Stream::new(SEED, 0, Purpose::Address)
}

/// Loads of users on a model, one after the other; `longest` is virtual time.
pub(super) fn loads_of_users(
    (target, size): (&str, Bytes),
    loads: Vec<UserLoad>,
    (ramp, longest): (Ramp, Duration),
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<TransactionLoad>, ValidationError> {
    let request = TransactionsRequest {
        bench: BenchRequest {
            ranks: None,
            target: target.into(),
            purpose: "validation".into(),
            size: Some(size),
            reserve: None,
            overwrite: false,
            confirmed: None,
            storage: default_settings(seed),
            setup: Setup::new("transactions", seed),
            cells: Cells::default(),
        },
        question: UsersQuestion::Loads(loads),
        ramp,
        depth: None,
        budget: longest,
        warm_up: None,
        start_at: None,
        sample_every: None,
    };
    let measured = measure_transactions(&request, interrupt, &mut |_| {})?;
    Ok(measured.found.loads)
}
