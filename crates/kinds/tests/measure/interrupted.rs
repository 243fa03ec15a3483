//! Whenever a signal comes, the measurement ends, and nothing of ours is left.

use std::sync::atomic::{AtomicBool, Ordering};

use host::interrupt::Interrupt;
use kinds::measure::MeasureError;

use crate::support::{assert_empty, parsed, place};

/// Each kind with enough to do for a signal to come in between.
const KINDS: [(&str, &str); 9] = [
    ("command", "command = \"sleep 1000\""),
    ("transfer", "size = \"256MiB\""),
    ("copy", "size = \"128MiB\""),
    ("positioning", "files = 2000\nsize = \"4KiB\""),
    ("streams", "streams = 2\nsize = \"128MiB\""),
    ("archive", "files = 1000\nsize = \"4KiB\"\nat-once = 2"),
    ("retrieve", "files = 1000\nsize = \"4KiB\"\nat-once = 2"),
    ("backup", "files = 50\nsize = \"4MiB\""),
    ("cache", "working-set = \"64MiB\"\nreads = 100000000"),
];

#[test]
fn a_signal_before_the_start_leaves_nothing_to_be_done() {
    let (directory, place) = place();
    let stop = Interrupt::never();
    stop.raise();
    for (kind, settings) in KINDS {
        let error = parsed(kind, settings)
            .measure(&place, &stop)
            .expect_err(kind);
        assert!(
            matches!(error, MeasureError::Interrupted { .. }),
            "{kind}: {error:?}"
        );
        assert_eq!(error.to_string(), "stopped by SIGINT");
        assert_empty(&directory);
    }
}

#[test]
fn a_signal_in_between_leaves_nothing_behind() {
    for (kind, settings) in KINDS {
        let (directory, place) = place();
        let stop = Interrupt::never();
        let is_over = AtomicBool::new(false);
        let is_begun = || {
            let mut entries = std::fs::read_dir(directory.path()).expect("a directory");
            entries.next().is_some() || kind == "command"
        };
        let error = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_begun() && !is_over.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                stop.raise();
            });
            let error = parsed(kind, settings)
                .measure(&place, &stop)
                .expect_err(kind);
            is_over.store(true, Ordering::Relaxed);
            error
        });
        assert!(
            matches!(error, MeasureError::Interrupted { .. }),
            "{kind}: {error:?}"
        );
        assert_empty(&directory);
    }
}
