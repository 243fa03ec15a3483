//! `positioning`: each file once, with the time of each.

use crate::support::{assert_empty, measured, model, names, place, reading, refused, try_measured};

#[test]
fn each_file_has_its_time() {
    let (directory, place) = place();
    for cold in [true, false] {
        let settings = format!("files = 9\nsize = \"16KiB\"\ncold = {cold}");
        let readings = measured("positioning", &settings, &place);
        assert_eq!(
            names(&readings),
            ["mean time", "median time", "longest time"]
        );
        let times = &readings[0].parts;
        assert_eq!(times.len(), 9);
        let longest = times.iter().copied().fold(0.0, f64::max);
        assert!((reading(&readings, "longest time") - longest).abs() < 1e-12);
        assert!(times.iter().all(|time| *time > 0.0));
    }
    assert_empty(&directory);
}

#[test]
fn a_record_longer_than_the_file_is_refused() {
    assert_eq!(
        refused("positioning", "size = \"1KiB\"\nrecord = \"4KiB\""),
        "record: record = 4 KiB is more than a whole file of 1 KiB"
    );
    let error = try_measured("positioning", "cold = false", &model("sim:md1"));
    let error = error.expect_err("a model has no page cache").to_string();
    assert!(error.ends_with("Leave cold out"), "{error}");
}

#[test]
fn a_model_that_takes_the_same_for_all_gives_that_time() {
    let target = model("sim:md1?time=5ms&size=64MiB");
    let readings = measured("positioning", "files = 91", &target);
    for name in ["mean time", "median time", "longest time"] {
        let time = reading(&readings, name);
        assert!((time - 0.005).abs() < 1e-9, "{name}: {time}");
    }
    assert_eq!(readings[0].parts.len(), 91);
    let tape = measured("positioning", "files = 91", &model("sim:dlt2000"));
    assert!(reading(&tape, "longest time") > reading(&tape, "mean time"));
    assert_eq!(
        tape,
        measured("positioning", "files = 91", &model("sim:dlt2000"))
    );
}
