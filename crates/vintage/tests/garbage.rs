//! Parsers never fail in another way than by saying so, whatever they are given.

use vintage::diskrand::{DiskRandLog, begins_log, doubts, groups};
use vintage::rpt::{RptLog, TestPlan, listed, shipped, text_of};

const EXCERPT: &str = include_str!("../src/fixtures/excerpt.rpl");
const DISKRAND_LOG: &str = include_str!("../src/fixtures/diskrand.log");
const ROUNDS: u64 = 400;
/// Told faults, and the line that counts the others.
const LINES_MAX: usize = vintage::rpt::LISTED_MAX + 1;

/// A small generator: the tests must be the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// The text with some characters changed, left out or repeated, and lines cut or swapped.
fn mangled(text: &str, dice: &mut Dice) -> String {
    const ODD: [char; 12] = [
        ';', '=', '[', ']', '"', '\n', '-', '9', '\u{e4}', '\t', ':', '#',
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(12) {
        let place = dice.below(letters.len());
        match dice.below(4) {
            0 => letters[place] = ODD[dice.below(ODD.len())],
            1 => drop(letters.remove(place)),
            2 => letters.insert(place, ODD[dice.below(ODD.len())]),
            _ => letters.truncate(letters.len() - dice.below(letters.len() / 4)),
        }
        if letters.is_empty() {
            letters.push('x');
        }
    }
    letters.into_iter().collect()
}

#[test]
fn mangled_test_and_parameter_files_are_told_briefly() {
    for seed in 0..ROUNDS {
        let mut dice = Dice(seed);
        let test = mangled(
            shipped::text_of("rpt.rpt").expect("a shipped file"),
            &mut dice,
        );
        let parameters = mangled(
            shipped::text_of("rpt.rpp").expect("a shipped file"),
            &mut dice,
        );
        let mut include = |_: &str| Ok(parameters.clone());
        let (plan, faults) = TestPlan::read("rpt.rpt", &test, &Vec::new(), &mut include);
        assert_eq!(plan.is_none(), !faults.errors.is_empty(), "seed {seed}");
        for faults in [&faults.errors, &faults.warnings] {
            let text = listed(faults);
            assert!(text.lines().count() <= LINES_MAX, "seed {seed}: {text}");
            let is_safe = |c: char| !c.is_control() || c == '\n';
            assert!(text.chars().all(is_safe), "seed {seed}: {text:?}");
        }
        if let Some(plan) = plan {
            assert!(!plan.definitions().is_empty(), "seed {seed}");
        }
    }
}

#[test]
fn mangled_logs_are_read_or_refused() {
    for seed in 0..ROUNDS {
        let text = mangled(EXCERPT, &mut Dice(seed));
        if let Ok(log) = RptLog::read(&text) {
            for one in vintage::rpt::imported(&log) {
                assert!(!one.name.is_empty(), "seed {seed}");
            }
        }
    }
}

#[test]
fn mangled_logs_of_diskrand_are_read_or_refused() {
    let whole = DiskRandLog::read(DISKRAND_LOG).expect("a log");
    for seed in 0..ROUNDS {
        let text = mangled(DISKRAND_LOG, &mut Dice(seed));
        std::hint::black_box(begins_log(&text));
        let Ok(log) = DiskRandLog::read(&text) else {
            continue;
        };
        for doubt in doubts(&log) {
            assert!(
                !doubt.text().contains("NaN"),
                "seed {seed}: {}",
                doubt.text()
            );
        }
        let groups = groups(&log);
        let timed = groups.iter().flatten();
        let count: usize = timed.clone().map(|one| one.ends_s.len()).sum();
        assert_eq!(count, log.transactions(), "seed {seed}");
        for one in timed {
            assert!(one.began_s().is_finite(), "seed {seed}");
            assert!(one.ends_s.is_sorted(), "seed {seed}: {:?}", one.ends_s);
        }
        let joined = whole.clone().with_transactions(log.clone());
        let all = whole.transactions() + log.transactions();
        assert_eq!(joined.transactions(), all, "seed {seed}");
    }
}

#[test]
fn noise_is_no_text() {
    let mut dice = Dice(7);
    let noise: Vec<u8> = (0..1 << 16).map(|_| dice.below(256) as u8).collect();
    assert!(text_of(&noise).is_err());
}
