//! A disk drive with exact positions of arm and platters.
//!
//! Sources: C. Ruemmler and J. Wilkes, "An Introduction to Disk Drive Modeling", IEEE Computer
//! 27(3), 1994, for the components of a service time, read-ahead and write-behind; E. K. Lee and R.
//! H. Katz (1993) for one of the seek curves. Servo effects, retries and remapped sectors are not
//! modelled.

mod buffer;
mod geometry;
mod mechanism;
mod seek;

use std::collections::VecDeque;
use std::ops::Range;

use units::Instant;

pub use buffer::BufferSpec;
pub use geometry::{DiskLayout, ZoneSpec};
pub use mechanism::SeekInterference;
pub use seek::{MeasuredSeekCurve, SeekCurve};

use buffer::{BufferedRead, DiskBuffer};
use geometry::Geometry;
use mechanism::Mechanism;

use crate::device::{Action, Answer, Calendar, Command, Device, first, transfer_ns};

/// Maximum number of sectors destaged from the write cache at once.
const DESTAGE_MAX: u64 = 1024;

/// Scheduling of waiting commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueDiscipline {
    /// First come, first served.
    #[default]
    Fifo,
    /// The nearest cylinder first.
    Nearest,
}

/// How a controller divides a drive into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Each unit has adjacent cylinders.
    Cylinders,
    /// Each unit has its own surfaces, over all cylinders.
    Platters,
}

/// Parameters of a disk. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSpec {
    pub sector_bytes: u32,
    /// Usable bytes, at most the layout's capacity.
    pub capacity: u64,
    /// Layout of sectors.
    pub layout: DiskLayout,
    /// Seek curve.
    pub seek: SeekCurve,
    /// Head switch between tracks of a cylinder.
    pub head_switch: u64,
    /// Switch from the last track of a cylinder to the first of the next, in a stream.
    pub cylinder_switch: u64,
    /// Additional settling time of a write.
    pub write_settle: u64,
    /// Controller overhead of a read.
    pub overhead_read: u64,
    /// Controller overhead of a write.
    pub overhead_write: u64,
    /// Bytes per second between disk and host; none if not limiting.
    pub bus: Option<f64>,
    /// Read-ahead buffer.
    pub buffer: Option<BufferSpec>,
    /// Size of the write cache, bytes; zero for none.
    pub write_cache: u64,
    /// Scheduling.
    pub order: QueueDiscipline,
    /// Whether clients move the arm away from each other.
    pub interference: SeekInterference,
}

impl DiskSpec {
    /// The same disk with all times multiplied by `factor`.
    pub fn slowed(&self, factor: f64) -> Self {
        let slow = |time: u64| (time as f64 * factor).round() as u64;
        let mut spec = self.clone();
        let layout = &mut spec.layout;
        layout.period = slow(layout.period);
        layout.track_skew = slow(layout.track_skew);
        layout.cylinder_skew = slow(layout.cylinder_skew);
        let cylinders = layout.zones.iter().map(|zone| zone.cylinders).sum();
        let table = self.seek.table(cylinders);
        let points = table.iter().enumerate().skip(1);
        spec.seek = SeekCurve::Points(
            points
                .map(|(distance, &time)| (distance as u32, time as f64 * factor))
                .collect(),
        );
        for time in [
            &mut spec.head_switch,
            &mut spec.cylinder_switch,
            &mut spec.write_settle,
            &mut spec.overhead_read,
            &mut spec.overhead_write,
        ] {
            *time = slow(*time);
        }
        spec.bus = spec.bus.map(|rate| rate / factor);
        spec
    }

