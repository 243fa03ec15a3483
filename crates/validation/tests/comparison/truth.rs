//! What the simulated device does with every number of threads, by brute force in virtual time.
//!
//! Long runs with seeds of their own, none of which a procedure sees. Below 40 threads the device
//! keeps up, and the load is what the threads ask for; from 40 on their clocks lag without bound,
//! and the service time comes to threads / 800 s. At 40 it comes there only in the limit.

use std::ops::RangeInclusive;

use engine::{Engine, EngineOptions, KindSet};
use units::{Duration, Instant};
use workload::{AnyClient, ClientSpec};

use super::in_parallel;
use super::system::{CAPACITY, SERVICE_MS, System, THREAD_RATE};

/// How much is simulated for each number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub seeds: u64,
    /// Seconds at the beginning that do not count.
    pub warm_up_s: u64,
    /// Seconds that count.
    pub seconds: u64,
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    pub value: f64,
    pub error: f64,
}

/// One number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub threads: u32,
    pub load: Mean,
    pub service_ms: Mean,
}

/// The curve of the device.
#[derive(Clone, Debug)]
pub struct Truth {
    points: Vec<Point>,
}

/// Slots that are summed up anyway need not be short.
const SLOT_S: u64 = 20;
/// Far from all seeds of procedures.
const FIRST_SEED: u64 = 1 << 40;

impl Truth {
    /// Simulate one thread, and every number of threads in `range`.
    pub fn of(system: &System, range: RangeInclusive<u32>, effort: Effort) -> Self {
        let numbers: Vec<u32> = std::iter::once(1).chain(range).collect();
        let runs: Vec<(u32, u64)> = numbers
            .iter()
            .flat_map(|&threads| (0..effort.seeds).map(move |seed| (threads, FIRST_SEED + seed)))
            .collect();
        let found = in_parallel(&runs, |&(threads, seed)| run(system, threads, seed, effort));
        let points = numbers
            .iter()
            .zip(found.chunks(effort.seeds as usize))
            .map(|(&threads, found)| Point {
                threads,
                load: mean(found.iter().map(|(load, _)| *load)),
                service_ms: mean(found.iter().map(|(_, service)| *service)),
            })
            .collect();
        Self { points }
    }

    pub fn print(&self) {
        println!("threads: load, service time in ms, each with its standard error");
        for point in &self.points {
            let Point {
                threads,
                load,
                service_ms: service,
            } = point;
            println!(
                "  {threads}: {:.2} ({:.2}), {:.3} ({:.3})",
                load.value, load.error, service.value, service.error
            );
        }
    }

    /// The load at which the service time is `level_ms`, linear between neighbouring numbers.
    pub fn load_at(&self, level_ms: f64) -> f64 {
        let (below, above) = self.around(level_ms);
        let part =
            (level_ms - below.service_ms.value) / (above.service_ms.value - below.service_ms.value);
        below.load.value + part * (above.load.value - below.load.value)
    }

    /// How uncertain [`Truth::load_at`] is: standard error, operations per second.
    pub fn load_error_at(&self, level_ms: f64) -> f64 {
        let (below, above) = self.around(level_ms);
        let slope = (above.load.value - below.load.value)
            / (above.service_ms.value - below.service_ms.value);
        let of = |point: &Point| point.load.error.hypot(slope * point.service_ms.error);
        of(below).max(of(above))
    }

    /// The service time of so many threads.
    pub fn service_ms_of(&self, threads: u32) -> f64 {
        let mut points = self.points.iter();
        let point = points.find(|point| point.threads == threads);
        point.map_or(f64::NAN, |point| point.service_ms.value)
    }

    /// The sum of load over service time of one thread and of `levels_ms`.
    pub fn rabmark_r(&self, levels_ms: &[f64]) -> f64 {
        let levels = levels_ms.iter().map(|&level| self.load_at(level) / level);
        THREAD_RATE / SERVICE_MS + levels.sum::<f64>()
    }

    /// The service time of one thread, which never queues.
    pub const fn no_load_ms(&self) -> f64 {
        SERVICE_MS
    }

    fn around(&self, level_ms: f64) -> (&Point, &Point) {
        let above = self
            .points
            .iter()
            .position(|point| point.service_ms.value >= level_ms)
            .unwrap_or_else(|| panic!("{level_ms} ms lie beyond the truth"));
        let (below, above) = (&self.points[above - 1], &self.points[above]);
        assert_eq!(
            below.threads + 1,
            above.threads,
            "{level_ms} ms lie in a hole"
        );
        (below, above)
    }

    /// Threads that are kept up with do what they ask for; more of them do what the device can.
    pub fn check(&self) {
        for point in &self.points {
            let asked = THREAD_RATE * f64::from(point.threads);
            let expected = asked.min(CAPACITY);
            let off = point.load.value - expected;
            // At 40 threads and a little less, a lag of minutes at the end is load that is missing.
            let allowed = 5.0 * point.load.error + 0.003 * expected;
            assert!(off.abs() < allowed, "{point:?}: {expected} expected");
        }
    }
}

/// Load and mean service time of one run.
fn run(system: &System, threads: u32, seed: u64, effort: Effort) -> (f64, f64) {
    let start = Instant::START;
    let spec = ClientSpec::Control(system.spec.clone());
    let clients: Vec<AnyClient> = (0..threads)
        .map(|id| spec.client(seed, id, threads).expect("a share with blocks"))
        .collect();
    let driver = system.device.driver(seed, threads as usize, start);
    let options = EngineOptions {
        start,
        slot_width: Duration::from_secs(SLOT_S),
        counted: KindSet::of(&spec.counted_kinds()),
        first_client: 0,
        stride: 1,
    };
    let mut engine = Engine::new(driver, clients, options);
    let warm = start + Duration::from_secs(effort.warm_up_s);
    engine.run_until(warm).expect("a model does not break");
    drop(engine.recorder_mut().take_slots());
    let end = warm + Duration::from_secs(effort.seconds);
    engine.run_until(end).expect("a model does not break");
    let slots = engine.recorder_mut().take_slots();
    let count: u64 = slots.iter().map(|slot| slot.completions).sum();
    let service: f64 = slots.iter().map(|slot| slot.service.sum).sum();
    let load = count as f64 / effort.seconds as f64;
    (load, service / count as f64 / 1e6)
}

fn mean(values: impl Iterator<Item = f64>) -> Mean {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let value = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|it| (it - value).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    Mean { value, error }
}
