//! Warnings about a workload before it is measured: too few positions, a cache that holds them,
//! walks that stay in it, incompatible thread types.
//!
//! Computes only from its input; it measures nothing and does not detect caches.
//!
//! Source: the RPT manual of 1995, "Data file size", "Load Control" and "Summary". The document has
//! no thresholds; those here are ours, and its own standard workloads on its own file of 800 MB
//! pass them.

use units::{Bytes, Rate, format_count};

use crate::address::{Partition, Pattern};
use crate::control::{Placement, ThreadType};
use crate::definition::{WorkloadDefinition, WorkloadGroup};

mod formulas;

pub use formulas::{
    cached_neighbourhood, cached_part, coverage, independent_samples, ios_to_sum, median_step,
    step_beyond, steps_until_beyond, steps_until_strayed,
};

/// With fewer positions than this, a thread returns to each of them too often.
const SAMPLES_MIN: u64 = 100;

/// If a cache holds more of a thread's range than this, it affects the mean response time. The
/// document calls 12.5 % a large degree of caching, and works with 2.5 %.
const CACHED_MAX: f64 = 0.1;

/// A batch workload that uses less of the file than this measures only a corner of the storage. The
/// document's archive workload uses a fifth.
const COVERAGE_MIN: f64 = 0.2;

/// Batch workloads whose bytes per message differ by more than this factor differ in duration.
const DURATION_RATIO_MAX: f64 = 2.0;

/// Kind of advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceCode {
    /// Share of one thread's range in the cache.
    CachedRange,
    /// More threads than shares.
    Contention,
    /// How much of the file is in use.
    Coverage,
    /// Batch workloads with different durations.
    DurationsDiffer,
    /// Number of positions of a thread.
    IndependentSamples,
    /// Range of loads from clients at a fixed rate.
    LoadRange,
    /// Threads that wait beside threads that do not.
    MixedTypes,
    /// Distance covered by a random walk.
    RandomWalk,
    /// Threads that leave the storage no idle time.
    Saturation,
}

/// Advice about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Its kind.
    pub code: AdviceCode,
    /// Whether results are doubtful; otherwise it is a fact to interpret them.
    pub is_doubt: bool,
    /// A sentence or two, with what to do if results are doubtful.
    pub text: String,
}

/// Advice about `definition` on a file of `file_bytes`.
///
/// `cache_bytes` is the cache between the threads and the medium, `threads` the number that runs
/// (by default a batch workload's own), `ios_summed` the number of operations that a result sums so
/// far, over all threads. Unknown values are not judged.
pub fn advise(
    definition: &WorkloadDefinition,
    file_bytes: u64,
    cache_bytes: Option<u64>,
    threads: Option<u32>,
    ios_summed: Option<u64>,
) -> Vec<Advice> {
    let mut all = Vec::new();
    for kind in definition.types() {
        all.push(samples(kind, file_bytes));
    }
    if let Some(cache) = cache_bytes {
        all.push(caching(definition, file_bytes, cache));
        for kind in definition.types() {
            all.extend(random_walk(kind, cache, ios_summed));
        }
    }
    if let Some(threads) = threads.or(definition.threads) {
        all.push(use_of_shares(definition, threads));
    }
    all.push(waiting(definition));
    all
}

/// Number of separate shares: contending threads have the file in common.
fn shares_of(kind: &ThreadType) -> u32 {
    match kind.partition {
        Partition::Contending => 1,
        Partition::Contiguous | Partition::Interleaved => kind.shares,
    }
}

fn samples(kind: &ThreadType, file_bytes: u64) -> Advice {
    let bytes = match kind.placement {
        Placement::Packed => u64::from(kind.io_size),
        Placement::Offset(_) => kind.block,
    };
    let samples = independent_samples(file_bytes, shares_of(kind), bytes);
    let is_doubt = samples < SAMPLES_MIN;
    let advice = if is_doubt {
        format!(
            ", and the same ones come again and again. Use a larger file, smaller blocks or fewer \
             shares, for {SAMPLES_MIN} or more"
        )
    } else {
        String::new()
    };
    Advice {
        code: AdviceCode::IndependentSamples,
        is_doubt,
        text: format!(
            "A thread of type {:?} has {samples} places to go to{advice}.",
            kind.name
        ),
    }
}

fn caching(definition: &WorkloadDefinition, file_bytes: u64, cache: u64) -> Advice {
    let shares = shares_of(&definition.types()[0]);
    let of_range = cached_part(cache, file_bytes, shares);
    let is_doubt = of_range > CACHED_MAX;
    let advice = if is_doubt {
        let wanted = cache as f64 * f64::from(shares) / CACHED_MAX;
        // A float beyond the largest size becomes that size.
        let mebibytes = (wanted as u64).div_ceil(1 << 20);
        let wanted = Bytes::from_mib(mebibytes).to_exact_string();
        format!(" The cache is measured in part: use a file of {wanted} or more.")
    } else {
        String::new()
    };
    Advice {
        code: AdviceCode::CachedRange,
        is_doubt,
        text: format!(
            "A cache of {} holds {} of one thread's range and {} of the file.{advice}",
            Bytes(cache),
            percent(of_range),
            percent(cached_part(cache, file_bytes, 1))
        ),
    }
}

