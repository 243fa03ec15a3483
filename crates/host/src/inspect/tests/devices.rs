//! Devices below a target, and other users of them.

use results::environment::TargetKind;

use super::{GIB, InspectedPath, Machine, check_codes, device_names, directory};
use crate::inspect::{
    BytesMoved, Layers, buffered_loops, has_poll_queues, request_bytes, short_seeks,
    writes_of_each_byte,
};

#[test]
fn ext4_on_a_partition_of_an_nvme_disk() {
    let machine = Machine::new().mount("259:2", "/home", "rw,relatime - ext4 /dev/nvme0n1p2 rw");
    let disk = "pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1";
    machine.device(
        disk,
        "259:0",
        &[
            ("queue/rotational", "0\n"),
            ("queue/scheduler", "[none] mq-deadline\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/nr_requests", "1023\n"),
            ("queue/discard_max_bytes", "2199023255040\n"),
            ("device/model", "Fast Disk 980   \n"),
            ("device/transport", "pcie\n"),
        ],
    );
    machine.device(
        &format!("{disk}/nvme0n1p2"),
        "259:2",
        &[("partition", "2\n"), ("ro", "0\n")],
    );
    let (target, cautions) = machine.inspect(&directory("/home/me"));
    let system = target.file_system.as_ref().expect("a file system");
    assert_eq!(
        (system.kind.as_str(), system.mount_point.as_str()),
        ("ext4", "/home")
    );
    assert_eq!(device_names(&target), ["nvme0n1p2", "nvme0n1"]);
    let part = &target.devices[0];
    assert_eq!(part.partition_of.as_deref(), Some("nvme0n1"));
    assert_eq!(part.scheduler.as_deref(), Some("none"));
    assert_eq!(part.size_bytes, Some(GIB));
    let disk = &target.devices[1];
    assert_eq!(disk.transport.as_deref(), Some("nvme"));
    assert_eq!(disk.model.as_deref(), Some("Fast Disk 980"));
    assert_eq!((disk.rotational, disk.discard), (Some(false), Some(true)));
    check_codes(&cautions, &["volatile-write-cache"]);
}

#[test]
fn a_disk_shared_with_root_and_swap_and_busy() {
    let machine = Machine::new()
        .mount("8:1", "/", "rw - ext4 /dev/sda1 rw")
        .mount("8:2", "/data", "rw - xfs /dev/sda2 rw");
    let disk = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";
    machine.device(disk, "8:0", &[("inflight", "       2        1\n")]);
    for part in 1..4 {
        let number = format!("8:{part}");
        machine.device(
            &format!("{disk}/sda{part}"),
            &number,
            &[("partition", "1\n")],
        );
    }
    machine.file(
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/sda3 partition 1 0 -2\n",
    );
    let (target, cautions) = machine.inspect(&directory("/data"));
    assert_eq!(target.devices[1].transport.as_deref(), Some("sata"));
    check_codes(&cautions, &["shared-device", "other-io"]);
    assert!(
        cautions[0].cause.contains("serves /, swap /dev/sda3,"),
        "{}",
        cautions[0].cause
    );
    assert!(
        cautions[1].cause.starts_with("3 requests of others"),
        "{}",
        cautions[1].cause
    );

    let whole = InspectedPath {
        kind: TargetKind::BlockDevice,
        device: Some("8:0".to_owned()),
        space: None,
        ..directory("/dev/sda")
    };
    let (target, cautions) = machine.inspect(&whole);
    assert_eq!((target.size_bytes, target.file_system), (Some(GIB), None));
    check_codes(&cautions, &["device-in-use", "other-io"]);
}

