//! Commands that measure in rounds or go on for a time, and what removes their left-overs.

use super::{Case, PLAIN};

pub const CURVE: Case = Case {
    name: "curve",
    args: &[
        "curve",
        "--budget",
        "1s",
        "--size",
        "4MiB",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 900,
    ..PLAIN
};

pub const SSD: Case = Case {
    name: "ssd",
    args: &[
        "ssd",
        "--test",
        "wsat,tp",
        "--quick",
        "--round",
        "100ms",
        "--rounds",
        "4",
        "--depth",
        "4",
        "--size",
        "4MiB",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 900,
    ..PLAIN
};

pub const FIO: Case = Case {
    name: "fio",
    args: &[
        "fio",
        "--directory=.",
        "--size=1M",
        "--time_based",
        "--runtime=50ms",
        "--name=first",
        "--rw=randwrite",
        "--name=second",
        "--stonewall",
        "--rw=randread",
        "--nrfiles=8",
        "--openfiles=2",
        "--reserve",
        "0",
    ],
    span_ms: 300,
    ..PLAIN
};

pub const REPLAY: Case = Case {
    name: "replay",
    args: &[
        "replay",
        "trace",
        ".",
        "--size",
        "8MiB",
        "--reserve",
        "0",
        "-q",
    ],
    files: &[(
        "trace",
        "fio version 3 iolog\n0 /old add\n0 /old open\n0 /old write 0 4096\n1 /old read 0 4096\n\
         40 /old write 8192 4096\n80 /old read 8192 4096\n",
    )],
    span_ms: 200,
    ..PLAIN
};

pub const COMPARE: Case = Case {
    name: "compare",
    args: &[
        "compare",
        ".",
        ".",
        "--measure",
        "transfer",
        "--set",
        "size=256KiB",
        "--rounds",
        "3",
        "--reserve",
        "0",
        "-q",
    ],
    span_ms: 200,
    ..PLAIN
};

pub const WATCH: Case = Case {
    name: "watch",
    args: &["watch", ".", "--every", "2ms", "--for", "300ms", "-q"],
    span_ms: 400,
    ..PLAIN
};

/// What a killed run left is removed.
pub const CLEAN: Case = Case {
    name: "clean",
    args: &["clean", ".", "--yes"],
    span_ms: 10,
    ..PLAIN
};
