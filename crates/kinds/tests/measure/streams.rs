//! `streams`: each, all together, and how fairly.

use crate::support::{assert_empty, measured, model, names, place, reading, try_measured};

#[test]
fn several_files_are_moved_at_once() {
    let (directory, place) = place();
    for operation in ["read", "write"] {
        let settings = format!("streams = 3\nsize = \"256KiB\"\noperation = {operation:?}");
        let readings = measured("streams", &settings, &place);
        let expected = ["total rate", "stream rate", "fairness", "streams CPU"];
        assert_eq!(names(&readings), expected);
        assert_eq!(readings[1].parts.len(), 3);
        let fairness = reading(&readings, "fairness");
        assert!((1.0 / 3.0..=1.0 + 1e-12).contains(&fairness), "{fairness}");
        // The last one ends when all are done, so together they are no slower than it alone.
        let slowest = readings[1]
            .parts
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let total = reading(&readings, "total rate");
        assert!((total / (3.0 * slowest) - 1.0).abs() < 1e-6, "{readings:?}");
    }
    assert_empty(&directory);
}

#[test]
fn files_are_dealt_out_over_directories() {
    let (first, place) = place();
    let second = tempfile::tempdir().expect("a directory");
    let settings = format!(
        "streams = 4\nsize = \"64KiB\"\ndirectories = [{:?}, {:?}]",
        first.path().display(),
        second.path().display()
    );
    measured("streams", &settings, &place);
    assert_empty(&first);
    assert_empty(&second);
    let error = try_measured("streams", "directories = \"/no/such\"", &place).expect_err("none");
    assert_eq!(error.to_string(), "cannot look at /no/such");
}

#[test]
fn a_model_with_one_server_shares_it_and_one_with_four_does_not() {
    // A record of 64 KiB takes 1 ms: 65.536 MB/s for each server.
    let check = |servers: u32, expected: f64| {
        let target = format!("sim:md1?time=1ms&servers={servers}&size=64MiB");
        let settings = "streams = 4\nrecord = \"64KiB\"\nsize = \"4MiB\"";
        let readings = measured("streams", settings, &model(&target));
        let rate = reading(&readings, "total rate");
        assert!(
            (rate / expected - 1.0).abs() < 0.001,
            "{servers} servers: {rate}"
        );
    };
    check(1, 65_536_000.0);
    check(4, 4.0 * 65_536_000.0);
}
