//! Conclusions from comparing cells.
//!
//! A ratio is reported with its interval. A step over spans is reported if the time reliably rises
//! by 25 % or more from one span to the next. It bounds the size of a cache only if the time was
//! flat before: of random reads over a span `s`, the share `min(1, c / s)` hits a cache of size
//! `c`, so the time starts to rise at `c`.

use results::{RandomAccess, RandomCell, RandomKind, Severity};
use stats::Estimate;
use units::{Bytes, format_count, format_duration_ns, format_interval_count};

/// Minimum rise from one span to the next that counts as a step.
const STEP_MIN: f64 = 1.25;
/// Times whose reliable rise is below this are flat.
const FLAT_MAX: f64 = 1.05;

/// Findings from the cells, a sentence each.
pub fn random_findings(found: &RandomAccess) -> Vec<String> {
    let kinds = [RandomKind::Read, RandomKind::Write];
    let each = |of: fn(&RandomAccess, RandomKind) -> Vec<String>| {
        kinds.into_iter().flat_map(move |kind| of(found, kind))
    };
    each(spans)
        .chain(each(steps))
        .chain(writes_against_reads(found))
        .chain(each(blocks))
        .chain(each(depths))
        .collect()
}

/// Smallest against largest span: seek distance and caches.
fn spans(found: &RandomAccess, kind: RandomKind) -> Vec<String> {
    let cells = found.over_spans(kind);
    let Some((first, last, ratio)) = ends(&cells) else {
        return Vec::new();
    };
    let whole = if last.span_bytes == found.size_bytes {
        "the whole file of "
    } else {
        ""
    };
    vec![format!(
        "Seek distance and caches, {}s: {} within {}, {} within {whole}{}, {}.",
        kind.name(),
        time(first),
        Bytes(first.span_bytes),
        time(last),
        Bytes(last.span_bytes),
        compared(ratio, "times as long"),
    )]
}

/// Where the time reliably rises from one span to the next.
fn steps(found: &RandomAccess, kind: RandomKind) -> Vec<String> {
    let cells = found.over_spans(kind);
    let cells: Vec<&RandomCell> = cells.into_iter().filter(|cell| is_usable(cell)).collect();
    let mut texts = Vec::new();
    let mut plateau = Some(0);
    for (place, pair) in cells.windows(2).enumerate() {
        let rise = ratio_of(pair[1].service.mean, pair[0].service.mean);
        if rise.low < STEP_MIN {
            // A plateau begins where the time stops rising.
            let is_flat = rise.low <= FLAT_MAX;
            plateau = if is_flat {
                plateau.or(Some(place))
            } else {
                None
            };
            continue;
        }
        if let Some(begin) = plateau.take() {
            texts.push(step(&cells, begin, place, rise));
        }
    }
    texts
}

/// The rise from the cell at `place` to the next, after a plateau since `begin`.
fn step(cells: &[&RandomCell], begin: usize, place: usize, rise: Estimate) -> String {
    let (below, above) = (cells[place], cells[place + 1]);
    let (low, high) = (Bytes(below.span_bytes), Bytes(above.span_bytes));
    let whole = ratio_of(below.service.mean, cells[begin].service.mean);
    let cache = if place == 0 {
        format!("If a cache ends there, it holds less than {high}")
    } else if begin < place && whole.low <= FLAT_MAX {
        format!("If a cache ends there, it probably holds between {low} and {high}")
    } else {
        "These numbers do not show what ends there".to_owned()
    };
    format!(
        "{} take {} within {low} and {} within {high}, clearly longer: {}. {cache}.",
        plural(below.kind),
        time(below),
        time(above),
        compared(rise, "times"),
    )
}

