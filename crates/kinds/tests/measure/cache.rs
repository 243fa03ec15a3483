//! `cache`: hits that can be worked out beforehand.

use std::collections::BTreeSet;

use random::{Purpose, Stream};

use crate::support::{
    assert_empty, measured, model, page_cache_kept, place, reading, refused, try_measured,
};

/// Records of 4 KiB in 1 MiB.
const RECORDS: u64 = 256;

#[test]
fn the_page_cache_answers_every_record_but_the_first_time() {
    let _kept = page_cache_kept();
    let (directory, place) = place();
    let settings = "working-set = \"1MiB\"\nreads = 1000";
    let readings = measured("cache", settings, &place);
    let mut stream = Stream::new(place.seed, 0, Purpose::Address);
    let seen: BTreeSet<u64> = (0..1000).map(|_| stream.below(RECORDS)).collect();
    let expected = 1.0 - seen.len() as f64 / 1000.0;
    let hits = reading(&readings, "page cache hits");
    // tmpfs has no device: there everything is in memory.
    let is_memory = (hits - 1.0).abs() < 1e-9;
    assert!(
        (hits - expected).abs() < 1e-9 || is_memory,
        "{hits} is not {expected}"
    );
    assert!((reading(&readings, "hits") - hits).abs() < 1e-9);
    assert!(reading(&readings, "buffer hits").abs() < 1e-9);
    assert_empty(&directory);
}

#[test]
fn a_buffer_answers_the_share_of_the_working_set_that_it_holds() {
    let _kept = page_cache_kept();
    let (_directory, place) = place();
    // Uniform reads hit a record in the buffer as often as it holds records.
    for (buffer, expected) in [
        ("256KiB", 0.25),
        ("512KiB", 0.5),
        ("1MiB", 1.0),
        ("9MiB", 1.0),
    ] {
        let settings =
            format!("working-set = \"1MiB\"\nbuffer = {buffer:?}\nreads = 4000\nwarm-up = 4000");
        let readings = measured("cache", &settings, &place);
        let hits = reading(&readings, "buffer hits");
        // Five standard deviations of as many independent reads.
        let allowed = 5.0 * (expected * (1.0 - expected) / 4000.0_f64).sqrt() + 1e-9;
        assert!((hits - expected).abs() <= allowed, "{buffer}: {hits}");
        // What the buffer does not have, the page cache does.
        assert!(
            (reading(&readings, "hits") - 1.0).abs() < 1e-9,
            "{readings:?}"
        );
    }
}

#[test]
fn popular_records_are_hit_more_often() {
    let (_directory, place) = place();
    let hits = |popularity: &str| {
        let settings = format!(
            "working-set = \"1MiB\"\nbuffer = \"64KiB\"\nreads = 4000\nwarm-up = 1000\n\
             popularity = {popularity:?}"
        );
        reading(&measured("cache", &settings, &place), "buffer hits")
    };
    assert!(hits("zipf:1.2") > 2.0 * hits("uniform"));
}

#[test]
fn popularity_is_a_law_with_its_parameter() {
    for typed in [
        "zipf",
        "zipf:1e-9",
        "zipf:-1",
        "zipf:x",
        "zipf:11",
        "pareto",
    ] {
        let why = refused("cache", &format!("popularity = {typed:?}"));
        assert!(
            why.contains("use \"uniform\", or \"zipf:THETA\" with THETA from 0.001 to 10"),
            "{why}"
        );
    }
}

#[test]
fn the_file_cache_of_a_model_answers_the_share_that_it_holds() {
    // A file cache of 7 MiB in front of a disk; uniform reads of twice and of four times as much.
    for (working_set, expected) in [("14MiB", 0.5), ("28MiB", 0.25), ("3500KiB", 1.0)] {
        let settings = format!("working-set = {working_set:?}\nreads = 4000\nwarm-up = 20000");
        let readings = measured("cache", &settings, &model("sim:p100"));
        let hits = reading(&readings, "page cache hits");
        let allowed = 5.0 * (expected * (1.0 - expected) / 4000.0_f64).sqrt() + 1e-9;
        assert!((hits - expected).abs() <= allowed, "{working_set}: {hits}");
        // Every hit costs the processor its time: 2.4 ms.
        assert!(expected < 1.0 || (reading(&readings, "read time") - 0.0024).abs() < 1e-6);
    }
    let none = measured(
        "cache",
        "reads = 10\nbuffer = \"1MiB\"",
        &model("sim:md1?size=64MiB"),
    );
    assert!(reading(&none, "page cache hits").abs() < 1e-9);
    let error = try_measured("cache", "direct = true", &model("sim:p100")).expect_err("a model");
    assert!(error.to_string().ends_with("Leave direct out"), "{error}");
}
