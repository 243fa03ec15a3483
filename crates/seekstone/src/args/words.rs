//! Options whose value is one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use drivers::{BufferPages, DriverKind};
use engine::OnError;

/// Words, each with what it stands for and the help that says so.
pub type Words<T> = &'static [(&'static str, T, &'static str)];

/// Reads one of these words.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    words: Words<T>,
) -> impl TypedValueParser<Value = T> {
    let values = words.iter();
    let values = values.map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(values).map(|typed| {
        let mut known = words.iter();
        known.find(|it| it.0 == typed).expect("one of them").1
    })
}

/// I/O engines.
pub const DRIVERS: Words<DriverKind> = &[
    (
        "auto",
        DriverKind::Auto,
        "io_uring if allowed, else threads",
    ),
    ("uring", DriverKind::Uring, "io_uring, or fail"),
    ("threads", DriverKind::Threads, "Blocking calls"),
];

/// Pages of buffers.
pub const PAGES: Words<BufferPages> = &[
    (
        "huge",
        BufferPages::Huge,
        "Huge pages, where the system has them",
    ),
    ("small", BufferPages::Small, "Small pages alone"),
];

/// What to do when an operation fails.
pub const ERRORS: Words<OnError> = &[
    (
        "stop",
        OnError::Stop,
        "End the run. What was measured before is kept",
    ),
    (
        "count",
        OnError::Count,
        "Count it and continue. A transaction with a failed operation is not completed. Writing a \
         test file still stops at an error",
    ),
];
