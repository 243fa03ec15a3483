//! Combines passes into rows, and compares rows.
//!
//! The time of a test is the mean over its passes, with an interval that allows for correlated
//! repeats. Rates follow from the time, since every pass does the same work.

use std::collections::BTreeMap;

use results::{
    FileCallTimes, FileComparison, FilePass, FileState, FileSystemRole, FileTest, FileTests,
    StonewallFigures, StonewallPass, Warning, WarningCode,
};
use stats::{Estimate, Histogram, MARGIN_DEFAULT, RepeatsEnd, mean_of_repeats};
use units::Duration;
use workload::{FileOpKind, FilesShape};

use super::{FileCell, FileItem};
use crate::repeats;

/// Number of items to which the times of unequal passes are scaled.
const ALIKE_ITEMS: u64 = 1_000_000;

/// Pairs of tests that read what the other writes, or write to the null device what the other
/// rewrites. Their ratio shows how far reads and writes cost the same.
const SYMMETRY: [(&str, &str); 3] = [("9", "8"), ("4A", "4"), ("4B", "4")];

/// All passes of one row.
#[derive(Clone, Debug, Default)]
pub struct FilePlayed {
    has_warm_up: bool,
    /// The passes, in order of measurement.
    pub passes: Vec<FilePass>,
    /// Times by system call, over the counted passes.
    pub times: BTreeMap<FileOpKind, Histogram>,
}

/// The row of a cell, from all passes except warm-ups.
pub fn file_test(
    cell: &FileCell,
    shape: Option<&FilesShape>,
    clients: u32,
    is_precise: bool,
    end: RepeatsEnd,
    played: &FilePlayed,
) -> FileTest {
    let counted: Vec<&FilePass> = played.passes.iter().filter(|it| !it.is_warm_up).collect();
    let seconds: Vec<f64> = counted
        .iter()
        .map(|it| it.elapsed_ns as f64 / 1e9)
        .collect();
    let elapsed = mean_over(&seconds, end);
    let (test, spacing, title, items) = words(cell, shape);
    let items = items_of_each(&counted, clients).unwrap_or(items);
    let each = |of: fn(&FilePass) -> u64| mean(counted.iter().map(|it| Some(of(it))));
    let calls = each(|pass| pass.calls).unwrap_or(0.0);
    let bytes = each(|pass| pass.bytes).filter(|bytes| *bytes > 0.0);
    // Equal passes have one rate. With a stonewall, each has its own.
    let is_alike = counted.iter().all(|pass| pass.items.is_none());
    let rate = |count: f64, of: fn(&FilePass) -> u64| match is_alike {
        true => per_second(count, &elapsed),
        false => mean_rate(counted.iter().map(|pass| (of(pass), pass.elapsed_ns)), end),
    };
    let all_items = f64::from(items) * f64::from(clients);
    let alike: Vec<f64> = counted
        .iter()
        .map(|pass| time_alike(pass).as_secs_f64())
        .collect();
    let mut row = FileTest {
        system: cell.role,
        test,
        spacing,
        title,
        state: cell.state,
        scale: cell.scale,
        items,
        elapsed_seconds: elapsed,
        items_per_second: rate(all_items, |pass| pass.items.unwrap_or(0)),
        calls_per_second: rate(calls, |pass| pass.calls),
        bytes_per_second: bytes.map(|bytes| rate(bytes, |pass| pass.bytes)),
        stonewall: stonewall(&counted, end),
        calls: played.times.iter().map(call_times).collect(),
        is_precise,
        warnings: Vec::new(),
        passes: played.passes.clone(),
    };
    row.warnings.extend(drift(&row.name(), &alike));
    row
}

fn words(cell: &FileCell, shape: Option<&FilesShape>) -> (String, String, String, u32) {
    match cell.item {
        FileItem::Decus(test, spacing) => (
            test.number().into(),
            spacing.name().into(),
            test.title().into(),
            test.files(cell.scale),
        ),
        FileItem::Metadata(phase) => (
            phase.name().into(),
            String::new(),
            phase.title().into(),
            shape.map_or(0, |shape| shape.items(phase)),
        ),
        FileItem::Bandwidth(phase) => (
            phase.name().into(),
            String::new(),
            phase.title().into(),
            shape.map_or(0, FilesShape::most),
        ),
    }
}

fn call_times((kind, times): (&FileOpKind, &Histogram)) -> FileCallTimes {
    FileCallTimes {
        kind: kind.name().into(),
        count: times.len(),
        mean_ns: times.mean(),
        median_ns: times.quantile(0.5),
        p99_ns: times.quantile(0.99),
        max_ns: times.max(),
    }
}

/// Mean of the passes' times.
fn mean_over(seconds: &[f64], end: RepeatsEnd) -> Estimate {
    mean_of_repeats(seconds, end).unwrap_or_else(|| Estimate {
        low: 0.0,
        high: f64::INFINITY,
        ..Estimate::exact(seconds.first().copied().unwrap_or(f64::NAN), 1.0)
    })
}

