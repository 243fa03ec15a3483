//! The pages that buffers lie in, which sequential I/O is several times as fast or slow by.

use crate::support::{Scratch, finish};

/// Story: sequential rows were 2 to 6 times those of fio, which uses small pages; nothing said so.
#[test]
fn sequential_io_in_huge_pages_says_so() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a plain path");
    let check = |pattern: &str, block: &str, pages: &str| {
        let load = [
            "--size=16MiB",
            "--duration=200ms",
            "--no-save",
            "--json=-",
            "-q",
        ];
        let own = ["trial", target, pattern, block, pages];
        let ended = finish(scratch.seekstone([&own[..], &load].concat()));
        ended.check(&[], 0, "");
        let run = ended.json();
        let measurement = &run["measurements"][0];
        let warnings = measurement["warnings"].as_array().expect("warnings");
        let is_told = warnings.iter().any(|it| it["code"] == "huge-pages");
        let share = measurement["generator"]["huge_page_share"].as_f64();
        (is_told, measurement["access"] == "direct", share)
    };
    let sequential = "--pattern=sequential";
    let (is_told, is_direct, share) = check(sequential, "--block=1m", "--buffer-pages=huge");
    let is_huge = share.is_some_and(|it| it >= 0.5);
    assert_eq!(is_told, is_direct && is_huge, "{share:?}");
    let (is_told, _, share) = check(sequential, "--block=1m", "--buffer-pages=small");
    assert!(!is_told && share.is_none_or(|it| it == 0.0), "{share:?}");
    for (pattern, block) in [
        ("--pattern=uniform", "--block=1m"),
        (sequential, "--block=4k"),
    ] {
        let (is_told, ..) = check(pattern, block, "--buffer-pages=huge");
        assert!(!is_told, "{pattern} {block}");
    }
}
