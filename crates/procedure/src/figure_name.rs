//! Names of figures as typed by the user.

use results::PERCENTILES;

/// Short names of figures, besides the percentiles of the latency.
const SHORT: [(&str, &str); 3] = [
    ("mean", "latency"),
    ("bandwidth", "throughput"),
    ("bw", "throughput"),
];

/// The full name of a figure whose last part may be short: `random-read.p99`.
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
