//! Names of figures as they are typed.

/// Short names of figures.
const SHORT: [(&str, &str); 7] = [
    ("mean", "latency"),
    ("p50", "latency-p50"),
    ("p95", "latency-p95"),
    ("p99", "latency-p99"),
    ("p99.9", "latency-p99.9"),
    ("bandwidth", "throughput"),
    ("bw", "throughput"),
];

/// The name of a figure, of which the last part may be a short one: `random-read.p99`.
#[must_use]
pub fn whole_name(typed: &str) -> String {
    for (short, whole) in SHORT {
        if typed == short {
            return whole.to_owned();
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
