//! Histograms, time slots and the stopping rule: from completions to intervals that cover.
//!
//! A worker feeds a [`SlotAccumulator`] and a [`Histogram`]; once per epoch it hands over a
//! [`Slot`]. The slots of all workers, merged, go into a [`SlotStore`] of bounded size. Whenever
//! [`SlotStore::look_due`] says so, [`evaluate`] answers "how precise are we, and may we stop?".
//! [`evaluate_fully`] adds percentiles and [`Finding`]s once the trial is over.
//!
//! The rule merges the completions of *all* clients into common time slots, because messages
//! collected per client overlap in time and hide their correlation. It estimates the long-run
//! variance by Geyer's initial positive sequence at two levels, adjusts Student's t for skewness,
//! and looks only at a geometric schedule, since looking often enough always finds a lucky moment.
//! `tests/stats/coverage.rs` checks in virtual time that the intervals cover what they claim.
//!
//! Knows nothing about clocks, files, threads or clients: the same slots give the same answer.
//!
//! ```
//! use stats::{Channel, Goal, SlotAccumulator, SlotStore, evaluate};
//!
//! let mut store = SlotStore::new(1_000_000, 1); // epochs of 1 ms, one client
//! let mut worker = SlotAccumulator::new();
//! for epoch in 0..6_000 {
//!     for i in 0..25 {
//!         worker.record(80_000 + 100 * i, 79_000, 0, 4096);
//!     }
//!     if epoch == 0 {
//!         worker.record_warm();
//!     }
//!     store.push(worker.take(epoch));
//! }
//! let found = evaluate(&store, Channel::Response, &Goal::result(0.03)).unwrap();
//! assert!(found.is_converged);
//! assert!(found.mean.contains(81_200.0));
//! ```

mod bins;
mod change;
mod comparison;
mod counts;
mod cut;
mod drift;
mod estimate;
mod evaluation;
mod findings;
mod gaps;
mod goal;
mod histogram;
mod modes;
mod quantile;
mod repeats;
mod slot;
mod store;
mod swing;
mod tail_index;
mod variance;
mod window;

pub use bins::{BIN_COUNT, LogBins};
pub use comparison::{
    Comparison, Difference, MARGIN_DEFAULT, PAIRS_DEFAULT, PAIRS_MIN, bears_conclusion,
    compare_pairs, holm, median, outliers, replicate_mean,
};
pub use counts::TimeCounts;
pub use cut::Cut;
pub use drift::{Drift, DriftVerdict};
pub use estimate::{CONFIDENCE, Estimate, NOT_NEGATIVE, SHARE, unbounded, undefined};
pub use evaluation::{Evaluation, RESOLVABLE, evaluate, evaluate_fully};
pub use findings::{Finding, findings, moved};
pub use gaps::{Silence, Stalls};
pub use goal::{Aim, Goal, GoalKind, Verdict};
pub use histogram::{Bucket, Histogram, HistogramError};
pub use modes::valley;
pub use quantile::{
    EVIDENCE_FIRM, PercentileEstimate, Tail, chance_of_at_most, is_indicative, percentiles,
    quantile_interval, samples_for, share_within,
};
pub use repeats::{
    REPEATS_LOOKED_AT, RepeatsEnd, geometric_mean_of_repeats, geometric_repeats_mean,
    mean_of_repeats, repeats_mean,
};
pub use slot::{Slot, SlotAccumulator, Tally};
pub use store::{ArrivalPattern, SlotStore};
pub use variance::{LongRun, long_run_variance, mean_interval, student_t};
pub use window::{Channel, Window};
