//! What clients ask of an object store: a client of the engine that stands for all of them.
//!
//! An operation names its object by a number. Where it reads or writes, its offset is that number
//! in the upper half, and the first byte in the lower one.

use std::collections::BTreeMap;
use std::sync::Arc;

use random::{GapProcess, GapShape, Purpose, Stream};
use units::{Duration, Instant};
use workload::{
    AddressError, Agenda, Client, Completion, Durability, Event, MakeClient, Op, TargetId,
    UnitOfWork,
};

use super::sizes::{SizeLaw, drawn, weighted};

/// Numbers of objects are below this, so that they fit in an offset.
const NUMBERS: u32 = 1 << 31;
/// Bits of an offset that say which byte of an object is meant.
const BYTE_BITS: u32 = 32;
/// How often an object that nobody uses is looked for.
const TRIES: u32 = 8;
/// Of which directory or table nothing is known here.
const BUCKET: TargetId = TargetId(0);

units::words! {
    /// What is asked of an object store.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ObjectOp {
        Get = "get",
        Put = "put",
        Head = "head",
        List = "list",
        Delete = "delete",
    }
}

/// Shares of operations.
#[derive(Clone, Debug)]
pub(super) struct ObjectMix(Vec<(ObjectOp, f64)>);

impl ObjectMix {
    /// Read it.
    ///
    /// # Errors
    /// What is wrong with it.
    // not fuzzed: words with shares
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = |word: &str| {
            let mut all = ObjectOp::ALL.into_iter();
            let found = all.find(|it| it.name() == word);
            found.ok_or_else(|| format!("{word:?} is none of get, put, head, list and delete"))
        };
        let parts = weighted(text)?.into_iter();
        let parts = parts.map(|(word, share)| Ok((known(word)?, share)));
        parts.collect::<Result<_, String>>().map(Self)
    }
}

/// The number of an object, and the first byte that is meant of it.
pub(super) const fn object_of(offset: u64) -> (u32, u64) {
    (
        (offset >> BYTE_BITS) as u32,
        offset & ((1 << BYTE_BITS) - 1),
    )
}

const fn offset_of(number: u32, first: u64) -> u64 {
    (number as u64) << BYTE_BITS | first
}

/// A load, made for one replicate.
#[derive(Clone, Debug)]
pub(super) struct LoadSpec {
    pub mix: ObjectMix,
    pub sizes: SizeLaw,
    /// Sizes of the objects that are there, by their numbers.
    pub there: Arc<[u32]>,
    pub clients: u32,
    /// Operations that are due per second; without it a client goes on at once.
    pub rate: Option<f64>,
    /// Bytes that a get reads.
    pub range: Option<u64>,
}

impl LoadSpec {
    /// Sizes of the objects that a load finds.
    pub fn sizes_of(law: &SizeLaw, objects: u32, seed: u64) -> Arc<[u32]> {
        let mut stream = Stream::new(seed, 0, Purpose::Size);
        (0..objects).map(|_| law.draw(&mut stream)).collect()
    }
}

impl MakeClient for LoadSpec {
    fn client(&self, seed: u64, client: u32, _: u32) -> Result<Box<dyn Client>, AddressError> {
        let stream = |purpose| Stream::new(seed, u64::from(client), purpose);
        let gaps = self
            .rate
            .map(|it| GapProcess::per_second(GapShape::Exponential, it));
        let there = (0..).zip(self.there.iter());
        Ok(Box::new(ObjectLoad {
            gaps: gaps.transpose()?,
            next_due: Instant::START,
            live: (0..self.there.len() as u32).collect(),
            objects: there
                .map(|(number, bytes)| (number, LiveObject::new(*bytes, number as usize)))
                .collect(),
            next: self.there.len() as u32,
            arrivals: stream(Purpose::Arrival),
            kinds: stream(Purpose::Mix),
            lengths: stream(Purpose::Size),
            places: stream(Purpose::Address),
            under_way: BTreeMap::new(),
            spec: self.clone(),
        }))
    }
}

/// An object that is in the store.
#[derive(Clone, Copy, Debug)]
struct LiveObject {
    bytes: u32,
    /// Its place among those alive.
    at: usize,
    /// Operations that use it.
    users: u32,
}

