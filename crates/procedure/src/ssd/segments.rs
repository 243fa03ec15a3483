//! Segments after the rounds of a test: one load in bursts, with or without pauses.

use results::{Measurement, SsdBurst, SsdCell, SsdLoad, SsdSegment};
use units::Duration;
use workload::ClientSpec;

use super::{SsdPlace, latency_by_little, sequential_start, spec, title};
use crate::trial::Trial;

/// A segment without pauses is divided into bursts of this length, to show its course.
const PART: Duration = Duration::from_secs(60);

/// The load of a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SegmentLoad {
    Fixed(SsdLoad),
    /// One of the loads of the rounds except the first, chosen by its result.
    Of(DemandPoint),
}

/// A point of the demand curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemandPoint {
    /// The lowest IOPS.
    Least,
    /// The IOPS nearest to half way between.
    Middle,
    /// The highest IOPS.
    Most,
}

/// A load in bursts, as in the standard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsdSegmentPlan {
    pub name: &'static str,
    /// The load of a burst.
    pub load: SegmentLoad,
    /// Number of bursts.
    pub bursts: u32,
    /// Length of a burst.
    pub burst: Duration,
    /// Pause before each burst.
    pub pause: Duration,
}

impl SsdSegmentPlan {
    /// Bursts of a minute without pauses, for this long.
    pub(super) fn without_pause(name: &'static str, load: SegmentLoad, time: Duration) -> Self {
        Self {
            name,
            load,
            bursts: (time.as_nanos() / PART.as_nanos()) as u32,
            burst: PART,
            pause: Duration::ZERO,
        }
    }

    /// Time of one burst with its pause, at `scale` times the standard.
    pub fn time_of_one(&self, scale: f64) -> Duration {
        (self.burst + self.pause).mul_f64(scale)
    }

    /// Time of all bursts and pauses.
    pub fn time(&self, scale: f64) -> Duration {
        self.time_of_one(scale) * u64::from(self.bursts)
    }

    /// The load of its bursts; `None` if the rounds from which it is chosen were not measured.
    pub fn load(&self, cells: &[SsdCell]) -> Option<SsdLoad> {
        let demand = match self.load {
            SegmentLoad::Fixed(load) => return Some(load),
            SegmentLoad::Of(demand) => demand,
        };
        let found = cells.get(1..)?.iter().map(|it| (it.iops.value, it.load));
        let (least, most) = found
            .clone()
            .fold((f64::MAX, 0.0_f64), |(least, most), it| {
                (least.min(it.0), most.max(it.0))
            });
        let wanted = match demand {
            DemandPoint::Least => least,
            DemandPoint::Middle => f64::midpoint(least, most),
            DemandPoint::Most => most,
        };
        let off = |iops: f64| (iops - wanted).abs();
        let nearest = found.min_by(|one, other| off(one.0).total_cmp(&off(other.0)));
        nearest.map(|(_, load)| load)
    }
}

/// Chooses the next burst.
pub struct SsdSegmentProcedure {
    found: SsdSegment,
    place: SsdPlace,
    /// Numbers of its test in the run and of the segment in the test.
    numbers: (u64, u64),
    test: &'static str,
    bursts: u32,
    moved: u64,
}

impl SsdSegmentProcedure {
    /// The segment with these `numbers`: of the test in the run, and of the segment in the test.
    /// Does `share` of the standard's bursts, at least one.
    pub fn new(
        (plan, load, scale): (&SsdSegmentPlan, SsdLoad, f64),
        place: SsdPlace,
        (test, numbers): (&'static str, (u64, u64)),
        share: f64,
    ) -> Self {
        Self {
            found: SsdSegment {
                name: plan.name.into(),
                load,
                burst_ns: plan.burst.mul_f64(scale).as_nanos(),
                pause_ns: plan.pause.mul_f64(scale).as_nanos(),
                standard_ns: plan.burst.as_nanos() * u64::from(plan.bursts),
                bursts: Vec::new(),
            },
            place,
            numbers,
            test,
            bursts: ((f64::from(plan.bursts) * share) as u32).clamp(1, plan.bursts),
            moved: 0,
        }
    }

    /// The next burst, and the pause before it.
    pub fn next_step(&self) -> Option<(Trial, Duration)> {
        let done = self.found.bursts.len() as u32;
        if done == self.bursts {
            return None;
        }
        let load = self.found.load;
        let (test, segment) = self.numbers;
        let start = sequential_start(self.place, load, self.moved);
        let spec = ClientSpec::Mix(spec(&load, start, self.place.size));
        let number = done + 1;
        let name = format!("ssd-{}-{segment}-burst-{number}", self.test);
        let trial = Trial {
            title: title(&load),
            clients: load.depth,
            depth: load.depth,
            duration_max: Duration(self.found.burst_ns),
            salt: test << 48 | (segment + 1) << 40 | u64::from(number),
            warm_up: Some(Duration::ZERO),
            ..Trial::new(name, spec, self.place.access)
        };
        Some((trial, Duration(self.found.pause_ns)))
    }

    /// Records the result of a burst, which ended this long after the first segment of the test
    /// began.
    pub fn record(&mut self, measured: &Measurement, end: Duration) {
        self.moved += measured.bytes_all;
        let mut times = measured.response.clone();
        times.mean = latency_by_little(measured);
        self.found.bursts.push(SsdBurst {
            end_ns: end.as_nanos(),
            iops: measured.throughput,
            times,
            errors: measured.errors_total(),
        });
    }

    /// The results, if anything was measured.
    pub fn segment(self) -> Option<SsdSegment> {
        Some(self.found).filter(|it| !it.bursts.is_empty())
    }
}
