//! Passes end when they should.

use procedure::{PassCount, RoundsRule, TransferShape, transfer_doubts};
use results::{TransferKind, TransferMode, TransferPass};
use units::{Bytes, Duration};

const UNTIL_PRECISE: RoundsRule = RoundsRule {
    rounds: None,
    precision: 0.02,
    rounds_min: 1,
    rounds_max: 1000,
    budget: Duration::from_secs(3600),
};

/// Passes of 1 MB that take these seconds; how many were asked for, and whether that was precise.
fn run(rule: RoundsRule, mut seconds: impl FnMut() -> f64) -> (usize, bool) {
    let mut count = PassCount::new(rule);
    let mut passes = 0;
    while let Some(number) = count.next_pass() {
        passes += 1;
        assert_eq!(number as usize, passes);
        count.record(1_000_000, Duration::from_secs_f64(seconds()));
    }
    (passes, count.is_precise())
}

#[test]
fn passes_without_variation_end_when_the_second_look_confirms_the_first() {
    assert_eq!(run(UNTIL_PRECISE, || 0.5), (13, true));
}

#[test]
fn a_number_of_passes_is_kept_whatever_they_say() {
    let mut odd = 0.0;
    let rule = RoundsRule {
        rounds: Some(3),
        ..UNTIL_PRECISE
    };
    let varied = || {
        odd += 1.0;
        odd
    };
    assert_eq!(run(rule, varied), (3, true));
}

#[test]
fn time_and_passes_are_limited() {
    let rule = RoundsRule {
        budget: Duration::from_secs(7),
        ..UNTIL_PRECISE
    };
    let mut flip = 0_u32;
    let mut varied = || {
        flip += 1;
        f64::from(flip % 2 * 2 + 1)
    };
    assert_eq!(run(rule, &mut varied), (3, false));
    let rule = RoundsRule {
        rounds_max: 10,
        ..UNTIL_PRECISE
    };
    assert_eq!(run(rule, varied), (10, false));
}

/// The doubts about passes that take these times, in seconds.
fn doubts(seconds: &[f64]) -> Vec<String> {
    let passes: Vec<TransferPass> = seconds
        .iter()
        .zip(1..)
        .map(|(seconds, number)| TransferPass {
            number,
            bytes: 1_000_000,
            elapsed_ns: (seconds * 1e9) as u64,
            rate: 1e6 / seconds,
            overlap_share: 1.0,
            streams: Vec::new(),
            blocks: None,
            cpu_ns: None,
            cpu_user_ns: None,
            cpu_system_ns: None,
            page_cache_share: Some(if *seconds > 1.5 { 0.0 } else { 0.9 }),
            device_rate: None,
            ended_at: None,
            ended_monotonic_ns: 0,
        })
        .collect();
    let found = transfer_doubts("read", &passes, true);
    found
        .into_iter()
        .map(|warning| warning.code.to_string())
        .collect()
}

#[test]
fn passes_that_change_have_no_one_rate() {
    let even = |place: u32| if place.is_multiple_of(2) { 1.0 } else { 1.1 };
    let steady: Vec<f64> = (0..20).map(even).collect();
    assert!(doubts(&steady).is_empty());
    let slower: Vec<f64> = (0..20)
        .map(|place| even(place) + f64::from(place) * 0.02)
        .collect();
    assert_eq!(doubts(&slower), ["drift"]);
    let cached: Vec<f64> = [2.0, 2.0, 1.0, 1.0].to_vec();
    assert_eq!(doubts(&cached), ["cache-changes"]);
}

fn shape(mode: TransferMode) -> TransferShape {
    TransferShape {
        mode,
        blocks: vec![65_536],
        size: Bytes::from_mib(5),
        streams: 2,
        writers: vec![1, 2],
        alone: true,
        rule: UNTIL_PRECISE,
    }
}

#[test]
fn streams_are_written_then_read_alone_and_together() {
    let plans = shape(TransferMode::Direct).series();
    let streams: Vec<_> = plans.iter().map(|plan| plan.streams.clone()).collect();
    assert_eq!(streams, [vec![1, 2], vec![1], vec![2], vec![1, 2]]);
    assert_eq!(plans[0].kind, TransferKind::Write);
    assert_eq!(plans[0].rule.rounds, Some(1));
    assert!(plans.iter().all(|plan| !plan.drops_cache));
    assert!(shape(TransferMode::Cold).series()[1].drops_cache);
}

#[test]
fn small_files_grow_by_doubling_up_to_the_whole() {
    let mut small = shape(TransferMode::SmallFile);
    small.streams = 1;
    let plans = small.series();
    let sizes: Vec<u64> = plans[1..].iter().map(|plan| plan.size >> 20).collect();
    assert_eq!(sizes, [1, 1, 2, 2, 4, 4, 5, 5]);
    let drops: Vec<bool> = plans[1..3].iter().map(|plan| plan.drops_cache).collect();
    assert_eq!(drops, [true, false]);
}
