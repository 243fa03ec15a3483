//! `transfer`: a file of our own, a file of the user's, and a model with a known rate.

use std::fs;

use crate::support::{
    assert_empty, measured, model, names, page_cache_kept, place, reading, try_measured,
};

const ALL: [&str; 5] = [
    "write rate",
    "write CPU",
    "read rate",
    "read CPU",
    "from page cache",
];

#[test]
fn a_file_is_written_read_and_removed() {
    let (directory, place) = place();
    for settings in [
        "size = \"1MiB\"",
        "size = \"1MiB\"\nrecord = 1000\nsynced = \"no\"\ncold = false",
        "size = \"256KiB\"\nrecord = \"16k\"\npreallocated = true\nsynced = \"each\"",
        "size = \"1MiB\"\nrecord = \"1MiB\"\npreallocated = true",
    ] {
        let readings = measured("transfer", settings, &place);
        assert_eq!(names(&readings), ALL, "{settings}");
        assert!(
            readings
                .iter()
                .all(|it| it.value.is_finite() && it.value >= 0.0)
        );
        assert!(reading(&readings, "write rate") > 0.0);
    }
    assert_empty(&directory);
}

/// The kernel counts by process what was fetched from devices, so that other tests can lower the
/// share, and none raises it.
#[test]
fn what_was_just_written_comes_from_memory() {
    let (_directory, place) = place();
    let settings = "size = \"4MiB\"\nsynced = \"no\"\ncold = false";
    let _kept = page_cache_kept();
    let share = || reading(&measured("transfer", settings, &place), "from page cache");
    let shares: Vec<f64> = (0..5).map(|_| share()).collect();
    assert!(shares.iter().any(|it| *it > 0.9), "{shares:?}");
}

#[test]
fn a_file_of_the_users_is_only_read() {
    let (directory, mut place) = place();
    let path = directory.path().join("precious");
    fs::write(&path, vec![7; 1 << 20]).expect("a file");
    place.target = path.display().to_string().into();
    let readings = measured("transfer", "size = \"1MiB\"", &place);
    assert_eq!(
        names(&readings),
        ["read rate", "read CPU", "from page cache"]
    );
    assert_eq!(fs::read(&path).expect("a file"), vec![7; 1 << 20]);
    let error = try_measured("transfer", "size = \"2MiB\"", &place).expect_err("too short");
    assert!(
        error.to_string().contains("holds 1 MiB, and size = 2 MiB"),
        "{error}"
    );
}

#[test]
fn a_model_gives_its_own_rate() {
    // Each record takes 1 ms, one at a time: 64 KiB each is 65.536 MB/s.
    let settings = "record = \"64KiB\"\nsize = \"4MiB\"";
    let readings = measured("transfer", settings, &model("sim:md1?time=1ms&size=64MiB"));
    for name in ["write rate", "read rate"] {
        let rate = reading(&readings, name);
        assert!((rate / 65_536_000.0 - 1.0).abs() < 1e-6, "{name}: {rate}");
    }
    let error = try_measured("transfer", "cold = true", &model("sim:md1")).expect_err("a model");
    assert!(error.to_string().ends_with("Leave cold out"), "{error}");
}
