//! Tables of the performance tests of GSI's KP3 group, 1994 to 1999, beside which simulated devices
//! are shown.

/// Where the times were found.
pub const POSITIONING_SOURCE: &str =
    "KP3 performance tests, DLT2000 SMFS positioning, 17 September 1995";
/// Mean time to the first record, milliseconds.
pub const POSITIONING_MEAN_MS: u64 = 35_900;
/// Width of a bin, seconds.
pub const POSITIONING_BIN_S: u64 = 10;
/// Files, 91 on a tape of 10 GB, by the time to their first record.
pub const POSITIONING_BINS: [u32; 9] = [4, 18, 19, 17, 10, 10, 9, 2, 2];

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIONING_FILES: u32 = 91;

    #[test]
    fn every_file_is_in_the_histogram_and_the_mean_fits_it() {
        assert_eq!(POSITIONING_BINS.iter().sum::<u32>(), POSITIONING_FILES);
        let middle = |bin: usize| (bin as f64 + 0.5) * POSITIONING_BIN_S as f64;
        let sum: f64 = POSITIONING_BINS
            .iter()
            .enumerate()
            .map(|(bin, &files)| middle(bin) * f64::from(files))
            .sum();
        let mean = sum / f64::from(POSITIONING_FILES);
        let published = POSITIONING_MEAN_MS as f64 / 1e3;
        assert!(
            (mean - published).abs() < 0.5 * POSITIONING_BIN_S as f64,
            "{mean}"
        );
    }
}
