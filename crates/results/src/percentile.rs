//! The percentiles that measurements report, each with its names in forms, goals and options.

/// A percentile of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// Share of the operations that take at most this long, 0 to 1.
    pub share: f64,
    /// The field's name: `p99.9`.
    pub name: &'static str,
    /// The name without dots, for keys and columns: `p999`.
    pub key: &'static str,
}

/// The percentiles of every measurement, in ascending order.
pub const PERCENTILES: [Percentile; 5] = [
    percentile(0.5, "p50", "p50"),
    percentile(0.95, "p95", "p95"),
    percentile(0.99, "p99", "p99"),
    percentile(0.999, "p99.9", "p999"),
    percentile(0.9999, "p99.99", "p9999"),
];

/// Additional percentile of transactions, in which requirements of users are stated.
pub const USER_PERCENTILE: Percentile = percentile(0.9, "p90", "p90");

const fn percentile(share: f64, name: &'static str, key: &'static str) -> Percentile {
    Percentile { share, name, key }
}

/// The shares of [`PERCENTILES`].
pub fn shares() -> Vec<f64> {
    PERCENTILES.iter().map(|it| it.share).collect()
}

/// The same with [`USER_PERCENTILE`], in order.
pub fn user_shares() -> Vec<f64> {
    let mut shares = shares();
    shares.push(USER_PERCENTILE.share);
    shares.sort_by(f64::total_cmp);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::percentile_name;

    #[test]
    fn names_and_keys_are_those_of_the_share() {
        for it in PERCENTILES.into_iter().chain([USER_PERCENTILE]) {
            assert_eq!(percentile_name(it.share), it.name);
            assert_eq!(it.name.replace('.', ""), it.key);
        }
    }
}
