//! The result does not depend on how many ranks there are: the same operations, exactly added.

use std::collections::BTreeSet;
use std::fs;

use crate::support::ranks::{MPICH, json, ranks, rows, with_shim};
use crate::support::{Scratch, finish};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use stats::Histogram;

const BLOCK: usize = 4096;

/// The histogram of a row's reads or writes; `None` where it did none.
fn histogram(row: &Value, kind: &str, name: &str) -> Option<Histogram> {
    let kinds = row["kinds"].as_array().expect("kinds").iter();
    let found = kinds.into_iter().find(|it| it["kind"] == kind)?;
    let text = found[name].as_str().expect("a histogram");
    let bytes = STANDARD.decode(text).expect("base64");
    Some(Histogram::from_bytes(&bytes).expect("a histogram"))
}

#[test]
fn histograms_of_sixteen_ranks_add_up_to_that_of_all_operations() {
    let test = "histograms_of_sixteen_ranks_add_up_to_that_of_all_operations";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    scratch.target();
    let args = ["trial", "target", "--size", "4MiB", "--clients", "20"];
    // From the page cache, so that no disk is too slow for enough of them.
    let load = [
        "--writes",
        "30%",
        "--duration",
        "500ms",
        "--buffered",
        "--no-save",
    ];
    let args = [&args[..], &load, &["--quiet", "--json", "run.json"]].concat();
    let ended = finish(ranks(&scratch, &MPICH, 16, &args));
    assert!(ended.error().is_empty(), "{ended:?}");
    let run = json(&scratch.path("run.json"));
    let rows = rows(&run);
    assert_eq!(rows.len(), 17);
    for kind in ["read", "write"] {
        for name in ["response_histogram", "service_histogram"] {
            let each = rows[1..]
                .iter()
                .filter_map(|row| histogram(row, kind, name));
            let mut sum = Histogram::new();
            each.for_each(|it| sum.merge(&it));
            let all = histogram(&rows[0], kind, name).expect("operations");
            assert!(all == sum, "{kind} {name}: {} of {}", sum.len(), all.len());
            assert!(all.len() > 100, "{kind}: {}", all.len());
        }
    }
}

/// Which blocks of a file so many ranks write.
fn written(scratch: &Scratch, count: u32, duration: &str) -> BTreeSet<usize> {
    let path = scratch.path("data");
    fs::write(&path, vec![0; 8 << 20]).expect("a file");
    // Into the page cache, which keeps up with the rate on every disk.
    let args = [
        "trial",
        "data",
        "--shared",
        "--overwrite",
        "--buffered",
        "--writes",
        "100%",
    ];
    let load = [
        "--clients",
        "20",
        "--rate",
        "400/s",
        "--seed",
        "7",
        "--no-save",
    ];
    let args = [&args[..], &load, &["--duration", duration, "--quiet"]].concat();
    let ended = finish(ranks(scratch, &MPICH, count, &args));
    assert!(ended.error().is_empty(), "{count} ranks: {ended:?}");
    let content = fs::read(&path).expect("the file");
    let blocks = (0..).zip(content.chunks(BLOCK));
    let is_written = |block: &[u8]| block.iter().any(|byte| *byte != 0);
    let blocks = blocks.filter_map(|(at, block)| is_written(block).then_some(at));
    blocks.collect()
}

/// Of 2,048 blocks each launch of a second writes some 370. Whatever one or four ranks wrote, five
/// did in a longer time.
#[test]
fn one_four_and_five_ranks_ask_for_the_same_operations() {
    let test = "one_four_and_five_ranks_ask_for_the_same_operations";
    let Some(scratch) = with_shim(test, &MPICH) else {
        return;
    };
    let five = written(&scratch, 5, "1500ms");
    for count in [1, 4] {
        let fewer = written(&scratch, count, "1s");
        let other: Vec<&usize> = fewer.difference(&five).collect();
        assert!(other.is_empty(), "{count} ranks: blocks {other:?}");
        assert!(fewer.len() > 300, "{count} ranks: {}", fewer.len());
        assert!(fewer.len() < five.len());
    }
}