fn random_walk(kind: &ThreadType, cache: u64, ios_summed: Option<u64>) -> Option<Advice> {
    let Pattern::Hyperbolic { alpha } = kind.pattern else {
        return None;
    };
    let distance = cached_neighbourhood(cache, kind.io_size);
    if distance < 1.0 {
        return None;
    }
    let needed = ios_to_sum(alpha, distance).ceil();
    let is_doubt = ios_summed.is_some_and(|summed| (summed as f64) < needed);
    let so_far = match ios_summed {
        Some(summed) if is_doubt => format!(
            " {} were summed: measure longer, use a smaller alpha, or another walk.",
            format_count(summed as f64)
        ),
        _ => String::new(),
    };
    Some(Advice {
        code: AdviceCode::RandomWalk,
        is_doubt,
        text: format!(
            "The walk of type {:?} has a median step of {} places. {} of its steps leave the {} \
             places around it that the cache holds. Sum {} I/Os or more, so that the walk leaves \
             the cache.{so_far}",
            kind.name,
            format_count(median_step(alpha)),
            percent(step_beyond(alpha, distance)),
            format_count(2.0 * distance.floor()),
            format_count(needed)
        ),
    })
}

fn use_of_shares(definition: &WorkloadDefinition, threads: u32) -> Advice {
    let shares = definition.shares();
    let fact = |code, is_doubt, text| Advice {
        code,
        is_doubt,
        text,
    };
    if definition.partition() == Partition::Contending {
        let text = "All threads use the whole file and contend for it, as asked for.".to_owned();
        return fact(AdviceCode::Coverage, false, text);
    }
    if threads > shares {
        let text = format!(
            "{threads} threads have {shares} shares of the file. Some contend for the same blocks, \
             which a cache then holds. Raise the number of shares or use fewer threads."
        );
        return fact(AdviceCode::Contention, true, text);
    }
    let part = coverage(threads, shares);
    let is_doubt = definition.group == WorkloadGroup::Batch && part < COVERAGE_MIN;
    let advice = if is_doubt {
        ": a small part of the storage stands for all of it. Use fewer shares or more threads"
    } else {
        ""
    };
    let text = format!(
        "{threads} of {shares} shares are in use, {} of the file{advice}.",
        percent(part)
    );
    fact(AdviceCode::Coverage, is_doubt, text)
}

/// Whether the load can be varied, and its range.
fn waiting(definition: &WorkloadDefinition) -> Advice {
    let types = definition.types();
    let batch: Vec<_> = types.iter().filter(|kind| kind.is_batch()).collect();
    if !batch.is_empty() && batch.len() < types.len() {
        return Advice {
            code: AdviceCode::MixedTypes,
            is_doubt: true,
            text: format!(
                "Type {:?} never waits and saturates the storage, while others keep a clock. \
                 Response times tell about saturation once it runs. Measure the two kinds \
                 as workloads of their own.",
                batch[0].name
            ),
        };
    }
    if !batch.is_empty() {
        let is_doubt = definition.group == WorkloadGroup::Transaction;
        let advice = if is_doubt {
            " Give its types a clock, or a fixed number of threads."
        } else {
            ""
        };
        return Advice {
            code: AdviceCode::Saturation,
            is_doubt,
            text: format!(
                "No thread ever waits, so that the storage is saturated by any number of them. The \
                 throughput at a fixed number of threads is what can be measured.{advice}"
            ),
        };
    }
    let (least, most) = load_range(definition);
    Advice {
        code: AdviceCode::LoadRange,
        is_doubt: false,
        text: format!(
            "Possible loads are {} with one thread to {} with one in each share, in steps of one \
             thread. To go further, raise the load per thread or the shares.",
            Rate(least),
            Rate(most)
        ),
    }
}

/// Operations per second of the first thread, and of as many threads as shares.
fn load_range(definition: &WorkloadDefinition) -> (f64, f64) {
    let rate = |kind: &ThreadType| kind.clock.map_or(0.0, |gap| 1e9 / gap.mean_ns);
    let mut left = definition.shares();
    let cycle: u64 = definition
        .types()
        .iter()
        .map(|kind| u64::from(kind.count))
        .sum();
    let rounds = u64::from(left) / cycle;
    left = u32::try_from(u64::from(left) % cycle).unwrap_or(u32::MAX);
    let mut most = 0.0;
    for kind in definition.types() {
        let here = left.min(kind.count);
        left -= here;
        let threads = rounds * u64::from(kind.count) + u64::from(here);
        most += threads as f64 * rate(kind);
    }
    (rate(&definition.types()[0]), most)
}

/// Batch workloads that are run one after the other, and whose messages differ so much in bytes
/// that their measurements differ in duration ("Avoid batch cases of greatly differing
/// duration"). Others are left out.
pub fn advise_on_durations(definitions: &[WorkloadDefinition]) -> Option<Advice> {
    let messages = definitions
        .iter()
        .filter(|definition| definition.group == WorkloadGroup::Batch)
        .flat_map(|definition| {
            let bytes = definition.types().iter().map(message_bytes);
            bytes.map(move |bytes| (bytes, definition))
        });
    let (least, small) = messages.clone().min_by_key(|(bytes, _)| *bytes)?;
    let (most, large) = messages.max_by_key(|(bytes, _)| *bytes)?;
    if most as f64 <= DURATION_RATIO_MAX * least as f64 {
        return None;
    }
    Some(Advice {
        code: AdviceCode::DurationsDiffer,
        is_doubt: true,
        text: format!(
            "A message of {:?} moves {} and one of {:?} {}, so that the workloads differ in \
             duration and precision. Choose ios-per-message for about the same number of bytes.",
            small.name,
            Bytes(least),
            large.name,
            Bytes(most)
        ),
    })
}

/// Bytes that a thread moves per message.
pub fn message_bytes(kind: &ThreadType) -> u64 {
    u64::from(kind.io_size) * u64::from(kind.ios_per_message)
}

fn percent(part: f64) -> String {
    format!("{} %", format_count(100.0 * part))
}
