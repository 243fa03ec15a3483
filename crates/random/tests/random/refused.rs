//! A law cannot be built wrong: a workload file with `pattern = "zipf:0"` once ended in a panic,
//! because one of three readers did not know the bound.

use random::{
    AroundMiddle, ExponentialStep, GapProcess, GapShape, LawError, ParetoStep, Permutation,
    Purpose, SelfSimilar, Stream, Zipf,
};

const NEVER: [f64; 6] = [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// A constructor, and what it refuses besides numbers that no law takes.
type Refusing = (&'static str, fn(f64) -> Option<LawError>, &'static [f64]);

const LAWS: &[Refusing] = &[
    ("theta", |it| Zipf::new(10, it).err(), &[]),
    ("alpha", |it| ParetoStep::new(it).err(), &[]),
    ("mean step", |it| ExponentialStep::new(it).err(), &[0.999]),
    ("share", |it| SelfSimilar::new(it).err(), &[1.0, 1.5]),
    ("percent", |it| AroundMiddle::new(it).err(), &[100.1]),
    (
        "mean gap",
        |it| GapProcess::new(GapShape::Uniform, it).err(),
        &[],
    ),
    (
        "rate",
        |it| GapProcess::per_second(GapShape::Uniform, it).err(),
        &[],
    ),
];

#[test]
fn laws_refuse_what_they_have_no_meaning_for() {
    for (name, refusal, also) in LAWS {
        for value in NEVER.iter().chain(*also) {
            let error = refusal(*value).unwrap_or_else(|| panic!("{name} took {value}"));
            let text = error.to_string();
            assert!(text.starts_with(name), "{name}: {text}");
            assert!(text.contains("must be"), "{name}: {text}");
        }
    }
    // The mean gap of so few arrivals is no number.
    assert!(GapProcess::per_second(GapShape::Constant, 1e-308).is_err());
    assert!(Zipf::new(0, 1.0).is_err() && Zipf::new(Zipf::RANKS_MAX + 1, 1.0).is_err());
    let mut stream = Stream::new(1, 0, Purpose::Scatter);
    assert!(Permutation::new(0, &mut stream).is_err());
    assert_eq!(
        GapProcess::unless_none(GapShape::Constant, 0.0)
            .ok()
            .flatten()
            .map(|_| ()),
        None
    );
    assert!(GapProcess::unless_none(GapShape::Constant, f64::NAN).is_err());
}