impl LiveObject {
    const fn new(bytes: u32, at: usize) -> Self {
        Self {
            bytes,
            at,
            users: 0,
        }
    }
}

/// All clients of an object store.
struct ObjectLoad {
    spec: LoadSpec,
    gaps: Option<GapProcess>,
    /// When the next operation of a schedule is due.
    next_due: Instant,
    /// Numbers of objects, in no order.
    live: Vec<u32>,
    objects: BTreeMap<u32, LiveObject>,
    /// The number of the next new object.
    next: u32,
    arrivals: Stream,
    kinds: Stream,
    lengths: Stream,
    places: Stream,
    /// Sizes of new objects that are being put.
    under_way: BTreeMap<u32, u32>,
}

impl Client for ObjectLoad {
    fn on_event(&mut self, event: Event<'_>, agenda: &mut Agenda) {
        match event {
            Event::Started { at } if self.gaps.is_none() => {
                for _ in 0..self.spec.clients {
                    self.begin(at, agenda);
                }
            }
            Event::Started { at } => {
                self.next_due = at + self.gap();
                agenda.wake_at(self.next_due);
            }
            Event::Due { at } => {
                while self.next_due <= at {
                    self.begin(self.next_due, agenda);
                    let gap = self.gap();
                    self.next_due += gap;
                }
                agenda.wake_at(self.next_due);
            }
            Event::Completed(done) => {
                self.finish(done, agenda);
                if self.gaps.is_none() {
                    self.begin(done.completed, agenda);
                }
            }
        }
    }
}

impl ObjectLoad {
    fn gap(&mut self) -> Duration {
        let gap = self
            .gaps
            .as_mut()
            .map(|it| it.next_gap_ns(&mut self.arrivals));
        Duration::from_nanos(gap.unwrap_or(0))
    }

    fn begin(&mut self, due: Instant, agenda: &mut Agenda) {
        let op = match *drawn(&self.spec.mix.0, &mut self.kinds) {
            ObjectOp::Get => self.get(),
            ObjectOp::Head => self.head(),
            ObjectOp::Delete => self.delete(),
            ObjectOp::List => Some(Op::Flush {
                target: BUCKET,
                data_only: false,
            }),
            ObjectOp::Put => None,
        };
        let op = op.unwrap_or_else(|| self.put());
        agenda.issue(due, op);
    }

    fn get(&mut self) -> Option<Op> {
        let number = self.chosen()?;
        let bytes = u64::from(self.used(number)?);
        let len = self.spec.range.map_or(bytes, |range| range.min(bytes));
        let first = match bytes - len {
            0 => 0,
            left => self.places.below(left + 1),
        };
        Some(Op::Read {
            target: BUCKET,
            offset: offset_of(number, first),
            len: len as u32,
        })
    }

    fn head(&mut self) -> Option<Op> {
        let number = self.chosen()?;
        self.used(number)?;
        Some(Op::Open {
            target: TargetId(number),
        })
    }

    /// An object that nobody uses is gone from now on.
    fn delete(&mut self) -> Option<Op> {
        let number = self.idle()?;
        let object = self.objects.remove(&number)?;
        self.live.swap_remove(object.at);
        if let Some(moved) = self.live.get(object.at) {
            self.objects.get_mut(moved)?.at = object.at;
        }
        Some(Op::Remove {
            target: TargetId(number),
        })
    }

    /// A new object, or one that is there, where there are enough.
    fn put(&mut self) -> Op {
        let enough = 2 * self.spec.there.len().max(1);
        let is_new = self.live.len() + self.under_way.len() < enough && self.next < NUMBERS;
        let over = if is_new { None } else { self.idle() };
        let (number, len) = match over {
            Some(number) => (number, self.used(number).unwrap_or(1)),
            None => {
                let number = self.next;
                let len = self.spec.sizes.draw(&mut self.lengths);
                self.next += 1;
                self.under_way.insert(number, len);
                (number, len)
            }
        };
        Op::Write {
            target: BUCKET,
            offset: offset_of(number, 0),
            len,
            durability: Durability::Volatile,
        }
    }

    /// Any object that is there.
    fn chosen(&mut self) -> Option<u32> {
        let count = self.live.len() as u64;
        (count > 0).then(|| self.live[self.places.below(count) as usize])
    }

