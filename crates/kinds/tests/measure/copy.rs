//! `copy`: with and without room made extent by extent, from our own file and from a user's.

use std::fs;

use crate::support::{assert_empty, measured, place, reading, try_measured};

#[test]
fn a_copy_is_timed_counted_and_compared() {
    let (directory, place) = place();
    let readings = measured("copy", "size = \"1MiB\"\nrecord = \"64KiB\"", &place);
    assert!(reading(&readings, "copy rate") > 0.0 && reading(&readings, "copy time") > 0.0);
    // Sixteen records are read and as many written. Reads of counters in /proc were counted, too.
    assert!(
        (reading(&readings, "calls") - 32.0).abs() < 1e-9,
        "{readings:?}"
    );
    assert!(reading(&readings, "allocations").abs() < 1e-9);
    assert_empty(&directory);
}

#[test]
fn room_is_made_whenever_it_is_used_up() {
    let (directory, place) = place();
    let check = |extent: &str, expected: f64| {
        let settings = format!("size = \"1000KiB\"\nrecord = \"64KiB\"\nextent = \"{extent}\"");
        let readings = measured("copy", &settings, &place);
        assert!(
            (reading(&readings, "allocations") - expected).abs() < 1e-9,
            "{extent}"
        );
    };
    check("1000KiB", 1.0);
    check("4MiB", 1.0);
    check("256KiB", 4.0);
    // Less than a record: each record makes room for itself.
    check("4KiB", 16.0);
    assert_empty(&directory);
}

#[test]
fn a_file_of_the_users_is_copied_and_stays_as_it_was() {
    let (directory, place) = place();
    let path = directory.path().join("precious");
    let content: Vec<u8> = (0..100_001_u32).map(|byte| (byte % 251) as u8).collect();
    fs::write(&path, &content).expect("a file");
    let settings = format!(
        "source = {:?}\nrecord = 777\nextent = \"8KiB\"",
        path.display()
    );
    let readings = measured("copy", &settings, &place);
    assert!(
        (reading(&readings, "allocations") - 13.0).abs() < 1e-9,
        "{readings:?}"
    );
    assert_eq!(fs::read(&path).expect("a file"), content);
    let entries = fs::read_dir(directory.path()).expect("a directory").count();
    assert_eq!(entries, 1, "only the user's file is left");
    let sized = |size: &str| format!("source = {:?}\nsize = {size:?}", path.display());
    let readings = measured("copy", &sized("50000"), &place);
    let (time, rate) = (
        reading(&readings, "copy time"),
        reading(&readings, "copy rate"),
    );
    assert!((time * rate - 50_000.0).abs() < 1.0, "{readings:?}");
    let told = try_measured("copy", &sized("1MiB"), &place).expect_err("a shorter file");
    assert!(
        told.to_string().ends_with("precious holds 97.7 KiB"),
        "{told}"
    );
    let nothing = try_measured("copy", "source = \"/no/such/file\"", &place);
    assert_eq!(
        nothing.expect_err("no file").to_string(),
        "cannot open /no/such/file"
    );
}