    /// The first of `units` equal units of this disk, used alone: the arm has the same speed, and
    /// travels only the width of the unit.
    ///
    /// # Panics
    /// If there are more units than cylinders, or the surfaces cannot be divided evenly.
    pub fn unit(&self, units: u32, split: Split) -> Self {
        let table = self.seek_table();
        let cylinders = table.len() as u32;
        let mut spec = self.clone();
        let layout = &mut spec.layout;
        match split {
            Split::Platters => {
                assert!(
                    layout.heads.is_multiple_of(units),
                    "surfaces are shared evenly"
                );
                layout.heads /= units;
            }
            Split::Cylinders => {
                assert!(units <= cylinders, "a unit has a cylinder at least");
                let mut left = cylinders / units;
                for zone in &mut layout.zones {
                    zone.cylinders = zone.cylinders.min(left);
                    left -= zone.cylinders;
                }
                layout.zones.retain(|zone| zone.cylinders > 0);
                let points = (1_u32..).zip(&table[1..]);
                let points: Vec<(u32, f64)> = points.map(|(d, &ns)| (d, ns as f64)).collect();
                // A disk with one cylinder never seeks.
                if !points.is_empty() {
                    spec.seek = SeekCurve::Points(points);
                }
            }
        }
        let sector = u64::from(self.sector_bytes);
        let share = self.capacity / u64::from(units) / sector * sector;
        spec.capacity = share.min(spec.layout.sectors() * sector);
        spec
    }

    /// Seek time by distance in cylinders, nanoseconds.
    pub fn seek_table(&self) -> Vec<u64> {
        let cylinders = self.layout.zones.iter().map(|zone| zone.cylinders).sum();
        self.seek.table(cylinders)
    }

    /// Sustained rate in a zone, bytes per second: a track per rotation plus a switch, where the
    /// skew is no longer than the switch.
    pub fn sustained_rate(&self, zone: &ZoneSpec) -> f64 {
        let track = u64::from(zone.sectors) * u64::from(self.sector_bytes);
        let heads = f64::from(self.layout.heads);
        let head = self.head_switch.max(self.layout.track_skew) as f64;
        let cylinder = self.cylinder_switch.max(self.layout.cylinder_skew) as f64;
        let switch = (head * (heads - 1.0) + cylinder) / heads;
        track as f64 * 1e9 / (self.layout.period as f64 + switch)
    }
}

/// A running disk.
#[derive(Clone, Debug)]
pub struct Disk {
    spec: DiskSpec,
    mechanism: Mechanism,
    buffer: Option<DiskBuffer>,
    queue: VecDeque<Command>,
    busy: Option<Busy>,
    dirty: Dirty,
    /// Completions of writes accepted by the cache, and when the bus is free of them.
    promises: Calendar<Answer>,
    bus_free: u64,
    /// Where the write cache continues without a seek.
    written_to: u64,
}

#[derive(Clone, Copy, Debug)]
struct Busy {
    until: Instant,
    answer: Option<Answer>,
}

/// Acknowledged writes that are not on the platters yet, in order of arrival.
#[derive(Clone, Debug, Default)]
struct Dirty {
    extents: VecDeque<Range<u64>>,
    sectors: u64,
}

impl Disk {
    /// An idle disk whose platters are at an angle of `phase` ns.
    pub fn new(spec: DiskSpec, phase: u64) -> Self {
        let geometry = Geometry::new(&spec.layout);
        let sectors = geometry.sectors();
        let seeks = spec.seek.table(geometry.cylinders());
        let mechanism = Mechanism::new(
            geometry,
            seeks,
            spec.head_switch,
            spec.cylinder_switch,
            phase,
        )
        .with_interference(spec.interference);
        Self {
            mechanism,
            buffer: spec.buffer.map(|buffer| DiskBuffer::new(buffer, sectors)),
            spec,
            queue: VecDeque::new(),
            busy: None,
            dirty: Dirty::default(),
            promises: Calendar::default(),
            bus_free: 0,
            written_to: 0,
        }
    }