    /// One that nobody uses.
    fn idle(&mut self) -> Option<u32> {
        for _ in 0..TRIES {
            let number = self.chosen()?;
            if self.objects.get(&number)?.users == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Its size; it is in use from now on.
    fn used(&mut self, number: u32) -> Option<u32> {
        let object = self.objects.get_mut(&number)?;
        object.users += 1;
        Some(object.bytes)
    }

    fn finish(&mut self, done: &Completion, agenda: &mut Agenda) {
        let (op, number) = match done.request.op {
            Op::Read { offset, .. } => (ObjectOp::Get, Some(object_of(offset).0)),
            Op::Write { offset, .. } => (ObjectOp::Put, Some(object_of(offset).0)),
            Op::Open { target } => (ObjectOp::Head, Some(target.0)),
            Op::Remove { .. } => (ObjectOp::Delete, None),
            _ => (ObjectOp::List, None),
        };
        let made = number.and_then(|it| Some((it, self.under_way.remove(&it)?)));
        match made {
            Some((number, bytes)) if done.result.is_ok() => {
                let object = LiveObject::new(bytes, self.live.len());
                self.live.push(number);
                self.objects.insert(number, object);
            }
            Some(_) => {}
            None => {
                let object = number.and_then(|it| self.objects.get_mut(&it));
                if let Some(object) = object {
                    object.users -= 1;
                }
            }
        }
        if let Ok(bytes) = done.result {
            agenda.unit_done(UnitOfWork {
                kind: op as u32,
                due: done.request.due,
                started: done.issued,
                completed: done.completed,
                lateness: done.lateness(),
                bytes: bytes.into(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_read_and_mistakes_are_named() {
        let mix = ObjectMix::parse("get/45:put:delete/10%").expect("a mix");
        assert_eq!(mix.0[1], (ObjectOp::Put, 1.0));
        let why = ObjectMix::parse("read/1")
            .map(drop)
            .expect_err("no such operation");
        assert!(why.contains("\"read\" is none of get"), "{why}");
    }

    /// A get or a head of an object that is being deleted would fail, and the store be blamed.
    #[test]
    fn nothing_is_asked_of_an_object_that_is_gone_or_not_there_yet() {
        let sizes = SizeLaw::parse("1-100").expect("sizes");
        let spec = LoadSpec {
            mix: ObjectMix::parse("get:head:put:delete/2:list").expect("a mix"),
            there: LoadSpec::sizes_of(&sizes, 5, 7),
            sizes,
            clients: 16,
            rate: None,
            range: Some(10),
        };
        let mut there: BTreeMap<u32, u64> = (0..)
            .zip(spec.there.iter().map(|it| u64::from(*it)))
            .collect();
        let mut client = spec.client(7, 0, 1).expect("a client");
        let mut agenda = Agenda::default();
        client.on_event(Event::Started { at: Instant::START }, &mut agenda);
        let mut order = Stream::new(7, 1, Purpose::Order);
        let mut waiting = Vec::new();
        for _ in 0..5000 {
            for wanted in std::mem::take(&mut agenda.issues) {
                match wanted.op {
                    Op::Read { offset, len, .. } => {
                        let (number, first) = object_of(offset);
                        assert!(first + u64::from(len) <= there[&number], "{wanted:?}");
                    }
                    Op::Open { target } => assert!(there.contains_key(&target.0)),
                    Op::Remove { target } => {
                        there.remove(&target.0).expect("an object that is there");
                    }
                    _ => {}
                }
                waiting.push(wanted);
            }
            assert_eq!(waiting.len(), 16, "each client has one request");
            let wanted = waiting.swap_remove(order.below(16) as usize);
            if let Op::Write { offset, len, .. } = wanted.op {
                there.insert(object_of(offset).0, len.into());
            }
            let mut request = workload::Request::new(workload::ClientId(0), wanted.due, wanted.op);
            request.ready = wanted.due;
            client.on_event(
                Event::Completed(&Completion {
                    request,
                    issued: wanted.due,
                    completed: wanted.due,
                    result: Ok(wanted.op.len()),
                }),
                &mut agenda,
            );
        }
        assert!(there.len() <= 10, "twice as many as at the start");
    }
}