#[test]
fn dm_crypt_over_sata_is_found_by_the_name_of_its_mapping() {
    let machine = Machine::new().mount("0:50", "/safe", "rw - bcachefs /dev/mapper/home rw");
    let disk = "pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda";
    machine.device(disk, "8:0", &[("queue/rotational", "1\n")]);
    machine.device(
        "virtual/block/dm-0",
        "252:0",
        &[
            ("dm/name", "home\n"),
            ("dm/uuid", "CRYPT-LUKS2-0123-home\n"),
        ],
    );
    machine.slave("virtual/block/dm-0", disk);
    let (target, cautions) = machine.inspect(&directory("/safe"));
    assert_eq!(device_names(&target), ["dm-0", "sda"]);
    let [mapping, disk] = &target.devices[..] else {
        panic!("two devices")
    };
    assert_eq!(mapping.mapping.as_deref(), Some("crypt"));
    assert_eq!(
        (mapping.transport.as_deref(), mapping.model.as_deref()),
        (Some("dm"), Some("home"))
    );
    assert_eq!(
        (disk.transport.as_deref(), disk.rotational),
        (Some("sata"), Some(true))
    );
    check_codes(&cautions, &["copy-on-write", "encryption"]);
    // A rotating disk, wherever the mapping is: its heads hardly move within a small file.
    let few = short_seeks(&target, GIB / 100).expect("a warning");
    assert!(
        few.cause
            .contains("10.2 MiB of the 1 GiB of dm-0 were used (1.00 %)"),
        "{few:?}"
    );
    assert_eq!(short_seeks(&target, GIB / 5), None);
    let mut changed = target;
    changed.devices[1].transport = Some("virtio".into());
    assert_eq!(short_seeks(&changed, GIB / 100), None);
    changed.devices[1].transport = Some("sata".into());
    changed.devices[1].rotational = Some(false);
    assert_eq!(short_seeks(&changed, GIB / 100), None);
}

#[test]
fn a_thin_volume_is_told_from_a_plain_one() {
    let machine = Machine::new().mount("252:3", "/thin", "rw - ext4 /dev/mapper/v-t rw");
    machine.device(
        "virtual/block/dm-2",
        "252:2",
        &[("dm/uuid", "LVM-abc-tpool\n")],
    );
    machine.device(
        "virtual/block/dm-3",
        "252:3",
        &[("dm/uuid", "LVM-abcdef\n")],
    );
    machine.slave("virtual/block/dm-3", "virtual/block/dm-2");
    let (_, cautions) = machine.inspect(&directory("/thin"));
    check_codes(&cautions, &["thin-provisioned", "mapped-device"]);
}

#[test]
fn a_loop_device_stands_on_the_disk_of_its_file() {
    let machine = Machine::new()
        .mount("254:0", "/", "rw - ext4 /dev/vda rw")
        .mount("0:30", "/fast", "rw - tmpfs none rw")
        .mount("7:0", "/a", "rw,sync - ext4 /dev/loop0 rw,nobarrier")
        .mount("7:1", "/b", "rw - ext4 /dev/loop1 rw");
    machine.device(
        "pci0000:00/0000:00:02.0/virtio1/block/vda",
        "254:0",
        &[("queue/write_cache", "write back\n")],
    );
    let files = [
        ("loop/backing_file", "/images/a.img\n"),
        ("loop/dio", "0\n"),
    ];
    machine.device("virtual/block/loop0", "7:0", &files);
    let files = [("loop/backing_file", "/fast/b.img\n"), ("loop/dio", "0\n")];
    machine.device("virtual/block/loop2", "7:2", &files);
    let files = [
        ("loop/backing_file", "/images/a.img\n"),
        ("loop/dio", "1\n"),
    ];
    machine.device("virtual/block/loop3", "7:3", &files);
    let files = [("loop/backing_file", "/fast/b.img\n"), ("loop/dio", "1\n")];
    machine.device("virtual/block/loop1", "7:1", &files);
    let (target, cautions) = machine.inspect(&directory("/a"));
    assert_eq!(device_names(&target), ["loop0", "vda"]);
    assert!(!target.memory_backed);
    check_codes(
        &cautions,
        &[
            "durability-weakened",
            "synchronous-mount",
            "loop-buffered",
            "volatile-write-cache",
            "virtual-disk",
            "shared-device",
        ],
    );
    let (target, cautions) = machine.inspect(&directory("/b"));
    assert_eq!(device_names(&target), ["loop1"]);
    assert!(target.memory_backed);
    check_codes(&cautions, &["memory-backed"]);
    for (device, read, written) in [
        ("loop0", 80, 16),
        ("loop2", 8, 8),
        ("loop3", 8, 8),
        ("vda", 8, 24),
    ] {
        let text = format!("1 0 {read} 0 1 0 {written} 0 0 0 0\n");
        machine.file(&format!("sys/class/block/{device}/stat"), &text);
    }
    let layers = |device| buffered_loops(&machine.facts(), device);
    let sectors = |read: u64, written: u64| BytesMoved {
        read: read * 512,
        written: written * 512,
    };
    let expected = Layers {
        above: sectors(80, 16),
        below: sectors(8, 24),
    };
    assert_eq!(layers("loop0"), Some(expected));
    for device in ["loop1", "loop2", "loop3", "vda", "none"] {
        assert_eq!(layers(device), None, "{device}");
    }
}

