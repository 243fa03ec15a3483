//! Arrays against the counts that follow from their layout.

use crate::support::{MS, WRITE, command, disk, finish, outstanding};
use random::{Purpose, Stream};
use sim::{
    Action, Array, ArrayActivity, ArrayLayout, ArrayMode, ArraySpec, Command, Device, Disk,
    Operations, RaidLevel, SimSpec,
};
use units::{Duration, Instant};

const UNIT: u64 = 16 << 10;

fn array(level: RaidLevel, disks: usize, mode: ArrayMode) -> Array {
    let spec = ArraySpec {
        layout: ArrayLayout {
            level,
            disks,
            unit: UNIT,
        },
        mode,
        lost: None,
    };
    array_of(&spec)
}

fn array_of(spec: &ArraySpec) -> Array {
    let disks = (0..spec.layout.disks as u64)
        .map(|number| Box::new(Disk::new(disk(), number * MS)) as Box<dyn Device>)
        .collect();
    Array::new(spec, disks)
}

/// Random commands of 4 KiB over all of an array.
fn random(action: Action, seed: u64, size: u64, count: usize) -> impl Iterator<Item = Command> {
    let mut stream = Stream::new(seed, 0, Purpose::Address);
    let place = move || stream.below(size / 4096) * 4096;
    std::iter::repeat_with(place)
        .take(count)
        .map(move |offset| command(action, offset, 4096))
}

/// Operations of the disks for each small command.
fn operations(array: &mut Array, action: Action, count: usize) -> (f64, Vec<Operations>) {
    let size = array.size();
    outstanding(array, 4, random(action, 9, size, count));
    let all = array.operations().to_vec();
    let sum: u64 = all.iter().map(|one| one.reads + one.writes).sum();
    (sum as f64 / count as f64, all)
}

fn check(array: &mut Array, action: Action, expected: f64) -> Vec<Operations> {
    let (found, all) = operations(array, action, 80_000);
    assert!(
        (found / expected - 1.0).abs() < 0.02,
        "{found} and not {expected}: {all:?}"
    );
    all
}

/// RAID-5: a read is one, a small write four. With a disk lost, a read is (N-1)/N + (N-1)/N, and a
/// write (N-1)/N + 1/N + 4 (N-2)/N.
#[test]
fn raid_5_does_as_many_operations_as_the_layout_says() {
    for disks in [3, 5, 8] {
        let n = disks as f64;
        let normal = check(
            &mut array(RaidLevel::Raid5, disks, ArrayMode::Normal),
            Action::Read,
            1.0,
        );
        check(
            &mut array(RaidLevel::Raid5, disks, ArrayMode::Normal),
            WRITE,
            4.0,
        );
        let reduced = &mut array(RaidLevel::Raid5, disks, ArrayMode::Reduced);
        let reduced = check(reduced, Action::Read, 2.0 * (n - 1.0) / n);
        let writes = (n - 1.0) / n + 1.0 / n + 4.0 * (n - 2.0) / n;
        check(
            &mut array(RaidLevel::Raid5, disks, ArrayMode::Reduced),
            WRITE,
            writes,
        );
        // The load of each disk that is left doubles.
        let mean = |all: &[Operations]| {
            let survivors = &all[..disks - 1];
            survivors.iter().map(|one| one.reads as f64).sum::<f64>() / (n - 1.0)
        };
        let ratio = mean(&reduced) / mean(&normal);
        assert!((ratio - 2.0).abs() < 0.04, "{disks} disks: {ratio}");
        assert_eq!(
            reduced[disks - 1],
            Operations::default(),
            "the lost one is left alone"
        );
    }
}

#[test]
fn a_whole_stripe_is_written_without_reading() {
    let mut array = array(RaidLevel::Raid5, 5, ArrayMode::Normal);
    finish(&mut array, Instant(0), command(WRITE, 8 * UNIT, 4 * UNIT));
    let all = array.operations();
    assert!(
        all.iter().all(|one| (one.reads, one.writes) == (0, 1)),
        "{all:?}"
    );
}

#[test]
fn mirrors_write_both_and_share_reads() {
    let all = check(
        &mut array(RaidLevel::Raid1, 4, ArrayMode::Normal),
        Action::Read,
        1.0,
    );
    assert!(
        all.iter().all(|one| one.reads.abs_diff(20_000) < 500),
        "{all:?}"
    );
    check(
        &mut array(RaidLevel::Raid1, 4, ArrayMode::Normal),
        WRITE,
        2.0,
    );
    let reduced = check(
        &mut array(RaidLevel::Raid1, 2, ArrayMode::Reduced),
        Action::Read,
        1.0,
    );
    assert_eq!(reduced[0].reads, 80_000);
    check(
        &mut array(RaidLevel::Raid1, 2, ArrayMode::Reduced),
        WRITE,
        1.0,
    );
}

#[test]
fn stripes_carry_as_much_as_all_their_disks() {
    let count = 4000;
    let time = |disks: usize, depth| {
        let mut array = array(RaidLevel::Raid0, disks, ArrayMode::Normal);
        let size = array.size();
        outstanding(&mut array, depth, random(Action::Read, 4, size, count))
    };
    let (one, four) = (time(2, 16), time(8, 64));
    let ratio = one.as_nanos() as f64 / four.as_nanos() as f64;
    assert!((3.6..4.4).contains(&ratio), "{ratio}");
}