fn writes_against_reads(found: &RandomAccess) -> Option<String> {
    let read = found
        .base(RandomKind::Read)
        .filter(|cell| is_usable(cell))?;
    let write = found
        .base(RandomKind::Write)
        .filter(|cell| is_usable(cell))?;
    let ratio = ratio_of(write.service.mean, read.service.mean);
    Some(format!(
        "Writes against reads of {} within {}, depth {}: {} against {}, {}.",
        Bytes(found.block_bytes),
        Bytes(found.span_bytes),
        found.depth,
        time(write),
        time(read),
        compared(ratio, "times as long"),
    ))
}

fn blocks(found: &RandomAccess, kind: RandomKind) -> Vec<String> {
    let cells = found.over_blocks(kind);
    let Some((first, last, ratio)) = ends(&cells) else {
        return Vec::new();
    };
    vec![format!(
        "{} of {} against those of {}: {} against {}, {}.",
        plural(kind),
        Bytes(last.block_bytes),
        Bytes(first.block_bytes),
        time(last),
        time(first),
        compared(ratio, "times as long"),
    )]
}

/// The highest load relative to that of the smallest depth.
fn depths(found: &RandomAccess, kind: RandomKind) -> Vec<String> {
    let cells = found.over_depths(kind);
    let Some((first, last, _)) = ends(&cells) else {
        return Vec::new();
    };
    let rate = |cell: &RandomCell| format!("{}/s", format_count(cell.throughput.value));
    let ratio = ratio_of(last.throughput, first.throughput);
    vec![format!(
        "{}, {} at a time against {}: {} against {}, {}.",
        plural(kind),
        last.depth,
        first.depth,
        rate(last),
        rate(first),
        compared(ratio, "times as many"),
    )]
}

/// First and last cell of a sweep, if both can be quoted, with the ratio of their times.
fn ends<'a>(cells: &[&'a RandomCell]) -> Option<(&'a RandomCell, &'a RandomCell, Estimate)> {
    let [first, .., last] = cells else {
        return None;
    };
    let ratio = ratio_of(last.service.mean, first.service.mean);
    (is_usable(first) && is_usable(last)).then_some((first, last, ratio))
}

/// Whether the number can be quoted, and is bounded.
fn is_usable(cell: &RandomCell) -> bool {
    let mean = cell.service.mean;
    let mut warnings = cell.warnings.iter();
    let is_void = warnings.any(|it| it.severity == Severity::Invalid);
    cell.is_citable && !is_void && cell.errors == 0 && mean.is_bounded() && mean.low > 0.0
}

/// `of` over `to`, with the interval of two independent estimates on a logarithmic scale.
fn ratio_of(of: Estimate, to: Estimate) -> Estimate {
    let value = of.value / to.value;
    let down = (of.value / of.low).ln().hypot((to.high / to.value).ln());
    let up = (of.high / of.value).ln().hypot((to.value / to.low).ln());
    Estimate {
        low: value * (-down).exp(),
        high: value * up.exp(),
        ..Estimate::exact(value, of.samples.min(to.samples))
    }
}

/// A ratio with its interval. If that includes 1, there is no claim.
fn compared(ratio: Estimate, words: &str) -> String {
    let (value, interval) = format_interval_count(ratio.value, ratio.low, ratio.high);
    let sentence = format!("{value} [{interval}] {words}");
    if ratio.contains(1.0) {
        format!("no difference is shown ({sentence})")
    } else {
        sentence
    }
}

fn time(cell: &RandomCell) -> String {
    format_duration_ns(cell.service.mean.value)
}

