//! Names of figures as they are typed.

use results::PERCENTILES;

/// Short names of figures, beside the percentiles of the latency.
const SHORT: [(&str, &str); 3] = [
    ("mean", "latency"),
    ("bandwidth", "throughput"),
    ("bw", "throughput"),
];

/// The name of a figure, of which the last part may be a short one: `random-read.p99`.
#[must_use]
pub fn whole_name(typed: &str) -> String {
    let percentiles = PERCENTILES.map(|it| (it.name, format!("latency-{}", it.name)));
    let others = SHORT.map(|(short, whole)| (short, whole.to_owned()));
    for (short, whole) in percentiles.into_iter().chain(others) {
        if typed == short {
            return whole;
        }
        let row = typed
            .strip_suffix(short)
            .and_then(|row| row.strip_suffix('.'));
        if let Some(row) = row.filter(|row| !row.is_empty()) {
            return format!("{row}.{whole}");
        }
    }
    typed.to_owned()
}
