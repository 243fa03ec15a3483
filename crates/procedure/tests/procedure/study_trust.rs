//! What a study of one combination comes to.

use crate::study::{normal, replicates, shape, study_of};
use procedure::study::analyse;
use procedure::verdict;
use random::{Purpose, Stream};
use results::{Run, Study, Trust, Warning, WarningCode};

/// A study of one combination whose rates are these, each repeat with these warnings.
fn run_of(rates: &[f64], warnings: &[Warning]) -> Run {
    let mut shape = shape();
    shape.factors.clear();
    shape.levels.clear();
    shape.cells = vec![Vec::new()];
    let mut made = replicates(&shape, rates.len() as u32, |_, round| {
        rates[round as usize - 1]
    });
    for replicate in &mut made {
        replicate.warnings = warnings.to_vec();
    }
    let found = analyse(&shape, &made);
    let study = Study {
        replicates: made,
        ..study_of(&shape, found)
    };
    let mut run = Run {
        measurements: Vec::new(),
        curves: Vec::new(),
        findings: Vec::new(),
        warnings: warnings.to_vec(),
        ..sample::run()
    };
    study.give_to(&mut run);
    run
}

/// Bug: nothing was said of a rate that moved, and the first warning of any repeat was blamed. A
/// rate of repeats that Seekstone itself was late in was called reliable.
#[test]
fn a_rate_that_moves_or_was_measured_late_is_no_answer_and_says_why() {
    let mut stream = Stream::new(5, 0, Purpose::Order);
    let mut rates = |of: fn(u32) -> f64| -> Vec<f64> {
        let rates = (0..12).map(|round| of(round) * (0.01 * normal(&mut stream)).exp());
        rates.collect()
    };
    let late = || Warning::warn(WarningCode::LateGenerator, "late by 3 ms.");
    let correlated = || Warning::info(WarningCode::Correlated, "moved slowly.");
    let (steady, moving) = (rates(|_| 8e6), rates(|round| 8e6 + 4e5 * f64::from(round)));
    let turns = rates(|round| [8e6, 1e6][round as usize % 2]);
    let rows = [&steady, &moving, &turns, &steady];
    let warnings = [correlated(), correlated(), correlated(), late()];
    let said = [
        ("Rate 8.0", ""),
        ("Cannot tell: rate changed by +", "drift study-not-precise"),
        (
            "Cannot tell: rate has two kinds of repeat",
            "two-modes study-not-precise",
        ),
        ("Cannot tell: late by 3 ms", "late-generator"),
    ];
    for ((rates, warning), (begins, because)) in rows.into_iter().zip(warnings).zip(said) {
        let found = verdict(&run_of(rates, &[warning]));
        assert!(found.sentence.starts_with(begins), "{found:?}");
        assert_eq!(found.codes(), because, "{found:?}");
        let trust = if because.is_empty() {
            Trust::Reliable
        } else {
            Trust::Unstable
        };
        assert_eq!(found.trust, trust, "{found:?}");
    }
}
