//! The ratio of two levels over rounds, and the values beside it.

use procedure::study::{Against, StudyShape, analyse};
use random::{Purpose, Stream};
use results::Run;

use crate::study::{normal, replicates, shape, study_of};
use crate::support::Coverage;

const SEEDS: u64 = 400;

/// Two targets.
fn targets() -> StudyShape {
    let mut shape = shape();
    shape.factors = vec!["target".to_owned()];
    shape.levels = vec![vec!["a".to_owned(), "b".to_owned()]];
    shape.against = vec![Against::Level(0)];
    shape.cells = vec![vec![0], vec![1]];
    shape
}

/// The rate of a target in a round.
type Law = fn(&mut Stream, &[usize], u32) -> f64;

/// Skewed: one round of a lognormal with this deviation in ten is 2.8 times the median.
fn lognormal(stream: &mut Stream, cell: &[usize], _: u32) -> f64 {
    [1.0, 1.2][cell[0]] * (0.8 * normal(stream)).exp()
}

/// One target varies far more than the other.
fn unlike(stream: &mut Stream, cell: &[usize], _: u32) -> f64 {
    [1.0, 1.2][cell[0]] * ([0.1, 0.8][cell[0]] * normal(stream)).exp()
}

/// Skewed to the other side on the scale of logarithms.
fn exponential(stream: &mut Stream, cell: &[usize], _: u32) -> f64 {
    [1.0, 1.2][cell[0]] * -stream.open_unit().ln()
}

/// The machine slows both down by half in seven rounds.
fn drifting(stream: &mut Stream, cell: &[usize], round: u32) -> f64 {
    lognormal(stream, cell, round) * 0.9_f64.powi(round as i32)
}

/// The machine is at one of two speeds in each round, and a round in eight is a tenth as fast.
fn disturbed(stream: &mut Stream, cell: &[usize], round: u32) -> f64 {
    let speed = [1.0, 3.0][round as usize % 2];
    let is_slow = stream.unit() < 0.125;
    let noise = (0.05 * normal(stream)).exp();
    speed * [1.0, 1.2][cell[0]] * if is_slow { 0.1 } else { 1.0 } * noise
}

/// Of each the logarithms differ by that of 1.2 on average.
const LAWS: [(&str, Law); 5] = [
    ("lognormal", lognormal),
    ("unlike", unlike),
    ("exponential", exponential),
    ("drifting", drifting),
    ("disturbed", disturbed),
];

#[test]
fn the_ratio_of_skewed_and_drifting_rounds_is_covered() {
    let shape = targets();
    for (name, law) in LAWS {
        for rounds in [5, 8, 20] {
            let mut coverage = Coverage::of(format!("{name}, {rounds} rounds"));
            for seed in 1..=SEEDS {
                let mut stream = Stream::new(seed, rounds.into(), Purpose::Order);
                let made = replicates(&shape, rounds, |cell, round| law(&mut stream, cell, round));
                let found = analyse(&shape, &made).comparisons;
                coverage.add(&found[0].value, 1.2, seed);
            }
            coverage.check();
        }
    }
}

/// Bug: means of 768/s and 623/s stood beside a ratio of 1.07.
#[test]
fn the_values_beside_a_ratio_have_that_ratio() {
    let shape = targets();
    let rates = [[500.0, 510.0, 490.0, 505.0, 1600.0, 495.0], [540.0; 6]];
    let mut made = replicates(&shape, 6, |cell, round| rates[cell[0]][round as usize - 1]);
    let check = |made: &[results::StudyReplicate], rounds: f64| {
        let found = analyse(&shape, made);
        let study = results::Study {
            replicates: made.to_vec(),
            ..study_of(&shape, found)
        };
        let mut run = Run::default();
        run.settings.command = "compare".to_owned();
        study.give_to(&mut run);
        let tables = run.tables();
        let compared = tables.iter().find(|it| it.name == "comparisons");
        let row = &compared.expect("comparisons").rows[0];
        let of = |name: &str| row.figure(name).expect(name).value.value;
        let ratio = of("new") / of("base");
        assert!((ratio / of("ratio") - 1.0).abs() < 1e-12, "{row:?}");
        assert_eq!(of("rounds"), rounds);
    };
    check(&made, 6.0);
    // Stopped after the first target of the last round.
    made.pop();
    check(&made, 5.0);
}
