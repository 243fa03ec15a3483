//! How long the rows of a check-up last: what is rare does not show in short ones.

use crate::support::Scratch;

/// A small test file was written in 40 ms, and that was the row.
#[test]
fn a_file_that_is_written_at_once_is_written_for_a_whole_row() {
    let scratch = Scratch::new();
    // Its rows are to last half a second: an eleventh of the time.
    let args = ["run", ".", "--size=16MiB", "--budget=5500ms", "--no-save"];
    let rest = ["--quiet", "--json=-", "--seed=1"];
    let run = scratch.check(&[&args[..], &rest].concat(), 0, "").json();
    let lasted = |name: &str| {
        let rows = run["measurements"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["name"] == name);
        let row = row.unwrap_or_else(|| panic!("{name}"));
        let ms = |key: &str| row[key].as_u64().map(|ns| ns / 1_000_000);
        ms("warmup_ns").and_then(|it| Some(it + ms("duration_ns")?))
    };
    // A disk that takes longer than this for the pass alone needs no second one.
    assert!(lasted("sequential-write") >= Some(225), "{run:#}");
    for name in ["sequential-read", "random-read", "durable-write"] {
        assert!(lasted(name) >= Some(450), "{name}: {run:#}");
    }
}
