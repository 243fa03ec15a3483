//! Options whose value is one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use drivers::{BufferPages, DriverKind};
use engine::OnError;

/// Words, each with what it stands for and the help that says so.
pub type Words<T> = &'static [(&'static str, T, &'static str)];

/// Words of a type: a variant, its word, and the help.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis $name:ident: $of:ident =
        $($variant:ident $word:literal $help:literal;)*) => {
        $(#[$doc])*
        $vis const $name: $crate::args::words::Words<$of> =
            &[$(($word, $of::$variant, $help)),*];
    };
}
pub(crate) use words;

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

words! {
    /// I/O engines.
    pub DRIVERS: DriverKind =
        Auto "auto" "io_uring if allowed, else threads";
        Uring "uring" "io_uring, or fail";
        Threads "threads" "Blocking calls";
}

words! {
    /// Pages of buffers.
    pub PAGES: BufferPages =
        Huge "huge" "Huge pages, where the system has them";
        Small "small" "Small pages alone";
}

words! {
    /// What to do when an operation fails.
    pub ERRORS: OnError =
        Stop "stop" "End the run. What was measured before is kept";
        Count "count"
            "Count it and continue. A transaction with a failed operation is not completed. \
             Writing a test file still stops at an error";
}
