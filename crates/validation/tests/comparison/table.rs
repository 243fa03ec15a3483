//! What many runs of both procedures came to, beside each other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::Outcome;
use super::truth::Truth;
use crate::support::binomial_floor;

/// Errors, and how often the interval contained the truth where there is one; all relative.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    errors: Vec<f64>,
    half_widths: Vec<f64>,
    covered: u64,
    missed_by: Vec<u64>,
}

impl Errors {
    fn add(&mut self, value: f64, interval: Option<&stats::Estimate>, truth: f64, seed: u64) {
        self.errors.push(value / truth - 1.0);
        if let Some(interval) = interval {
            self.half_widths.push(interval.relative_half_width());
            if interval.contains(truth) {
                self.covered += 1;
            } else {
                self.missed_by.push(seed);
            }
        }
    }

    fn root_mean_square(&self) -> f64 {
        mean(self.errors.iter().map(|error| error * error)).sqrt()
    }

    fn coverage(&self) -> f64 {
        self.covered as f64 / self.half_widths.len() as f64
    }

    /// Fails when that coverage would give so few hits less than once in a thousand times.
    pub fn check(&self, name: &str, coverage: f64) {
        let floor = binomial_floor(self.half_widths.len() as u64, coverage, 1e-3);
        let missed = &self.missed_by;
        assert!(
            self.covered >= floor,
            "{name}: {} covered, fewer than {floor}; missed by seeds {missed:?}",
            self.covered
        );
    }

    fn print(&self, name: &str) {
        let mut sizes: Vec<f64> = self.errors.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |part: f64| sizes[((sizes.len() - 1) as f64 * part) as usize] * 100.0;
        let stated = if self.half_widths.is_empty() {
            "none stated".into()
        } else {
            format!(
                "+-{:.2} %, coverage {:.3} of {}",
                mean(self.half_widths.iter().copied()) * 100.0,
                self.coverage(),
                self.half_widths.len()
            )
        };
        println!(
            "    {name}: error mean {:+.2} %, rms {:.2} %, median {:.2} %, 95 % within {:.2} %, \
             worst {:.1} %; interval {stated}",
            mean(self.errors.iter().copied()) * 100.0,
            self.root_mean_square() * 100.0,
            at(0.5),
            at(0.95),
            at(1.0),
        );
    }
}

/// One procedure over many seeds.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    outcomes: Vec<Outcome>,
    /// Loads at the levels, each against the truth at the run's own level.
    pub loads: Vec<Errors>,
    pub no_load: Errors,
    pub rabmark: Errors,
    /// Loads between which levels lie that were not settled.
    pub ranges: Errors,
    pub settled: usize,
    pub imprecise: usize,
}

const LEVELS: [&str; 3] = ["load at 1/3", "load at 2/3", "load at max"];

impl Row {
    pub fn of(name: &'static str, runs: Vec<(u64, Outcome)>, truth: &Truth) -> Self {
        let mut row = Self {
            name,
            outcomes: Vec::new(),
            loads: vec![Errors::default(); LEVELS.len()],
            no_load: Errors::default(),
            rabmark: Errors::default(),
            ranges: Errors::default(),
            settled: 0,
            imprecise: 0,
        };
        for (seed, outcome) in runs {
            row.add(seed, &outcome, truth);
            row.outcomes.push(outcome);
        }
        row
    }

    fn add(&mut self, seed: u64, outcome: &Outcome, truth: &Truth) {
        for (level, errors) in outcome.levels.iter().zip(&mut self.loads) {
            let truth = truth.load_at(level.ms);
            if let Some(range) = &level.range {
                self.ranges.add(range.value, Some(range), truth, seed);
            }
            let Some(load) = level.load else { continue };
            errors.add(load, level.interval.as_ref(), truth, seed);
            self.settled += 1;
            self.imprecise += usize::from(!level.is_precise);
        }
        let no_load = truth.no_load_ms();
        let interval = outcome.no_load_interval.as_ref();
        self.no_load
            .add(outcome.no_load_ms, interval, no_load, seed);
        // A sum over fewer levels is another sum.
        if outcome.levels.len() == LEVELS.len() {
            let levels: Vec<f64> = outcome.levels.iter().map(|level| level.ms).collect();
            let (value, interval) = (outcome.rabmark, outcome.rabmark_interval.as_ref());
            let truth = truth.rabmark_r(&levels);
            self.rabmark.add(value, interval, truth, seed);
        }
    }

    fn mean_of(&self, figure: impl Fn(&Outcome) -> f64) -> f64 {
        mean(self.outcomes.iter().map(figure))
    }

    pub fn operations(&self) -> f64 {
        self.mean_of(|outcome| outcome.operations as f64)
    }

    pub fn seconds(&self) -> f64 {
        self.mean_of(|outcome| outcome.seconds)
    }

    pub fn wanted(&self) -> usize {
        self.outcomes.len() * LEVELS.len()
    }

    /// The root of the mean square of all errors of loads.
    pub fn load_error(&self) -> f64 {
        let squares = self.loads.iter().flat_map(|errors| &errors.errors);
        mean(squares.map(|error| error * error)).sqrt()
    }

    /// What was found, and what it cost.
    pub fn print(&self) {
        self.print_cost();
        self.no_load.print("service time without load");
        for (name, errors) in LEVELS.iter().zip(&self.loads) {
            errors.print(name);
        }
        if !self.ranges.errors.is_empty() {
            self.ranges
                .print("loads between which unsettled levels lie");
        }
        self.rabmark.print("RABmark[r]");
    }

    /// What it cost, and where that went.
    pub fn print_cost(&self) {
        println!(
            "  {}: {:.0} I/Os, {:.0} virtual s, {:.1} points, up to {:.1} threads; {} of {} levels \
             settled, {} of them less precise than asked for; {:.1} unconverged points",
            self.name,
            self.operations(),
            self.seconds(),
            self.mean_of(|outcome| outcome.points as f64),
            self.mean_of(|outcome| f64::from(outcome.threads)),
            self.settled,
            self.wanted(),
            self.imprecise,
            self.mean_of(|outcome| outcome.unconverged as f64),
        );
        self.print_parts();
    }

    /// Where the effort went.
    fn print_parts(&self) {
        let count = self.outcomes.len() as f64;
        let mut parts: BTreeMap<&str, (f64, f64, f64)> = BTreeMap::new();
        for part in self.outcomes.iter().flat_map(|outcome| &outcome.parts) {
            let sum = parts.entry(part.name).or_default();
            sum.0 += 1.0 / count;
            sum.1 += part.operations as f64 / count;
            sum.2 += part.seconds / count;
        }
        for (name, (points, operations, seconds)) in parts {
            println!("    {name}: {points:.1} points, {operations:.0} I/Os, {seconds:.0} s");
        }
    }

    /// What points of these numbers of threads showed on average: short ones end before the queue
    /// has built up.
    pub fn print_service_times(&self, threads: RangeInclusive<u32>, truth: &Truth) {
        println!("  mean service time in ms: threads, truth, scouts, points for the load alone");
        for number in threads {
            let of = |name: &str| {
                let parts = self.outcomes.iter().flat_map(|outcome| &outcome.parts);
                let same = parts.filter(|part| part.clients == number && part.name == name);
                mean(same.map(|part| part.service_ms))
            };
            let (scouts, cited) = (of("scout"), of("final, load alone"));
            let truth = truth.service_ms_of(number);
            println!("    {number}: {truth:.1}, {scouts:.1}, {cited:.1}");
        }
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}
