//! Formulas behind the advice, as stated in the document.
//!
//! Source: the RPT manual of 1995, "Data file size", "Access modes and distributions" and
//! "Summary".

/// Number of positions of one thread: `datafilesize / (blocksize * ncontrolthreads)` with one
/// operation in a block, `datafilesize / (iosize * ncontrolthreads)` with packed operations ("Data
/// file size"). `bytes` is the block or the operation.
pub fn independent_samples(file_bytes: u64, shares: u32, bytes: u64) -> u64 {
    let shares = u128::from(shares.max(1));
    let samples = u128::from(file_bytes) / (shares * u128::from(bytes.max(1)));
    u64::try_from(samples).unwrap_or(u64::MAX)
}

/// The part of one thread's range that a cache holds: `cachesize / (datafilesize / maxthreads)`
/// ("Summary"). The row "Cached" of "Data file size" is this, although it is called the total.
/// One at most; of the whole file with one share.
pub fn cached_part(cache_bytes: u64, file_bytes: u64, shares: u32) -> f64 {
    if cache_bytes == 0 {
        return 0.0;
    }
    let range = file_bytes as f64 / f64::from(shares.max(1));
    (cache_bytes as f64 / range).min(1.0)
}

/// Distance in which a random walk stays in the cache: half of the operations that the cache holds,
/// `cachesize / iosize / 2`, in both directions ("Access modes and distributions").
pub fn cached_neighbourhood(cache_bytes: u64, io_bytes: u32) -> f64 {
    cache_bytes as f64 / f64::from(io_bytes.max(1)) / 2.0
}

/// The median step of a hyperbolic walk: `s0 (1 - p)^(-1/alpha)` with `s0` = 1 and `p` = 0.5
/// ("Hyperbolic Distribution").
pub fn median_step(alpha: f64) -> f64 {
    2_f64.powf(1.0 / alpha)
}

/// The probability that one step of a hyperbolic walk exceeds `distance` positions, at least one:
/// `distance^-alpha`, the column "Ps" of "Hyperbolic Distribution" as a share of one.
pub fn step_beyond(alpha: f64, distance: f64) -> f64 {
    distance.max(1.0).powf(-alpha)
}

/// Number of steps after which one has left a neighbourhood with 95 % confidence: `ln(1 - 0.95) /
/// ln(1 - Ps)`, the column "Ns" of "Hyperbolic Distribution".
pub fn steps_until_beyond(step_beyond: f64) -> f64 {
    (1.0_f64 - 0.95).ln() / (-step_beyond).ln_1p()
}

/// Number of steps after which a walk with steps of the median length has drifted out of a
/// neighbourhood: `(distance / median)^2`, the column "Nn" of "Hyperbolic Distribution". The
/// document calls the assumption of equal steps invalid but useful.
pub fn steps_until_strayed(alpha: f64, distance: f64) -> f64 {
    (distance / median_step(alpha)).powi(2)
}

/// Number of operations to sum before a hyperbolic walk has left the cache: the smaller of
/// [`steps_until_beyond`] and [`steps_until_strayed`].
///
/// It is compared with the operations of all threads together, which is conservative: `n` threads
/// share the cache, so each has 1/n of the neighbourhood, and drifts out of it in 1/n^2 of the
/// steps.
pub fn ios_to_sum(alpha: f64, distance: f64) -> f64 {
    steps_until_beyond(step_beyond(alpha, distance)).min(steps_until_strayed(alpha, distance))
}

/// The used part of the file: threads / maximum possible threads, at most one ("Data file size",
/// the table of coverages).
pub fn coverage(threads: u32, shares: u32) -> f64 {
    (f64::from(threads) / f64::from(shares.max(1))).min(1.0)
}
