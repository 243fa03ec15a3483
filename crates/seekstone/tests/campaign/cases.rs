//! The commands of the campaign, each in the shortest form that does all that it does.

mod rounds;

pub use self::rounds::{CLEAN, COMPARE, CURVE, FIO, REPLAY, SSD, WATCH};

/// A command, and what lies around it.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub args: &'static [&'static str],
    /// Files that it reads, made before.
    pub files: &'static [(&'static str, &'static str)],
    /// Commands that must have succeeded before.
    pub before: &'static [&'static [&'static str]],
    /// Names of what it makes and leaves on purpose; `*` stands for anything.
    pub keeps: &'static [&'static str],
    /// Milliseconds in which most of its work is done.
    pub span_ms: u64,
}

/// Nothing at all.
pub const EMPTY: Case = PLAIN;

const PLAIN: Case = Case {
    name: "",
    args: &[],
    files: &[],
    before: &[],
    keeps: &[],
    span_ms: 150,
};

/// What `transact`, `rpt` and `diskrand` make is the user's own file from then on.
const DATA: [&str; 2] = ["data", "data.seekstone"];

pub const RUN: Case = Case {
    name: "run",
    args: &[
        "run",
        "--budget",
        "1s",
        "--size",
        "16MiB",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 2000,
    ..PLAIN
};

pub const TRIAL: Case = Case {
    name: "trial, direct",
    args: &[
        "trial",
        "--duration",
        "50ms",
        "--size",
        "4MiB",
        "--writes",
        "100%",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..PLAIN
};

pub const TRIAL_BUFFERED: Case = Case {
    name: "trial, buffered",
    args: &[
        "trial",
        "--duration",
        "50ms",
        "--size",
        "4MiB",
        "--writes",
        "100%",
        "--reserve",
        "0",
        "-q",
        "--buffered",
        ".",
    ],
    ..PLAIN
};

pub const RAB: Case = Case {
    name: "rab",
    args: &[
        "rab",
        "-w",
        "archive",
        "--budget",
        "1s",
        "--size",
        "4MiB",
        "--reserve",
        "0",
        "-q",
        "--no-screen",
        ".",
    ],
    span_ms: 900,
    ..PLAIN
};

pub const TRANSFER: Case = Case {
    name: "transfer",
    args: &[
        "transfer",
        "--size",
        "2MiB",
        "--block",
        "64KiB",
        "--passes",
        "1",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 40,
    ..PLAIN
};

pub const RANDOM: Case = Case {
    name: "random",
    args: &[
        "random",
        "--size",
        "4MiB",
        "--spans",
        "32KiB",
        "--blocks",
        "4KiB",
        "--depths",
        "1",
        "--rounds",
        "2",
        "--writes",
        "--max-time",
        "250ms",
        "--precision",
        "50%",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 500,
    ..PLAIN
};

pub const TRANSACTIONS: Case = Case {
    name: "transactions",
    args: &[
        "transactions",
        "--size",
        "4MiB",
        "--users",
        "2",
        "--think",
        "1ms",
        "--cpu",
        "0",
        "--memory",
        "1MiB",
        "--writes",
        "50%",
        "--duration",
        "50ms",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    ..PLAIN
};

pub const FILES: Case = Case {
    name: "files",
    args: &[
        "files",
        "--passes",
        "1",
        "--tests",
        "2,6,7",
        "--state",
        "as-is",
        "--memory",
        "none",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 40,
    ..PLAIN
};

pub const METADATA: Case = Case {
    name: "files, metadata",
    args: &[
        "files",
        "--workload",
        "metadata",
        "--files",
        "20",
        "--fan-out",
        "2",
        "--passes",
        "1",
        "--state",
        "as-is",
        "--memory",
        "none",
        "--reserve",
        "0",
        "-q",
        ".",
    ],
    span_ms: 300,
    ..PLAIN
};

pub const TRANSACT: Case = Case {
    name: "transact",
    args: &[
        "transact",
        "-f",
        "data",
        "-B",
        "1MiB",
        "-C",
        "1",
        "-b",
        "4096",
        "-I",
        "4096",
        "-w",
        "1",
        "-n",
        "20",
        "--messages",
        "3",
        "--reserve",
        "0",
    ],
    keeps: &DATA,
    span_ms: 35,
    ..PLAIN
};

/// The second time around, on the file that the first made.
pub const TRANSACT_AGAIN: Case = Case {
    name: "transact, again",
    args: &[
        "transact",
        "-f",
        "data",
        "-C",
        "1",
        "-b",
        "4096",
        "-I",
        "4096",
        "-w",
        "1",
        "-n",
        "20",
        "--messages",
        "3",
        "--reserve",
        "0",
    ],
    before: &[TRANSACT.args],
    ..TRANSACT
};

pub const RPT: Case = Case {
    name: "rpt",
    args: &[
        "rpt",
        "-t",
        "t.rpt",
        "-f",
        "data",
        "-B",
        "8MiB",
        "--reserve",
        "0",
    ],
    files: &[(
        "t.rpt",
        "TestFile=t.rpt\nParmFile=rpt.rpp\nReptFile=t.rpr\nDnmin=2\nDnmax=2\nParmFile\n\
         ArchiveWorkload\n",
    )],
    before: &[&["rpt", "--write-files"]],
    keeps: &["data", "data.seekstone", "t.rpl", "t.rpr", "t.rpe"],
    span_ms: 120,
};

pub const DISKMBPS: Case = Case {
    name: "diskmbps",
    args: &["diskmbps", "4", "2", "--reserve", "0"],
    keeps: &["J*.TXT"],
    span_ms: 25,
    ..PLAIN
};

pub const DISKRAND: Case = Case {
    name: "diskrand Write",
    args: &[
        "diskrand",
        "Write",
        "data",
        "1",
        "0",
        "Made.txt",
        "--short",
        "--reserve",
        "0",
    ],
    keeps: &["data", "data.seekstone", "Made.txt"],
    span_ms: 27,
    ..PLAIN
};

pub const SIMULATED: Case = Case {
    name: "trial of a model",
    args: &[
        "trial",
        "sim:mm1?mean=100us",
        "--duration",
        "50ms",
        "-q",
        "--seed",
        "1",
    ],
    span_ms: 16,
    ..PLAIN
};

/// The archive and what is written beside it lie where everybody may write.
pub const OUTPUTS: Case = Case {
    name: "--archive, --json",
    args: &[
        "trial",
        "sim:mm1?mean=100us",
        "--duration",
        "50ms",
        "-q",
        "--seed",
        "1",
        "--archive",
        "new.db",
        "--json",
        "new.json",
    ],
    keeps: &["new.db*", "new.json"],
    span_ms: 20,
    ..PLAIN
};

/// An output that is there already.
pub const REPLACED: Case = Case {
    name: "--json, replaced",
    before: &[OUTPUTS.args],
    ..OUTPUTS
};

pub const PICTURE: Case = Case {
    name: "--svg",
    args: &[
        "positioning",
        "--rounds",
        "20",
        "--seed",
        "1",
        "-q",
        "--svg",
        "new.svg",
    ],
    keeps: &["new.svg"],
    span_ms: 20,
    ..PLAIN
};

pub const EXPORT: Case = Case {
    name: "runs export --output",
    args: &["runs", "export", "latest", "--output", "new.json"],
    before: &[SIMULATED.args],
    keeps: &["new.json"],
    span_ms: 12,
    ..PLAIN
};

pub const IMPORT: Case = Case {
    name: "runs import",
    args: &["runs", "import", "t.rpl"],
    files: &[(
        "t.rpl",
        include_str!("../../../vintage/src/fixtures/excerpt.rpl"),
    )],
    span_ms: 15,
    ..PLAIN
};

/// A study of one measurement.
const fn study(name: &'static str, files: &'static [(&'static str, &'static str)]) -> Case {
    Case {
        name,
        args: &[
            "study",
            "study.toml",
            "--target",
            ".",
            "--reserve",
            "0",
            "-q",
        ],
        files,
        span_ms: 30,
        ..PLAIN
    }
}

pub const STUDY: Case = Case {
    span_ms: 60,
    ..study(
        "study: set-up",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 3\nsetup = 'echo full > \"$SEEKSTONE_SCRATCH/file\"'\n\
             [measurement]\nkind = \"transfer\"\nsize = \"256KiB\"\n",
        )],
    )
};

/// Studies whose set-ups, if any, write nothing themselves.
pub const STUDIES: [Case; 6] = [
    study(
        "study: transfer",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 2\nsetup = \"true\"\n[measurement]\nkind = \"transfer\"\n\
             size = \"256KiB\"\n",
        )],
    ),
    study(
        "study: copy",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"copy\"\nsize = \"256KiB\"\n",
        )],
    ),
    study(
        "study: backup",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"backup\"\nfiles = 4\n\
             size = \"16KiB\"\n",
        )],
    ),
    study(
        "study: streams",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"streams\"\nstreams = 2\n\
             operation = \"write\"\nsize = \"64KiB\"\n",
        )],
    ),
    study(
        "study: archive",
        &[(
            "study.toml",
            "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"archive\"\nfiles = 4\n\
             size = \"16KiB\"\nstore = \".\"\n",
        )],
    ),
    Case {
        args: &[
            "study",
            "study.toml",
            "--target",
            ".",
            "--reserve",
            "0",
            "-q",
            "--markdown",
            "new.md",
            "--json",
            "new.json",
        ],
        keeps: &["new.md", "new.json"],
        ..study(
            "study --markdown",
            &[(
                "study.toml",
                "title = \"k\"\nreplicates = 1\n[measurement]\nkind = \"cache\"\n\
                 working-set = \"64KiB\"\nreads = 100\n",
            )],
        )
    },
];

/// What measures a directory, and stops on a signal.
pub const MEASURING: [Case; 9] = [
    RUN,
    TRIAL,
    TRIAL_BUFFERED,
    RAB,
    TRANSFER,
    RANDOM,
    TRANSACTIONS,
    FILES,
    METADATA,
];

/// What is killed: all that writes anything.
pub const KILLED: [Case; 29] = [
    RUN,
    TRIAL,
    RAB,
    TRANSACTIONS,
    TRANSFER,
    RANDOM,
    FILES,
    METADATA,
    STUDY,
    IMPORT,
    TRANSACT,
    TRANSACT_AGAIN,
    RPT,
    DISKMBPS,
    DISKRAND,
    SIMULATED,
    OUTPUTS,
    CURVE,
    SSD,
    FIO,
    REPLAY,
    COMPARE,
    WATCH,
    STUDIES[1],
    STUDIES[2],
    STUDIES[3],
    STUDIES[5],
    PICTURE,
    CLEAN,
];
