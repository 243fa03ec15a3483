//! One user: thinks, performs a transaction, reports it, and thinks again.

use std::sync::Arc;

use random::{GapProcess, Purpose, Stream, standard_exponential};
use units::{Duration, Instant};

use crate::address::AddressError;
use crate::client::{Agenda, Client, Event, UnitOfWork};
use crate::op::{Completion, Durability, Op, TargetId};
use crate::users::{LoadFactor, Records, UserProfile, UsersSpec};

/// Seed of records that are the same in every run.
const SAME_RECORDS: u64 = 0;

/// One user of a [`UsersSpec`], with at most one operation outstanding.
#[derive(Clone, Debug)]
pub struct UserClient {
    profiles: Arc<[UserProfile]>,
    kind: u32,
    target: TargetId,
    records: u64,
    address: Stream,
    choice: Stream,
    demand: Demand,
    think: Option<GapProcess>,
    think_stream: Stream,
    /// From the start of the trial until the user first starts to think.
    delay: Duration,
    transactions_left: u64,
    transaction: UserTransaction,
}

/// Work of the transactions.
#[derive(Clone, Debug)]
struct Demand {
    stream: Stream,
    /// Fractions of an I/O and of a nanosecond carried over to the next transaction, so that the
    /// means are kept.
    ios_owed: f64,
    cpu_owed: f64,
}

/// The current transaction.
#[derive(Clone, Copy, Debug, Default)]
struct UserTransaction {
    due: Instant,
    started: Option<Instant>,
    lateness: Duration,
    bytes: u64,
    ios_left: u32,
    /// CPU work before each I/O, and the remainder before the first one.
    cpu_each: u64,
    cpu_rest: u64,
    touched: u64,
    /// Whether the CPU work before the next I/O is done.
    is_computed: bool,
    /// Whether an operation failed: the transaction then never completes.
    has_failed: bool,
}

impl UserClient {
    /// User `user`, counted from zero.
    ///
    /// # Errors
    /// If the target does not hold one record.
    pub fn new(spec: &UsersSpec, seed: u64, user: u32) -> Result<Self, AddressError> {
        let kind = spec.profile_of(user);
        let profile = &spec.profiles()[kind as usize];
        let block = u64::from(profile.io_size);
        let records = spec.len / block;
        if records == 0 {
            return Err(AddressError::ShareEmpty {
                region: spec.len,
                block,
                blocks: 0,
                clients: 1,
            });
        }
        let record_seed = match profile.records {
            Records::Repeat => SAME_RECORDS,
            Records::New => seed,
        };
        let stream = |seed, purpose| Stream::new(seed, u64::from(user), purpose);
        let think = profile.think;
        Ok(Self {
            kind,
            target: spec.target,
            records,
            address: stream(record_seed, Purpose::Address),
            choice: stream(seed, Purpose::Mix),
            demand: Demand {
                stream: stream(seed, Purpose::Demand),
                ios_owed: 0.0,
                cpu_owed: 0.0,
            },
            think: GapProcess::unless_none(think.shape, think.mean_ns)?,
            think_stream: stream(seed, Purpose::Think),
            delay: spec.ramp_per_second.map_or(Duration::ZERO, |rate| {
                Duration::from_secs_f64(f64::from(user) / rate)
            }),
            transactions_left: profile.transactions.unwrap_or(u64::MAX),
            transaction: UserTransaction::default(),
            profiles: spec.shared_profiles(),
        })
    }

    fn profile(&self) -> &UserProfile {
        &self.profiles[self.kind as usize]
    }