    /// Whether the write cache can accept a command now, whatever arm and platters do.
    fn has_room_for(&self, command: &Command) -> bool {
        let sectors = self.sectors(command);
        let held = self.dirty.sectors + (sectors.end - sectors.start);
        is_volatile_write(command) && held <= self.write_cache_sectors()
    }

    /// Accepts a write into the cache, and acknowledges it. Returns when.
    fn promise(&mut self, now: Instant, command: &Command) -> Instant {
        let sectors = self.sectors(command);
        let bus = self.bus(sectors.end - sectors.start);
        self.dirty.add(sectors);
        self.bus_free = self.bus_free.max(now.0 + self.spec.overhead_write) + bus;
        let taken = Instant(self.bus_free);
        self.promises.plan(taken, command.done());
        taken
    }

    /// Starts the next work, if any.
    fn go_on(&mut self, now: Instant) {
        while let Some(index) = self.queue.iter().position(is_volatile_write)
            && self.has_room_for(&self.queue[index])
            && let Some(command) = self.queue.remove(index)
        {
            self.promise(now, &command);
        }
        let Some(index) = self.pick() else {
            if !self.dirty.extents.is_empty() {
                self.destage(now);
            }
            return;
        };
        let command = self.queue[index];
        let Some(until) = self.serve(now, &command) else {
            self.destage(now);
            return;
        };
        self.queue.remove(index);
        self.busy = Some(Busy {
            until,
            answer: Some(command.done()),
        });
    }

    fn pick(&self) -> Option<usize> {
        if self.spec.order == QueueDiscipline::Fifo || self.queue.len() < 2 {
            return (!self.queue.is_empty()).then_some(0);
        }
        let distance = |command: &Command| {
            let here = self.mechanism.cylinder(command.client);
            let sector = command.offset / u64::from(self.spec.sector_bytes);
            let place = self.mechanism.geometry.place(sector);
            place.cylinder.abs_diff(here)
        };
        let nearest = self.queue.iter().enumerate();
        nearest
            .min_by_key(|&(index, command)| (distance(command), index))
            .map(|(index, _)| index)
    }

    /// When a command that begins now completes; none if the write cache must first be destaged
    /// partly or completely.
    fn serve(&mut self, now: Instant, command: &Command) -> Option<Instant> {
        let sectors = self.sectors(command);
        self.mechanism.work_for(command.client);
        let end = match command.action {
            Action::Read => self.read(now.0, sectors),
            Action::Write(durability) => {
                let count = sectors.end - sectors.start;
                let is_promised = !durability.is_durable() && count <= self.write_cache_sectors();
                if !is_promised {
                    if durability.is_durable() && !self.dirty.extents.is_empty() {
                        return None;
                    }
                    self.write(
                        now.0,
                        self.spec.overhead_write,
                        self.spec.write_settle,
                        &sectors,
                    )
                } else {
                    return None;
                }
            }
            Action::Flush | Action::Compute { .. } if self.dirty.extents.is_empty() => {
                now.0 + self.spec.overhead_write
            }
            Action::Flush | Action::Compute { .. } => return None,
        };
        Some(Instant(end))
    }

    fn sectors(&self, command: &Command) -> Range<u64> {
        let unit = u64::from(self.spec.sector_bytes);
        let start = command.offset / unit;
        start..command.end().div_ceil(unit).max(start + 1)
    }

    fn write_cache_sectors(&self) -> u64 {
        self.spec.write_cache / u64::from(self.spec.sector_bytes)
    }

    fn bus(&self, sectors: u64) -> u64 {
        let bytes = sectors * u64::from(self.spec.sector_bytes);
        self.spec.bus.map_or(0, |rate| transfer_ns(bytes, rate))
    }

    fn read(&mut self, now: u64, sectors: Range<u64>) -> u64 {
        let count = sectors.end - sectors.start;
        let (ready, bus) = (now + self.spec.overhead_read, self.bus(count));
        if self.dirty.holds(&sectors) {
            return ready + bus;
        }
        if let Some(buffer) = &mut self.buffer {
            let wanted = BufferedRead {
                now,
                ready,
                sectors,
                bus,
            };
            return buffer.read(&mut self.mechanism, &wanted);
        }
        let (run, _) = self.mechanism.transfer(ready, 0, sectors.start, count);
        run.end.max(run.first + bus)
    }

