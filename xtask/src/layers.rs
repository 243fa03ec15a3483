//! The layers of the workspace: a crate uses only crates above it.

/// Our crates, lowest layer first. ARCHITECTURE.md says why.
pub const ORDER: &[&str] = &[
    "units",
    "toml_reader",
    "random",
    "stats",
    "fleet",
    "workload",
    "verify",
    "fio",
    "hpc",
    "trace",
    "backup_stream",
    "engine",
    "watch",
    "results",
    "sample",
    "monitor",
    "procedure",
    "sim",
    "report",
    "known_storage",
    "sys",
    "mpi",
    "drivers",
    "network",
    "host",
    "lab",
    "kinds",
    "study",
    "vintage",
    "validation",
    "archive",
    "tui",
    "web",
    "seekstone",
];

/// Crates in which the same input gives the same output.
pub const PURE: &[&str] = &[
    "units",
    "toml_reader",
    "random",
    "stats",
    "fleet",
    "workload",
    "verify",
    "fio",
    "hpc",
    "trace",
    "backup_stream",
    "engine",
    "watch",
    "results",
    "sample",
    "monitor",
    "procedure",
    "sim",
    "report",
];

/// Pure parts of crates that are not pure as a whole: all files but those beneath a module `run`.
pub const PURE_BUT_RUNS: &[&str] = &["vintage"];

/// Crates that may call the system by hand.
pub const UNSAFE: &[&str] = &["sys", "mpi", "drivers"];

/// Crates of others that touch the real world; pure crates name none of them.
pub const REAL_WORLD: &[&str] = &[
    "io-uring",
    "rustix",
    "libc",
    "libloading",
    "procfs",
    "signal-hook",
    "httparse",
    "rusqlite",
    "indicatif",
    "ratatui",
    "axum",
    "tokio",
    "tempfile",
];

/// What a pure crate must not write, and why.
pub const BANNED: &[(&str, &str)] = &[
    ("std::time::Instant", "reads a clock"),
    ("Instant::now", "reads a clock"),
    ("SystemTime", "reads a clock"),
    ("thread::sleep", "waits"),
    ("thread::spawn", "starts a thread"),
    ("std::fs", "touches files"),
    ("std::env::", "reads the environment"),
    ("std::process", "starts or ends processes"),
    ("std::net", "touches the network"),
    ("HashMap", "iterates in an order that differs between runs"),
];

/// The time of day, which somebody may set at any moment.
pub const WALL_CLOCK: &[&str] = &[
    "SystemTime::now",
    "Timestamp::now",
    "Zoned::now",
    "ClockId::Realtime",
];
/// Files that read it, to say when something was, to wait for a moment, or for a seed. Time is
/// measured on clocks that nobody sets.
pub const STAMPS: &[&str] = &[
    "drivers/src/verification.rs",
    "host/src/environment.rs",
    "host/src/heartbeat.rs",
    "kinds/src/fio_jobs/reporting.rs",
    "kinds/src/measure/s3/fault.rs",
    "kinds/src/measure/s3/left_over.rs",
    "kinds/src/transactions/start.rs",
    "kinds/src/transfer/pass.rs",
    "seekstone/src/commands/fio_run.rs",
    "seekstone/src/commands/setup.rs",
    "vintage/src/diskmbps/run.rs",
    "vintage/src/diskrand/run/storage.rs",
    "vintage/src/diskrand/run/user.rs",
    "vintage/src/diskrand/run/write.rs",
    "vintage/src/run.rs",
    "vintage/src/run/together.rs",
];

/// Who alone may use a crate of others.
pub const ALONE: &[(&str, &str)] = &[
    ("rusqlite", "archive"),
    ("io-uring", "drivers"),
    ("httparse", "network"),
    ("rustls", "network"),
    ("rusty-s3", "kinds"),
    ("libloading", "mpi"),
    ("indicatif", "seekstone"),
    ("ratatui", "tui"),
    ("axum", "web"),
    ("tokio", "web"),
];
