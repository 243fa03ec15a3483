//! The layers of the workspace: a crate uses only crates above it.

/// Our crates, lowest layer first. ARCHITECTURE.md says why.
pub const ORDER: &[&str] = &[
    "units",
    "random",
    "stats",
    "workload",
    "engine",
    "results",
    "procedure",
    "classic",
    "sim",
    "report",
    "drivers",
    "network",
    "runner",
    "archive",
    "tui",
    "seekstone",
];

/// Crates in which the same input gives the same output.
pub const PURE: &[&str] = &[
    "units",
    "random",
    "stats",
    "workload",
    "engine",
    "results",
    "procedure",
    "classic",
    "sim",
    "report",
];

/// Crates of others that touch the real world; pure crates name none of them.
pub const REAL_WORLD: &[&str] = &[
    "io-uring",
    "rustix",
    "libc",
    "procfs",
    "signal-hook",
    "httparse",
    "rusqlite",
    "indicatif",
    "ratatui",
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

/// Who alone may use a crate of others.
pub const ALONE: &[(&str, &str)] = &[
    ("rusqlite", "archive"),
    ("io-uring", "drivers"),
    ("httparse", "network"),
    ("indicatif", "seekstone"),
    ("ratatui", "tui"),
];
