//! Drivers that watch, a clock that steps, and clients dealt to several engines.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::cell::Cell;
use std::collections::BTreeMap;

use engine::{
    Clock, Driver, DriverError, Engine, EngineOptions, EngineState, KindSet, NullDriver, Record,
};
use sim::SimSpec;
use stats::Slot;
use units::{Duration, Instant};
use workload::{
    AddressSpec, AnyClient, ClientId, ClientSpec, Completion, Durability, Gap, GapShape, Mix,
    MixSpec, Op, OpKind, OperationSize, Pacing, Partition, Pattern, Region, Request, TargetId,
    WalkStart,
};

/// A driver that keeps a copy of everything that passes through it.
pub struct Watched<D> {
    inner: D,
    pub submitted: Vec<Request>,
    pub completed: Vec<Completion>,
    pub outstanding_max: usize,
}

impl<D: Driver> Watched<D> {
    pub fn new(inner: D) -> Self {
        Self {
            inner,
            submitted: Vec::new(),
            completed: Vec::new(),
            outstanding_max: 0,
        }
    }

    /// The operations that each client was seen to issue, in order.
    pub fn streams(&self) -> BTreeMap<ClientId, Vec<Op>> {
        let mut streams: BTreeMap<ClientId, Vec<Op>> = BTreeMap::new();
        for request in &self.submitted {
            streams.entry(request.client).or_default().push(request.op);
        }
        streams
    }

    /// When the operations of each client were due, in order.
    pub fn schedules(&self) -> BTreeMap<ClientId, Vec<Instant>> {
        let mut schedules: BTreeMap<ClientId, Vec<Instant>> = BTreeMap::new();
        for request in &self.submitted {
            schedules
                .entry(request.client)
                .or_default()
                .push(request.due);
        }
        schedules
    }
}

impl<D: Driver> Clock for Watched<D> {
    fn now(&self) -> Instant {
        self.inner.now()
    }
}

impl<D: Driver> Driver for Watched<D> {
    fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    fn submit(&mut self, request: Request) -> Result<(), DriverError> {
        self.submitted.push(request);
        let outstanding = self.submitted.len() - self.completed.len();
        self.outstanding_max = self.outstanding_max.max(outstanding);
        self.inner.submit(request)
    }

    fn wait(
        &mut self,
        deadline: Option<Instant>,
        done: &mut Vec<Completion>,
    ) -> Result<(), DriverError> {
        let before = done.len();
        self.inner.wait(deadline, done)?;
        self.completed.extend_from_slice(&done[before..]);
        Ok(())
    }
}

/// A clock that goes on by a microsecond whenever it is read, so that waiting ends without time.
#[derive(Debug, Default)]
pub struct SteppingClock(Cell<u64>);

impl Clock for SteppingClock {
    fn now(&self) -> Instant {
        let now = self.0.get() + 1_000;
        self.0.set(now);
        Instant(now)
    }
}

/// A simulated device, or the null driver for the name "null".
pub fn driver(device: &str, seed: u64, capacity: usize) -> Box<dyn Driver> {
    if device == "null" {
        return Box::new(NullDriver::new(SteppingClock::default(), capacity));
    }
    let spec = SimSpec::parse(device).expect("a valid simulated device");
    Box::new(spec.driver(seed, capacity, Instant::START))
}

/// Reads, writes and flushes of two sizes along a random walk.
pub fn mixed(pacing: Pacing, operations: Option<u64>) -> ClientSpec {
    let region = Region {
        target: TargetId(0),
        offset: 4096,
        len: 1 << 32,
        block: 4096,
    };
    ClientSpec::Mix(MixSpec {
        addresses: AddressSpec {
            region,
            partition: Partition::Interleaved,
            pattern: Pattern::Hyperbolic { alpha: 0.5 },
            start: WalkStart::Random,
        },
        mix: Mix {
            read: 6,
            write: 3,
            flush: 1,
        },
        sizes: vec![
            OperationSize {
                len: 4096,
                weight: 3,
            },
            OperationSize {
                len: 65_536,
                weight: 1,
            },
        ],
        durability: Durability::Volatile,
        pacing,
        operations,
        spread: None,
    })
}

pub fn open(shape: GapShape, rate: f64) -> Pacing {
    Pacing::Open {
        gap: Gap {
            shape,
            mean_ns: 1e9 / rate,
        },
    }
}

pub fn closed(think: Duration) -> Pacing {
    let shape = if think == Duration::ZERO {
        GapShape::Constant
    } else {
        GapShape::Exponential
    };
    Pacing::Closed {
        think: Gap::new(shape, think),
    }
}

/// Clients to be dealt among engines, and what they run on.
#[derive(Clone, Debug)]
pub struct Setting {
    pub device: &'static str,
    pub spec: ClientSpec,
    pub clients: u32,
    pub engines: u32,
    pub capacity: usize,
    pub seed: u64,
    pub end: Duration,
}

/// What one engine did.
pub struct Done {
    pub state: EngineState,
    pub record: Record,
    pub slots: Vec<Slot>,
    pub driver: Watched<Box<dyn Driver>>,
}

pub const SLOT: Duration = Duration::from_millis(1);

impl Setting {
    /// Run every engine to its end, one after the other.
    pub fn run(&self) -> Vec<Done> {
        (0..self.engines)
            .map(|number| self.run_engine(number))
            .collect()
    }

    fn run_engine(&self, number: u32) -> Done {
        let clients: Vec<AnyClient> = (number..self.clients)
            .step_by(self.engines as usize)
            .map(|id| {
                self.spec
                    .client(self.seed, id, self.clients)
                    .expect("blocks for everybody")
            })
            .collect();
        let driver = driver(self.device, self.seed + u64::from(number), self.capacity);
        let options = EngineOptions {
            start: Instant::START,
            slot_width: SLOT,
            counted: KindSet::of(&OpKind::ALL),
            first_client: number,
            stride: self.engines,
        };
        let mut engine = Engine::new(Watched::new(driver), clients, options);
        let end = Instant::START + self.end;
        let state = engine
            .run_until(end)
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let closed = end.max(engine.now()) + SLOT;
        engine.recorder_mut().close_until(closed);
        let slots = engine.recorder_mut().take_slots();
        let (record, driver) = engine.into_parts();
        Done {
            state,
            record,
            slots,
            driver,
        }
    }
}
