//! A target that lies in each of the ways that storage does is found out, and an honest one is not
//! accused.

mod support;

use support::{Lie, Target, World};
use verify::{Class, ExpectedDurability};

/// Worlds of each kind.
const SEEDS: u64 = 100;

/// Run `SEEDS` worlds in which one write is treated so; every one must be found, as that class and
/// where it was, and nothing else may be found but what the lie did elsewhere.
fn check(class: Class, lie: Lie) {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        let harm = world.run_with(lie);
        let found = world.read_back(ExpectedDurability::Acknowledged);
        let at_harm = found.iter().filter(|it| harm.contains(it));
        let classes: Vec<Class> = at_harm.map(|it| it.class).collect();
        assert!(
            classes.contains(&class),
            "seed {seed}: {lie:?} at {harm:?}: {found:?}"
        );
        let beside = found.iter().find(|it| !harm.covers(it));
        assert_eq!(beside, None, "seed {seed}: {lie:?} at {harm:?}");
    }
}

#[test]
fn a_lost_write_is_found() {
    check(Class::Lost, Lie::Lose);
}

#[test]
fn a_stale_block_is_found() {
    check(Class::Stale, Lie::KeepOld);
}

#[test]
fn a_misplaced_write_is_found() {
    check(Class::Misplaced, Lie::Misplace);
}

#[test]
fn a_torn_write_is_found() {
    check(Class::Torn, Lie::Tear);
}

#[test]
fn a_flipped_bit_is_found() {
    check(Class::Flipped, Lie::Flip);
}

#[test]
fn an_honest_target_is_not_accused() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        world.run();
        assert_eq!(world.found_while_running(), &[], "seed {seed}");
        assert_eq!(
            world.read_back(ExpectedDurability::Acknowledged),
            [],
            "seed {seed}"
        );
    }
}

/// Unflushed writes are kept or dropped by chance, sector by sector; flushed ones are kept.
#[test]
fn a_thousand_crashes_raise_no_false_alarm() {
    let mut dropped = 0;
    for seed in 0..1000 {
        let mut world = World::new(seed);
        world.run();
        dropped += world.crash();
        assert_eq!(
            world.read_back(ExpectedDurability::Flushed),
            [],
            "seed {seed}"
        );
    }
    assert!(dropped > 10_000, "{dropped} sectors dropped are no test");
}

/// The same crash, told that acknowledged writes must be there, is an accusation: the rule for
/// crashes is what makes the test above pass.
#[test]
fn without_the_rule_for_crashes_most_are_accused() {
    let accused = (0..100).filter(|&seed| {
        let mut world = World::new(seed);
        world.run();
        world.crash();
        !world.read_back(ExpectedDurability::Acknowledged).is_empty()
    });
    assert!(accused.count() > 90);
}

/// A flush that was acknowledged and not carried out shows after the crash.
#[test]
fn a_lost_flush_is_found() {
    for seed in 0..SEEDS {
        let mut world = World::with_target(seed, Target::without_flushes());
        world.run();
        world.flush();
        world.crash();
        let found = world.read_back(ExpectedDurability::Flushed);
        let is_old = |class| class == Class::Lost || class == Class::Stale || class == Class::Torn;
        assert!(!found.is_empty(), "seed {seed}");
        assert!(
            found.iter().all(|it| is_old(it.class)),
            "seed {seed}: {found:?}"
        );
    }
}

/// A state of which only some had reached its own disk, each block's words as they were at some
/// earlier moment, knows less; what it says is still true.
#[test]
fn an_old_state_raises_no_false_alarm() {
    for seed in 0..300 {
        let mut world = World::new(seed);
        world.run();
        world.remember();
        world.run();
        world.crash();
        let found = world.read_back_by_old_state();
        assert_eq!(found, [], "seed {seed}");
    }
}

#[test]
fn a_read_while_writes_are_under_way_may_see_either() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        world.run();
        assert!(world.reads_checked() > 40, "seed {seed}");
        assert!(world.overlaps() > 0, "seed {seed}: no writes overlapped");
        assert_eq!(world.found_while_running(), &[], "seed {seed}");
    }
}

/// Bug: where a second write was under way while the first was read, and so either might be there,
/// the half that never came was called lost.
#[test]
fn a_torn_first_write_is_torn_while_another_is_under_way() {
    const LEN: u64 = 4096;
    for unit in [512, LEN] {
        let lens = [LEN];
        let words = verify::new_words(verify::words_needed(unit, &lens));
        let ledger = verify::Ledger::new(7, unit, &lens, words).expect("a ledger");
        let mut first = vec![0xa5; LEN as usize];
        ledger.begin_write((0, 0), &mut first, 0);
        ledger.end_write(0, 0, LEN, verify::WriteOutcome::Done);
        let floors = ledger.begin_read(0, 0, LEN);
        let mut second = vec![0x5a; LEN as usize];
        ledger.begin_write((0, 0), &mut second, 0);
        let (half, none) = (LEN as usize / 2, vec![0; LEN as usize]);
        let read = |there: &[u8]| {
            let bytes = [&there[..half], &none[half..]].concat();
            let found = ledger.end_read(0, 0, &bytes, &floors);
            let classes: Vec<Class> = found.iter().map(|it| it.class).collect();
            (found.iter().map(|it| it.bytes).sum::<u64>(), classes)
        };
        for there in [&first, &second] {
            let (bytes, classes) = read(there);
            assert_eq!(bytes, LEN / 2, "unit {unit}: {classes:?}");
            assert!(
                classes.iter().all(|it| *it == Class::Torn),
                "unit {unit}: {classes:?}"
            );
        }
        let (bytes, classes) = read(&none);
        assert_eq!(bytes, LEN, "unit {unit}: {classes:?}");
        assert!(
            classes.iter().all(|it| *it == Class::Lost),
            "unit {unit}: {classes:?}"
        );
        assert_eq!(ledger.end_read(0, 0, &first, &floors), [], "unit {unit}");
        let mixed = [&second[..half], &first[half..]].concat();
        assert_eq!(ledger.end_read(0, 0, &mixed, &floors), [], "unit {unit}");
    }
}
