//! State of a RAID below a target.

use results::environment::{Caution, RaidActivity, TargetDescription};

use super::{Machine, check_codes, device_names, directory};

/// Btrfs has an anonymous device number: the mount source names one device, sysfs the others.
fn btrfs(missing: &str, operation: &str) -> Machine {
    let machine = Machine::new().mount(
        "0:44",
        "/pool",
        "rw - btrfs /dev/sdb rw,compress=zstd:3,subvol=/a",
    );
    for (name, number) in [("sdb", "8:16"), ("sdc", "8:32")] {
        let place = format!("pci0000:00/ata2/host1/block/{name}");
        machine.device(&place, number, &[]);
        if name == "sdb" || missing == "0" {
            let link = format!("sys/fs/btrfs/1234-abcd/devices/{name}");
            machine.link(&link, &format!("sys/devices/{place}"));
        }
    }
    let own = "sys/fs/btrfs/1234-abcd";
    machine.file(&format!("{own}/devinfo/1/missing"), "0\n");
    machine.file(&format!("{own}/devinfo/2/missing"), missing);
    machine.file(
        &format!("{own}/allocation/data/raid1/total_bytes"),
        "1073741824\n",
    );
    machine.file(&format!("{own}/allocation/data/single/total_bytes"), "0\n");
    machine.file(&format!("{own}/exclusive_operation"), operation);
    machine.file("sys/fs/btrfs/features/raid56", "0\n");
    machine
}

#[test]
fn btrfs_raid1_whole_degraded_and_replacing() {
    let check = |missing, operation, state, names: &[&str], code: Option<&str>| {
        let (target, cautions) = btrfs(missing, operation).inspect(&directory("/pool/x"));
        let raid = target.raid.as_ref().expect("a raid");
        assert_eq!((raid.state, raid.level.as_deref()), (state, Some("raid1")));
        assert_eq!(raid.members, Some(2));
        assert_eq!(device_names(&target), names);
        let codes = ["compression", "copy-on-write"].into_iter().chain(code);
        check_codes(&cautions, &codes.collect::<Vec<_>>());
    };
    check("0", "none\n", RaidActivity::Normal, &["sdb", "sdc"], None);
    check(
        "1",
        "none\n",
        RaidActivity::Degraded,
        &["sdb"],
        Some("raid-degraded"),
    );
    let both = &["sdb", "sdc"];
    check(
        "0",
        "device replace",
        RaidActivity::Replacing,
        both,
        Some("raid-replacing"),
    );
    let balancing = RaidActivity::Rebuilding { percent: None };
    check("0", "balance\n", balancing, both, Some("raid-rebuilding"));
}

fn md(mdstat: &str) -> (TargetDescription, Vec<Caution>) {
    let machine = Machine::new().mount("9:0", "/raid", "rw - xfs /dev/md0 rw");
    machine.device("virtual/block/md0", "9:0", &[("md/level", "raid5\n")]);
    for (name, number) in [("sdb", "8:16"), ("sdc", "8:32"), ("sdd", "8:48")] {
        let place = format!("pci0000:00/ata2/host1/block/{name}");
        machine.device(&place, number, &[]);
        machine.slave("virtual/block/md0", &place);
    }
    machine.file("proc/mdstat", mdstat);
    machine.inspect(&directory("/raid"))
}

#[test]
fn md_rebuilding_checking_degraded_and_whole() {
    let check = |line: &str, counts: &str, state, missing, codes: &[&str]| {
        let (target, cautions) = md(&format!(
            "Personalities : [raid6] [raid5] [raid4]\nmd127 : active raid1 sdx[0]\n      \
             9 blocks [2/1] [U_]\n\nmd0 : active raid5 sdd[3] sdc[1] sdb[0]\n      \
             130048 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/{counts}]\n      \
             {line}\n\nunused devices: <none>\n"
        ));
        let raid = target.raid.as_ref().expect("a raid");
        assert_eq!((raid.state, raid.missing), (state, Some(missing)), "{line}");
        assert_eq!(device_names(&target), ["md0", "sdb", "sdc", "sdd"]);
        check_codes(&cautions, codes);
    };
    check(
        "[==>..................]  recovery = 12.6% (8192/65024) finish=0.4min speed=2048K/sec",
        "2] [UU_",
        RaidActivity::Rebuilding {
            percent: Some(12.6),
        },
        1,
        &["raid-rebuilding"],
    );
    check(
        "resync=DELAYED",
        "3] [UUU",
        RaidActivity::Rebuilding { percent: None },
        0,
        &["raid-rebuilding"],
    );
    check(
        "[>....]  check =  3.5% (1/2) finish=1min speed=1K/sec",
        "3] [UUU",
        RaidActivity::Checking { percent: Some(3.5) },
        0,
        &["raid-checking"],
    );
    check("", "2] [UU_", RaidActivity::Degraded, 1, &["raid-degraded"]);
    check("bitmap: 0/1 pages", "3] [UUU", RaidActivity::Normal, 0, &[]);
}

#[test]
fn zfs_tells_the_state_of_its_pool() {
    let machine = Machine::new().mount("0:70", "/t", "rw - zfs tank/data rw");
    machine.file("proc/spl/kstat/zfs/tank/state", "DEGRADED\n");
    let (target, cautions) = machine.inspect(&directory("/t"));
    assert_eq!(
        target.raid.map(|raid| raid.state),
        Some(RaidActivity::Degraded)
    );
    check_codes(
        &cautions,
        &["compression", "copy-on-write", "raid-degraded"],
    );
}
