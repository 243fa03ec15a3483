//! `archive` and `retrieve`: all files come into the store, and back, whole.

use crate::support::{assert_empty, measured, names, place, reading, try_measured};

#[test]
fn files_go_into_a_store_and_out_again() {
    let (directory, place) = place();
    let store = tempfile::tempdir().expect("a directory");
    for (kind, expected) in [
        (
            "archive",
            ["archive rate", "archive CPU", "files put", "time to put"],
        ),
        (
            "retrieve",
            ["retrieve rate", "retrieve CPU", "files got", "time to get"],
        ),
    ] {
        for at_once in [1, 3] {
            let settings = format!(
                "files = 7\nsize = 10000\nat-once = {at_once}\nstore = {:?}",
                store.path().display()
            );
            let readings = measured(kind, &settings, &place);
            assert_eq!(names(&readings), expected);
            assert_eq!(readings[3].parts.len(), 7);
            assert!(readings[3].parts.iter().all(|time| *time > 0.0));
            let per_file = reading(&readings, expected[0]) / reading(&readings, expected[2]);
            assert!((per_file - 10_000.0).abs() < 1e-6, "{readings:?}");
        }
    }
    assert_empty(&directory);
    assert_empty(&store);
}

#[test]
fn the_store_may_be_in_the_same_directory_and_must_be_one() {
    let (directory, place) = place();
    measured("archive", "files = 2\nsize = 1\ncold = false", &place);
    assert_empty(&directory);
    let error = try_measured("archive", "store = \"/no/such\"", &place).expect_err("no store");
    assert_eq!(error.to_string(), "cannot look at /no/such");
}