    fn write(&mut self, now: u64, overhead: u64, settle: u64, sectors: &Range<u64>) -> u64 {
        if let Some(buffer) = &mut self.buffer {
            buffer.give_way(&mut self.mechanism, now, sectors);
        }
        let count = sectors.end - sectors.start;
        let (ready, bus) = (now + overhead, self.bus(count));
        let (run, _) = self.mechanism.transfer(ready, settle, sectors.start, count);
        run.end.max(ready + bus)
    }

    /// Destages some of the acknowledged writes.
    fn destage(&mut self, now: Instant) {
        self.mechanism.work_for(None);
        let order = self.spec.order;
        let mechanism = &self.mechanism;
        let distance = |extent: &Range<u64>| match order {
            QueueDiscipline::Fifo => 0,
            QueueDiscipline::Nearest => {
                let place = mechanism.geometry.place(extent.start);
                place.cylinder.abs_diff(mechanism.cylinder(None))
            }
        };
        let Some(sectors) = self.dirty.take(distance) else {
            return;
        };
        let settle = match sectors.start == self.written_to {
            true => 0,
            false => self.spec.write_settle,
        };
        self.written_to = sectors.end;
        let end = self.write(now.0, 0, settle, &sectors);
        self.busy = Some(Busy {
            until: Instant(end),
            answer: None,
        });
    }
}

const fn is_volatile_write(command: &Command) -> bool {
    matches!(command.action, Action::Write(durability) if !durability.is_durable())
}

impl Dirty {
    fn add(&mut self, sectors: Range<u64>) {
        if self.holds(&sectors) {
            return;
        }
        self.sectors += sectors.end - sectors.start;
        match self.extents.back_mut() {
            Some(last) if last.end == sectors.start => last.end = sectors.end,
            _ => self.extents.push_back(sectors),
        }
    }

    fn holds(&self, sectors: &Range<u64>) -> bool {
        let mut extents = self.extents.iter();
        extents.any(|extent| extent.start <= sectors.start && sectors.end <= extent.end)
    }

    /// Takes part of the nearest extent; of several, the oldest.
    fn take(&mut self, distance: impl Fn(&Range<u64>) -> u32) -> Option<Range<u64>> {
        let candidates = self.extents.iter().enumerate();
        let (index, _) = candidates.min_by_key(|&(index, extent)| (distance(extent), index))?;
        let extent = &mut self.extents[index];
        let end = extent.end.min(extent.start + DESTAGE_MAX);
        let taken = extent.start..end;
        extent.start = end;
        if extent.is_empty() {
            self.extents.remove(index);
        }
        self.sectors -= taken.end - taken.start;
        Some(taken)
    }
}

impl Device for Disk {
    fn size(&self) -> u64 {
        self.spec.capacity
    }

    fn begin(&mut self, now: Instant, command: Command) {
        let is_next = !self.queue.iter().any(is_volatile_write);
        if is_next && self.has_room_for(&command) {
            let until = self.promise(now, &command);
            let answer = None;
            self.busy.get_or_insert(Busy { until, answer });
            return;
        }
        self.queue.push_back(command);
        if self.busy.is_none() {
            self.go_on(now);
        }
    }

    fn next(&self) -> Option<Instant> {
        first(self.busy.map(|busy| busy.until), self.promises.next())
    }

    fn step(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        while let Some(answer) = self.promises.take(now) {
            answers.push(answer);
        }
        while let Some(busy) = self.busy.take_if(|busy| busy.until <= now) {
            answers.extend(busy.answer);
            self.go_on(busy.until);
        }
    }
}