const fn plural(kind: RandomKind) -> &'static str {
    match kind {
        RandomKind::Read => "Reads",
        RandomKind::Write => "Writes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Times;

    fn cell(span_kib: u64, mean: f64) -> RandomCell {
        let near = |value: f64| Estimate {
            low: value * 0.98,
            high: value * 1.02,
            ..Estimate::exact(value, 1000.0)
        };
        RandomCell {
            kind: RandomKind::Read,
            span_bytes: span_kib << 10,
            block_bytes: 4096,
            depth: 1,
            service: Times {
                mean: near(mean),
                percentiles: Vec::new(),
                min_ns: 0,
                max_ns: 0,
            },
            throughput: near(1e9 / mean),
            page_cache_share: None,
            cpu_per_operation_ns: None,
            operations: 1000,
            errors: 0,
            rounds: Vec::new(),
            rounds_agree: true,
            is_precise: true,
            is_citable: true,
            warnings: Vec::new(),
        }
    }

    fn found(times: &[(u64, f64)]) -> RandomAccess {
        let cells: Vec<RandomCell> = times.iter().map(|&(span, mean)| cell(span, mean)).collect();
        let span_bytes = cells.last().map_or(0, |cell| cell.span_bytes);
        RandomAccess {
            span_bytes,
            block_bytes: 4096,
            depth: 1,
            size_bytes: span_bytes,
            is_crossed: false,
            rounds: 2,
            precision: 0.05,
            durable: false,
            check: "none".into(),
            turn_ns: None,
            fill_rate: None,
            cells,
        }
    }

    /// Findings for reads with these times (microseconds) within these spans (KiB).
    #[track_caller]
    fn check(times: &[(u64, f64)], expected: &[&str]) {
        let times: Vec<(u64, f64)> = times.iter().map(|&(span, us)| (span, us * 1e3)).collect();
        assert_eq!(random_findings(&found(&times)), expected);
    }

    #[test]
    fn a_plateau_before_a_step_bounds_a_cache() {
        check(
            &[
                (32, 50.0),
                (128, 50.5),
                (512, 200.0),
                (2048, 240.0),
                (8192, 250.0),
            ],
            &[
                "Seek distance and caches, reads: 50.0 us within 32 KiB, 250 us within the whole \
                 file of 8 MiB, 5.00 [4.86 .. 5.14] times as long.",
                "Reads take 50.5 us within 128 KiB and 200 us within 512 KiB, clearly longer: 3.96 \
                 [3.85 .. 4.07] times. If a cache ends there, it probably holds between 128 KiB \
                 and 512 KiB.",
            ],
        );
    }

    #[test]
    fn a_step_at_the_smallest_span_bounds_it_from_above_only() {
        let texts = random_findings(&found(&[(32, 5e4), (128, 9e4), (512, 9e4)]));
        assert!(texts[1].ends_with("If a cache ends there, it holds less than 128 KiB."));
        assert_eq!(texts.len(), 2);
    }

    #[test]
    fn two_caches_are_two_steps() {
        let times = [
            (32, 5e4),
            (128, 5e4),
            (512, 9e4),
            (2048, 9e4),
            (8192, 3e5),
            (32_768, 4e5),
        ];
        let texts = random_findings(&found(&times));
        assert!(
            texts[1].contains("between 128 KiB and 512 KiB"),
            "{texts:?}"
        );
        assert!(texts[2].contains("between 2 MiB and 8 MiB"), "{texts:?}");
        assert_eq!(texts.len(), 3, "{texts:?}");
    }

    /// Longer head movement takes longer, a little with every span: no step, no cache.
    #[test]
    fn a_gradual_rise_is_no_cache() {
        let times = [(32, 1.0e7), (128, 1.15e7), (512, 1.3e7), (2048, 1.5e7)];
        let texts = random_findings(&found(&times));
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(texts[0].contains("1.50 ["), "{texts:?}");
    }

    #[test]
    fn where_nothing_differs_nothing_is_claimed() {
        check(
            &[(32, 50.0), (128, 51.0)],
            &[
                "Seek distance and caches, reads: 50.0 us within 32 KiB, 51.0 us within the whole \
                 file of 128 KiB, no difference is shown (1.02 [0.99 .. 1.05] times as long).",
            ],
        );
    }

    #[test]
    fn what_cannot_be_quoted_says_nothing() {
        let mut run = found(&[(32, 5e4), (128, 5e4), (512, 9e4)]);
        run.cells[2].is_citable = false;
        assert_eq!(random_findings(&run), Vec::<String>::new());
    }
}