#[test]
fn control_groups_that_throttle_the_disk_are_named() {
    let check = |mount: &str, own: &str, file: &str, text: &str, expected: (u64, &str)| {
        let machine = Machine::new()
            .mount("8:1", "/d", "rw - ext4 /dev/sda1 rw")
            .mount("0:9", "/sys/fs/cgroup", mount);
        let disk = "pci0/ata1/block/sda";
        machine.device(disk, "8:0", &[]);
        machine.device(&format!("{disk}/sda1"), "8:1", &[("partition", "1\n")]);
        machine.file("proc/self/cgroup", own);
        machine.file("sys/fs/cgroup/g/cgroup.procs", "");
        machine.file(&format!("sys/fs/cgroup/{file}"), text);
        let (target, cautions) = machine.inspect(&directory("/d"));
        for device in &target.devices {
            let limits = device.throttled.as_ref().expect("a limit");
            assert_eq!(limits.read_bytes_per_second, Some(expected.0), "{file}");
            assert!(limits.group.ends_with(expected.1), "{}", limits.group);
        }
        check_codes(&cautions, &["io-throttled"]);
    };
    let (first, second) = ("rw - cgroup cgroup rw,blkio", "rw - cgroup2 cgroup2 rw");
    let rule = "8:16 5\n8:0 20971520\n";
    let file = "blkio.throttle.read_bps_device";
    check(
        first,
        "7:blkio:/g\n",
        &format!("g/{file}"),
        rule,
        (20_971_520, "cgroup/g"),
    );
    check(first, "7:blkio:/g\n", file, rule, (20_971_520, "fs/cgroup"));
    let rule = "8:0 rbps=1048576 wbps=max riops=max wiops=max\n";
    check(
        second,
        "0::/g/gone\n",
        "io.max",
        rule,
        (1_048_576, "fs/cgroup"),
    );
    check(second, "0::/g\n", "g/io.max", rule, (1_048_576, "cgroup/g"));
}

#[test]
fn a_partition_is_polled_as_its_disk_is() {
    let machine = Machine::new();
    for (major, disk, polls) in [(259, "nvme0n1", "1\n"), (254, "vda", "0\n")] {
        let queue = [("queue/io_poll", polls)];
        machine.device(disk, &format!("{major}:0"), &queue);
        machine.device(&format!("{disk}/{disk}p1"), &format!("{major}:1"), &[]);
    }
    for (name, expected) in [
        ("nvme0n1", true),
        ("nvme0n1p1", true),
        ("vda", false),
        ("vdap1", false),
        ("sda", false),
    ] {
        let found = has_poll_queues(&machine.facts(), name);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_partition_has_the_requests_of_its_disk() {
    let machine = Machine::new();
    let queue = [
        ("queue/max_sectors_kb", "1280\n"),
        ("queue/max_segments", "254\n"),
        ("queue/chunk_sectors", "0\n"),
        ("queue/minimum_io_size", "512\n"),
    ];
    machine.device("vda", "254:0", &queue);
    machine.device("vda/vda1", "254:1", &[]);
    for (name, expected) in [
        ("vda", Some(254 << 12)),
        ("vda1", Some(254 << 12)),
        ("sda", None),
    ] {
        assert_eq!(request_bytes(&machine.facts(), name), expected, "{name}");
    }
}

#[test]
fn a_file_system_that_journals_data_writes_it_twice() {
    let machine = Machine::new();
    machine.file("proc/fs/ext4/sda1/options", "rw\ndata=journal\ncommit=5\n");
    machine.file("proc/fs/ext4/sda2/options", "rw\ndata=ordered\n");
    let of = |device| writes_of_each_byte(&machine.facts(), device);
    assert_eq!(["sda1", "sda2", "sda3"].map(of), [2, 1, 1]);
}