    /// Thinks from `free` on, then starts a transaction.
    fn go_on(&mut self, mut free: Instant, agenda: &mut Agenda) {
        loop {
            if self.transactions_left == 0 {
                agenda.finish();
                return;
            }
            self.transactions_left -= 1;
            let think = self
                .think
                .as_mut()
                .map_or(0, |gaps| gaps.next_gap_ns(&mut self.think_stream));
            let due = free + Duration::from_nanos(think);
            self.transaction = self.demand.next(&self.profiles[self.kind as usize]);
            self.transaction.due = due;
            if let Some(op) = self.next_op() {
                agenda.issue(due, op);
                return;
            }
            // A load so small that it has no operations: finished as soon as it is due.
            if due > free {
                agenda.wake_at(due);
                return;
            }
            self.report(due, agenda);
            free = due;
        }
    }

    /// The next operation of the transaction, if any is left.
    fn next_op(&mut self) -> Option<Op> {
        let transaction = &mut self.transaction;
        if !transaction.is_computed {
            transaction.is_computed = true;
            let work_ns = transaction.cpu_each + std::mem::take(&mut transaction.cpu_rest);
            let touched = std::mem::take(&mut transaction.touched);
            if work_ns > 0 || touched > 0 {
                return Some(Op::Compute { work_ns, touched });
            }
        }
        if transaction.ios_left == 0 {
            return None;
        }
        transaction.ios_left -= 1;
        // No CPU work follows the last I/O.
        transaction.is_computed = transaction.ios_left == 0;
        Some(self.next_io())
    }

    fn next_io(&mut self) -> Op {
        let (len, reads, writes) = {
            let profile = self.profile();
            (profile.io_size, profile.reads, profile.writes)
        };
        let offset = self.address.below(self.records) * u64::from(len);
        let target = self.target;
        let all = u64::from(reads) + u64::from(writes);
        let is_read = match (reads, writes) {
            (_, 0) => true,
            (0, _) => false,
            _ => self.choice.below(all) < u64::from(reads),
        };
        if is_read {
            return Op::Read {
                target,
                offset,
                len,
            };
        }
        Op::Write {
            target,
            offset,
            len,
            durability: Durability::Volatile,
        }
    }

    fn note(&mut self, completion: &Completion) {
        let transaction = &mut self.transaction;
        if transaction.started.is_none() {
            transaction.started = Some(completion.issued);
            transaction.lateness = completion.lateness();
        }
        match completion.result {
            Ok(bytes) => transaction.bytes += u64::from(bytes),
            Err(_) => transaction.has_failed = true,
        }
    }

    fn report(&self, completed: Instant, agenda: &mut Agenda) {
        let transaction = &self.transaction;
        if transaction.has_failed {
            return;
        }
        agenda.unit_done(UnitOfWork {
            kind: self.kind,
            due: transaction.due,
            started: transaction.started.unwrap_or(completed),
            completed,
            lateness: transaction.lateness,
            bytes: transaction.bytes,
        });
    }
}

impl Demand {
    fn next(&mut self, profile: &UserProfile) -> UserTransaction {
        let factor = match profile.load {
            LoadFactor::Constant => 1.0,
            LoadFactor::Exponential => standard_exponential(&mut self.stream),
        };
        let whole = |mean: f64, owed: &mut f64| {
            let exact = factor * mean + *owed;
            *owed = exact - exact.floor();
            exact.floor() as u64
        };
        let ios = whole(f64::from(profile.ios), &mut self.ios_owed);
        let cpu = whole(profile.cpu_ns as f64, &mut self.cpu_owed);
        let parts = ios.max(1);
        UserTransaction {
            ios_left: u32::try_from(ios).unwrap_or(u32::MAX),
            cpu_each: cpu / parts,
            cpu_rest: cpu % parts,
            touched: profile.memory,
            ..UserTransaction::default()
        }
    }
}

impl Client for UserClient {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match event {
            Event::Started { at } => self.go_on(at + self.delay, agenda),
            Event::Due { at } => {
                self.report(at, agenda);
                self.go_on(at, agenda);
            }
            Event::Completed(completion) => {
                self.note(completion);
                let now = completion.completed;
                match self.next_op() {
                    Some(op) => agenda.issue(now, op),
                    None => {
                        self.report(now, agenda);
                        self.go_on(now, agenda);
                    }
                }
            }
        }
    }
}