fn mean(values: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    let values: Vec<u64> = values.collect::<Option<_>>()?;
    let sum: u64 = values.iter().sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

fn per_second(count: f64, seconds: &Estimate) -> Estimate {
    let over = |seconds: f64| {
        if seconds > 0.0 {
            count / seconds
        } else {
            f64::INFINITY
        }
    };
    Estimate {
        value: over(seconds.value),
        low: if seconds.high.is_finite() {
            over(seconds.high)
        } else {
            0.0
        },
        high: over(seconds.low),
        ..*seconds
    }
}

/// Mean of the passes' rates.
fn mean_rate(passes: impl Iterator<Item = (u64, u64)>, end: RepeatsEnd) -> Estimate {
    let rate = |(count, ns): (u64, u64)| count as f64 / (ns as f64 / 1e9).max(1e-9);
    mean_over(&passes.map(rate).collect::<Vec<f64>>(), end)
}

/// Items per client, averaged over passes if these differ.
fn items_of_each(counted: &[&FilePass], clients: u32) -> Option<u32> {
    let mean = mean(counted.iter().map(|pass| pass.items))?;
    Some((mean / f64::from(clients.max(1))).round() as u32)
}

/// Figures of a row at its stonewall.
fn stonewall(counted: &[&FilePass], end: RepeatsEnd) -> Option<StonewallFigures> {
    let walls = counted.iter().map(|pass| pass.stonewall);
    let walls: Vec<StonewallPass> = walls.collect::<Option<_>>()?;
    let rate = |of: fn(&StonewallPass) -> u64| {
        mean_rate(walls.iter().map(|wall| (of(wall), wall.elapsed_ns)), end)
    };
    let seconds: Vec<f64> = walls
        .iter()
        .map(|wall| wall.elapsed_ns as f64 / 1e9)
        .collect();
    let moves = walls.iter().any(|wall| wall.bytes > 0);
    Some(StonewallFigures {
        elapsed_seconds: mean_over(&seconds, end),
        items_per_second: rate(|wall| wall.items),
        bytes_per_second: moves.then(|| rate(|wall| wall.bytes)),
        items_least: walls.iter().map(|wall| wall.items_least).min()?,
        items_most: walls.iter().map(|wall| wall.items_most).max()?,
    })
}

/// The time of a pass for judging precision. If passes differ in their work, it is scaled to a
/// fixed number of items.
pub fn time_alike(pass: &FilePass) -> Duration {
    match pass.items {
        None => Duration(pass.elapsed_ns),
        Some(items) => {
            let each = u128::from(pass.elapsed_ns) * u128::from(ALIKE_ITEMS);
            let time = each / u128::from(items.max(1));
            Duration(u64::try_from(time).unwrap_or(u64::MAX))
        }
    }
}

/// Warns if passes get slower: the mean then says little about the next one.
fn drift(row: &str, seconds: &[f64]) -> Option<Warning> {
    repeats::drift(seconds).map(|change| {
        let word = if change > 0.0 { "slower" } else { "faster" };
        let text = format!(
            "{row}: later passes were {:.0} % {word} than earlier ones. The mean holds for the \
             time of the run only.",
            100.0 * change.abs()
        );
        Warning::warn(WarningCode::Drift, text)
    })
}

/// Time on the target relative to the memory disk, if both were measured.
pub fn over_memory(tests: &[FileTest]) -> Vec<FileComparison> {
    let pairs = tests
        .iter()
        .filter(|it| it.system == FileSystemRole::Target);
    let pairs = pairs.filter_map(|test| {
        let memory = tests.iter().find(|other| {
            other.system == FileSystemRole::Memory
                && other.state == FileState::AsIs
                && is_same_work(other, test)
                && other.scale == test.scale
                && bytes_of(other) == bytes_of(test)
        })?;
        let ratio = test.elapsed_seconds.over(&memory.elapsed_seconds);
        Some(comparison(test, ratio))
    });
    pairs.collect()
}

/// Time per file (or per block of a test on one file) at a scale relative to the smallest one.
pub fn growth(tests: &[FileTest]) -> Vec<FileComparison> {
    let found = tests.iter().filter_map(|test| {
        let same = tests.iter().filter(|other| {
            (other.system, other.state) == (test.system, test.state) && is_same_work(other, test)
        });
        let small = same.min_by_key(|other| other.scale)?;
        let grown = f64::from(test.scale) / f64::from(small.scale);
        let ratio = test.elapsed_seconds.over(&small.elapsed_seconds);
        (grown > 1.0).then(|| comparison(test, ratio.scale(1.0 / grown)))
    });
    found.collect()
}

/// Bytes moved by a pass. A device may be smaller than the file that stands in for one.
fn bytes_of(test: &FileTest) -> Option<u64> {
    test.passes.first().map(|pass| pass.bytes)
}

fn is_same_work(a: &FileTest, b: &FileTest) -> bool {
    (&a.test, &a.spacing) == (&b.test, &b.spacing)
}

fn comparison(test: &FileTest, ratio: Estimate) -> FileComparison {
    FileComparison {
        system: test.system,
        test: test.test.clone(),
        spacing: test.spacing.clone(),
        state: test.state,
        scale: test.scale,
        ratio,
    }
}

impl FilePlayed {
    /// No passes. With `has_warm_up`, the first one is left out once there is another.
    pub fn new(has_warm_up: bool) -> Self {
        Self {
            has_warm_up,
            ..Self::default()
        }
    }

    /// Adds a pass with its times by system call.
    pub fn add(&mut self, pass: FilePass, times: &BTreeMap<FileOpKind, Histogram>) {
        if let [first] = self.passes.as_mut_slice()
            && self.has_warm_up
        {
            first.is_warm_up = true;
            self.times.clear();
        }
        for (kind, found) in times {
            let all = self.times.entry(*kind);
            all.and_modify(|all| all.merge(found))
                .or_insert_with(|| found.clone());
        }
        self.passes.push(pass);
    }
}

/// Findings from the rows, in plain words.
pub fn files_findings(found: &FileTests) -> Vec<String> {
    let mut findings = Vec::new();
    let over = |bound: fn(&Estimate) -> bool, rows: &[FileComparison]| -> Vec<String> {
        let rows = rows.iter().filter(|row| bound(&row.ratio));
        rows.map(FileComparison::name).collect()
    };
    let is_more = |ratio: &Estimate| ratio.low > 1.0;
    let slower = over(is_more, &found.over_memory);
    let all = found.over_memory.len();
    // Single passes have no interval, so nothing can be shown.
    let is_known = found.over_memory.iter().any(|row| row.ratio.is_bounded());
    if is_known {
        findings.push(if slower.is_empty() {
            format!(
                "None of {} is shown to take longer than on the memory disk.",
                tests(all)
            )
        } else {
            format!(
                "{} of {} {} shown to take longer than on the memory disk{}.",
                slower.len(),
                tests(all),
                are(slower.len()),
                most(&found.over_memory),
            )
        });
    }
    let grown = over(is_more, &found.growth);
    if !found.growth.is_empty() {
        findings.push(if grown.is_empty() {
            "No test is shown to cost more for each file or block at a larger scale.".into()
        } else {
            format!(
                "{} of {} {} shown to cost more for each file or block at a larger scale{}.",
                grown.len(),
                tests(found.growth.len()),
                are(grown.len()),
                most(&found.growth),
            )
        });
    }
    findings.extend(effects(&found.tests));
    findings
}

/// Answers to the paper's questions: the time of a test after SPACE2 and SPACE8 relative to before,
/// and of reading relative to writing. Reports only what an interval shows: a difference beyond the
/// margin, or symmetry.
fn effects(rows: &[FileTest]) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|it| it.system == FileSystemRole::Target) {
        let writing = SYMMETRY.iter().find(|(reading, _)| *reading == row.test);
        let (what, test) = match (row.spacing.as_str(), writing) {
            ("", Some((_, writing))) => ("Read/write symmetry".to_owned(), *writing),
            ("", None) => continue,
            (spacing, _) => (
                format!("Time after {spacing} over the time before"),
                row.test.as_str(),
            ),
        };
        let is_base = |it: &&FileTest| {
            it.spacing.is_empty()
                && (it.system, it.test.as_str()) == (row.system, test)
                && (it.state, it.scale) == (row.state, row.scale)
        };
        let Some(base) = rows.iter().find(is_base) else {
            continue;
        };
        let ratio = row.elapsed_seconds.over(&base.elapsed_seconds);
        let (least, most) = (1.0 / (1.0 + MARGIN_DEFAULT), 1.0 + MARGIN_DEFAULT);
        let shown = match (row.test == test, ratio.is_bounded()) {
            (_, false) => continue,
            (_, true) if ratio.high < least || ratio.low > most => {
                format!("{:.2} ({:.2} .. {:.2})", ratio.value, ratio.low, ratio.high)
            }
            (false, true) if ratio.low >= least && ratio.high <= most => {
                format!("the same within {} %", MARGIN_DEFAULT * 100.0)
            }
            _ => continue,
        };
        let over = match row.test == test {
            true => String::new(),
            false => format!(" over TEST{test}"),
        };
        let state = row.state.name();
        let text = format!("TEST{}{over} {state} {shown}", row.test);
        match found.iter_mut().find(|(name, _)| *name == what) {
            Some((_, texts)) => texts.push(text),
            None => found.push((what, vec![text])),
        }
    }
    let sentences = found.into_iter();
    sentences
        .map(|(what, texts)| format!("{what}: {}.", texts.join(", ")))
        .collect()
}

fn tests(count: usize) -> String {
    format!("{count} test{}", if count == 1 { "" } else { "s" })
}

const fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// The row with the largest ratio that has an interval.
fn most(rows: &[FileComparison]) -> String {
    let shown = rows.iter().filter(|row| row.ratio.low > 1.0);
    let bounded = shown.filter(|row| row.ratio.is_bounded());
    let most = bounded.max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    most.map_or_else(String::new, |row| {
        format!(
            ", most of all {}: {:.2} times ({:.2} to {:.2})",
            row.name(),
            row.ratio.value,
            row.ratio.low,
            row.ratio.high
        )
    })
}
