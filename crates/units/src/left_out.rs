//! Features that a build lacks.

/// A feature of the program that this build lacks. The text says how to get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this build has no {ability}: install a package, or build with `cargo build --release \
     --features {feature}`"
)]
pub struct LeftOut {
    /// Name of the ability, as users know it.
    pub ability: &'static str,
    /// The feature that enables it.
    pub feature: &'static str,
}

#[cfg(test)]
mod tests {
    use super::LeftOut;

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let missing = LeftOut {
            ability: "Parquet files",
            feature: "parquet",
        };
        assert_eq!(
            missing.to_string(),
            "this build has no Parquet files: install a package, or build with `cargo build \
             --release --features parquet`"
        );
    }
}