/// A rebuild reads every other disk and writes the new one, stripe by stripe, and is no faster than
/// its cap; after that the array is whole.
#[test]
fn a_rebuild_takes_as_long_as_its_cap_says_and_makes_the_array_whole() {
    let rate = 0.4e6;
    let mode = ArrayMode::Rebuild {
        at_a_time: 1,
        rate_max: Some(rate),
        held_at: None,
    };
    let mut array = array(RaidLevel::Raid5, 5, mode);
    let (disk_bytes, mut now) = (disk().capacity, Instant(0));
    while let Some(at) = array.next() {
        now = at;
        array.step(at, &mut Vec::new());
    }
    let stripes = disk_bytes / UNIT;
    let all = array.operations();
    assert_eq!((all[4].reads, all[4].writes), (0, stripes));
    assert!(
        all[..4]
            .iter()
            .all(|one| (one.reads, one.writes) == (stripes, 0)),
        "{all:?}"
    );
    let expected = disk_bytes as f64 / rate;
    let found = now.0 as f64 / 1e9;
    assert!(
        (found / expected - 1.0).abs() < 0.01 && found >= expected * 0.999,
        "{found}"
    );
    let before = all.to_vec();
    assert_eq!(activity(&array), ArrayActivity::Whole);
    let size = array.size();
    outstanding(&mut array, 1, random(Action::Read, 1, size, 1000));
    let reads: u64 = array.operations().iter().map(|one| one.reads).sum();
    assert_eq!(
        reads,
        before.iter().map(|one| one.reads).sum::<u64>() + 1000
    );
}

fn activity(array: &Array) -> ArrayActivity {
    array.array_state().expect("an array").activity
}

/// The hundredth after the share is written again and again; the rest of the disk never is.
#[test]
fn a_rebuild_that_is_held_goes_on_and_never_makes_the_array_whole() {
    let mode = ArrayMode::Rebuild {
        at_a_time: 4,
        rate_max: None,
        held_at: Some(0.5),
    };
    let mut array = array(RaidLevel::Raid5, 5, mode);
    let stripes = disk().capacity / UNIT;
    while array.operations()[4].writes < 3 * stripes {
        let at = array.next().expect("there is always a stripe to rebuild");
        array.step(at, &mut Vec::new());
        match activity(&array) {
            ArrayActivity::Rebuilding { share } => {
                assert!((0.499..0.511).contains(&share), "{share}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Half of what the new disk should hold is read from it, the other half from all others.
    let held = array.operations()[4].reads;
    let size = array.size();
    outstanding(&mut array, 1, random(Action::Read, 1, size, 10_000));
    let of_new = (array.operations()[4].reads - held) as f64;
    assert!((of_new / 1000.0 - 1.0).abs() < 0.1, "{of_new} of 10,000");
}

#[test]
fn a_reduced_array_says_so_through_whatever_is_around_it() {
    let state = |text: &str| {
        SimSpec::parse(text)
            .expect("a machine")
            .device(1)
            .array_state()
    };
    let reduced = state("sim:raid5-rz28?mode=reduced").expect("an array");
    assert_eq!(
        (reduced.disks, reduced.activity),
        (5, ArrayActivity::Reduced)
    );
    let behind_a_host = "sim:ppro?raid=1&disks=2&unit=64K&mode=rebuild";
    let rebuilt = state(behind_a_host).expect("an array");
    assert_eq!(rebuilt.activity, ArrayActivity::Rebuilding { share: 0.0 });
    assert_eq!(state("sim:rz28"), None);
}

#[test]
fn a_disk_lost_later_makes_reads_dearer_and_without_redundancy_impossible() {
    let lost_at = Instant::START + Duration::from_secs(10);
    let spec = |level, disks| ArraySpec {
        layout: ArrayLayout {
            level,
            disks,
            unit: UNIT,
        },
        mode: ArrayMode::Normal,
        lost: Some((0, lost_at)),
    };
    let mut array = array_of(&spec(RaidLevel::Raid5, 5));
    let size = array.size();
    outstanding(&mut array, 1, random(Action::Read, 3, size, 500));
    let early: u64 = array.operations().iter().map(|one| one.reads).sum();
    assert_eq!(early, 500);
    let mut now = lost_at;
    for command in random(Action::Read, 4, size, 5000) {
        now = finish(&mut array, now, command);
    }
    let late: u64 = array.operations().iter().map(|one| one.reads).sum();
    assert!(
        ((late - early) as f64 / 5000.0 / 1.6 - 1.0).abs() < 0.03,
        "{late}"
    );

    let mut stripes = array_of(&spec(RaidLevel::Raid0, 2));
    let mut answers = Vec::new();
    stripes.step(lost_at, &mut answers);
    stripes.begin(lost_at, command(Action::Read, 0, 4096));
    stripes.step(lost_at, &mut answers);
    assert!(answers[0].result.is_err(), "{answers:?}");
}
