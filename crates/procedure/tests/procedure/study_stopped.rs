//! A study that is stopped concludes what its whole rounds bear, or nothing.
//!
//! Stopped in its fifth round, a study told an effect of 3.7 times as "No difference of interest":
//! the words counted the rounds that were begun, the verdict those that were complete.

use procedure::study::{PAIRS_MIN, StudyPlan, StudyShape, analyse};
use random::{Purpose, Stream};
use results::{StudyComparison, StudyReplicate, StudyVerdict};

use crate::studies::{STUDY, read};
use crate::study::{concluded, normal, replicates};

const ROUNDS: u32 = 7;
const SEEDS: u64 = 20;
/// Every sentence on an effect says so, since every level is lower than its reference.
const RIGHT: [&str; 2] = ["best with block 8KiB", "mount rsize 8k is 0."];
const NOT_ENOUGH: [&str; 2] = ["conclusion", "too few"];

/// Replicates in the order in which a study measures them. Each level of a factor is a multiple of
/// its reference in truth, so that all effects are the same at each combination.
fn measured(seed: u64) -> (StudyShape, Vec<StudyReplicate>) {
    let study = read(STUDY).expect("a study");
    let shape = StudyShape::of(&study);
    let mut stream = Stream::new(seed, 1, Purpose::Order);
    let truth = [[0.5, 1.0, 0.3], [1.0, 0.8, 1.0]];
    let made = replicates(&shape, ROUNDS, |cell, round| {
        let rate: f64 = cell
            .iter()
            .zip(truth)
            .map(|(&level, of)| of[level])
            .product();
        let drift = 0.1 * f64::from(round % 3);
        1e6 * rate * (drift + 0.01 * normal(&mut stream)).exp()
    });
    let plan = StudyPlan::new(&study);
    let cells = plan.cells().len();
    let order = (1..=ROUNDS).flat_map(|round| {
        let groups = plan.round(seed, round).into_iter();
        let in_order = groups.flat_map(|group| group.cells);
        in_order.map(move |cell| (round as usize - 1) * cells + cell)
    });
    let made = order.map(|at| made[at].clone()).collect();
    (shape, made)
}

/// Rounds that have every combination that a comparison is about, counted without the program.
fn complete_rounds(shape: &StudyShape, made: &[StudyReplicate], it: &StudyComparison) -> usize {
    let factor = shape.factors.iter().position(|name| *name == it.factor);
    let factor = factor.expect("a factor");
    let is_compared = |levels: &[String]| {
        let mut others = levels.iter().zip(&it.context);
        let is_here = others.all(|(level, wanted)| wanted.is_empty() || level == wanted);
        is_here && [&it.level, &it.against].contains(&&levels[factor])
    };
    let named = shape.cells.iter().map(|cell| {
        let levels = cell.iter().zip(&shape.levels);
        levels.map(|(&level, names)| names[level].clone())
    });
    let needed = named.map(Iterator::collect::<Vec<_>>);
    let needed = needed.filter(|levels| is_compared(levels)).count();
    let has_all = |round: &u32| {
        let of_round = made.iter().filter(|it| it.round == *round);
        let usable = of_round.filter(|it| !it.readings.is_empty());
        usable.filter(|it| is_compared(&it.levels)).count() == needed
    };
    (1..=ROUNDS).filter(has_all).count()
}

/// Every sentence is right, or says that there is not enough, and is short then.
fn check_words(conclusions: &[String], hint: &str) {
    // The last one says how the intervals were made.
    let told = match conclusions {
        [all @ .., method] if method.starts_with("The interval") => all,
        all => all,
    };
    for sentence in told {
        let says = |all: [&str; 2]| all.iter().any(|it| sentence.contains(it));
        let (is_open, is_right) = (says(NOT_ENOUGH), says(RIGHT));
        assert!(is_open || is_right, "{hint}: {sentence}");
        let words = sentence.split_whitespace().count();
        let is_short = words <= 20 && !sentence.contains(';');
        assert!(is_right || is_short, "{hint}: {words} words: {sentence}");
    }
}

/// What a study concludes that is stopped after any of its replicates.
fn check_stops(shape: &StudyShape, made: &[StudyReplicate], seed: u64) {
    for done in 1..=made.len() {
        check(shape, &made[..done], &format!("seed {seed}, {done} made"));
    }
}

fn check(shape: &StudyShape, made: &[StudyReplicate], hint: &str) {
    let found = analyse(shape, made);
    let told = concluded(shape, found.clone());
    check_words(&told, hint);
    let has_none = made.iter().all(|it| it.readings.is_empty());
    assert_eq!(told.is_empty(), has_none, "{hint}");
    for it in &found.comparisons {
        let complete = complete_rounds(shape, made, it);
        let expected = if complete >= PAIRS_MIN {
            StudyVerdict::Lower
        } else {
            StudyVerdict::NotShown
        };
        assert_eq!(it.verdict, expected, "{hint}, {complete} complete: {it:?}");
        assert_eq!(it.value.samples, complete as f64, "{hint}: {it:?}");
    }
}

#[test]
fn a_study_that_is_stopped_after_any_replicate_never_concludes_the_opposite() {
    for seed in 0..SEEDS {
        let (shape, made) = measured(seed);
        check_stops(&shape, &made, seed);
        let whole = concluded(&shape, analyse(&shape, &made)).join("\n");
        let is_open = NOT_ENOUGH.iter().any(|it| whole.contains(it));
        assert!(!is_open, "seed {seed}: {whole}");
    }
}

/// Each combination had more than five replicates, and no five rounds had them all.
#[test]
fn rounds_in_which_a_replicate_is_void_are_not_complete() {
    for seed in 0..SEEDS {
        let (shape, mut made) = measured(seed);
        // One of seven of each combination: of some in the first round, of others in the third.
        for replicate in &mut made {
            let cell = replicate.levels.iter().map(String::len).sum::<usize>();
            if replicate.round as usize == 1 + cell % 3 {
                replicate.readings.clear();
            }
        }
        check_stops(&shape, &made, seed);
    }
}
