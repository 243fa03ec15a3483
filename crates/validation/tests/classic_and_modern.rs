//! The procedure of 1995 and that of `seekstone rab`, beside each other on a device that is known.
//!
//! Both look for the loads at which the service time of the first workload of the document comes to
//! a third, two thirds and all of the way to 20 or 50 ms. Their levels depend on their own
//! measurement without load, so each load is judged by the truth at its own level.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

mod comparison;
#[path = "../../procedure/tests/support/mod.rs"]
mod support;

use std::ops::RangeInclusive;

use comparison::system::{SERVICE_MS, System, THREADS_MAX};
use comparison::table::Row;
use comparison::truth::{Effort, Truth};
use comparison::{Outcome, classic, in_parallel, modern};

/// Share of the classic procedure's time that the modern one may take for the same levels.
const TIME_MAX: f64 = 0.7;

/// Share of its I/Os that the modern one may take: of six runs, and of many. Of these it was 0.70
/// when half of a trial might be left out as warm-up and a drift ended none; that costs 7 %.
const OPERATIONS_MAX_OF_FEW: f64 = 0.9;
const OPERATIONS_MAX: f64 = 0.75;

/// Share of intervals that shall contain the truth.
const COVERAGE: f64 = 0.95;

/// Both procedures at one highest level.
struct Comparison {
    classic: Row,
    /// What the classic procedure finds, too.
    modern: Row,
    /// With the levels of response time, which the classic procedure does not look for.
    whole: Row,
}

impl Comparison {
    fn of(level_max_ms: u32, seeds: RangeInclusive<u64>, system: &System, truth: &Truth) -> Self {
        let seeds: Vec<u64> = seeds.collect();
        let classic = in_parallel(&seeds, |&seed| (seed, classic::measure(level_max_ms, seed)));
        let whole = in_parallel(&seeds, |&seed| {
            (seed, modern::measure(system, level_max_ms, seed))
        });
        let of_service = |(seed, outcome): &(u64, Outcome)| (*seed, outcome.of_service());
        let modern = whole.iter().map(of_service).collect();
        let comparison = Self {
            classic: Row::of("classic", classic, truth),
            modern: Row::of("modern", modern, truth),
            whole: Row::of("modern, with levels of response time", whole, truth),
        };
        println!("up to {level_max_ms} ms, {} runs of each:", seeds.len());
        comparison.print();
        comparison
    }

    /// The share of the classic I/Os that the modern procedure may take is the caller's.
    fn check(&self, operations_max: f64) {
        let (classic, modern, whole) = (&self.classic, &self.modern, &self.whole);
        assert_eq!(classic.settled, classic.wanted());
        // A level may lie where no chord is sound and no two loads are close: then two loads are
        // told between which it lies.
        let missing = modern.wanted() - modern.settled;
        assert!(missing * 50 <= modern.wanted(), "{missing} unsettled");
        assert!(modern.seconds() < TIME_MAX * classic.seconds());
        assert!(whole.seconds() < classic.seconds());
        let share = modern.operations() / classic.operations();
        assert!(share < operations_max, "{share} of the classic I/Os");
    }

    fn print(&self) {
        self.classic.print();
        self.modern.print();
        self.whole.print_cost();
        for row in [&self.modern, &self.whole] {
            println!(
                "  {}: {:.2} of the classic I/Os, {:.2} of the time, {:.2} of the error",
                row.name,
                row.operations() / self.classic.operations(),
                row.seconds() / self.classic.seconds(),
                row.load_error() / self.classic.load_error(),
            );
        }
    }
}

fn check_many(seeds: RangeInclusive<u64>) {
    let system = System::new();
    let effort = Effort {
        seeds: 8,
        warm_up_s: 200,
        seconds: 500,
    };
    let truth = Truth::of(&system, 2..=THREADS_MAX, effort);
    truth.print();
    truth.check();
    for level_max_ms in [20, 50] {
        let third = (f64::from(level_max_ms) - SERVICE_MS) / 3.0;
        for level in (1..=3).map(|part| SERVICE_MS + f64::from(part) * third) {
            let error = truth.load_error_at(level) / truth.load_at(level);
            assert!(error < 0.002, "{level} ms: the truth is known to {error}");
        }
        let found = Comparison::of(level_max_ms, seeds.clone(), &system, &truth);
        found.modern.print_service_times(34..=42, &truth);
        found.check(OPERATIONS_MAX);
        assert!(found.modern.load_error() < found.classic.load_error());
        for errors in &found.modern.loads {
            errors.check("load", COVERAGE);
        }
        found.modern.ranges.check("range", COVERAGE);
        found
            .modern
            .no_load
            .check("service time without load", COVERAGE);
        found.modern.rabmark.check("RABmark[r]", COVERAGE);
    }
}

#[test]
fn both_procedures_find_the_levels_and_the_modern_one_in_less_time() {
    let system = System::new();
    let effort = Effort {
        seeds: 2,
        warm_up_s: 50,
        seconds: 150,
    };
    let truth = Truth::of(&system, 33..=45, effort);
    for level_max_ms in [20, 50] {
        Comparison::of(level_max_ms, 1..=6, &system, &truth).check(OPERATIONS_MAX_OF_FEW);
    }
}

#[test]
#[ignore = "takes minutes in release: part of the nightly tests"]
fn intervals_of_the_modern_procedure_cover_in_four_hundred_runs_of_both() {
    check_many(1..=400);
}
