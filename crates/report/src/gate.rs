//! Sets of runs held against each other: limits with their verdicts, and what changed in words.

use results::{
    Better, GateLimit, GateRow, LimitVerdict, RatioRow, Run, SetupDifference, Table,
    change_in_words, ratio_table, spoken,
};
use serde::Serialize;
use serde_json::{Value, json};
use stats::Estimate;
use units::{format_count, format_counted, format_duration_ns, format_interval_count};

use crate::compare::differences;
use crate::names::capitalised;
use crate::page::TextPage;
use crate::section;
use crate::style::{Style, Tone};
use crate::verdicts::{each_bound, verdict};

/// What stands on either side.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSets<'a> {
    /// What they measured, where that is one trial.
    pub workload: Option<&'a str>,
    /// How many runs there are of the baseline.
    pub base: usize,
    /// New ones.
    pub new: usize,
    /// Of the baseline with fewer nothing is claimed.
    pub base_min: usize,
    /// How many runs the baseline has once the new ones have joined it.
    pub base_after: usize,
    /// The commits of the last baseline run and of the last new one, where both are known.
    pub commits: Option<[&'a str; 2]>,
    /// Name of a baseline that is kept.
    pub kept_as: Option<&'a str>,
    /// What is not the same in the setups.
    pub differences: &'a [SetupDifference],
}

impl RunSets<'_> {
    /// Why nothing can be claimed, where that is so.
    pub(crate) fn too_few(&self) -> Option<String> {
        let (base, base_min) = (self.base_after, self.base_min);
        (base < base_min).then(|| {
            let more = times(base_min - base);
            let advice = match self.kept_as {
                Some(name) => format!(
                    "Measure it {more} more, and add the runs with --baseline {name} --update, \
                     without --fail."
                ),
                None => format!("Measure it {more} more, and name all of them."),
            };
            format!(
                "The baseline has {base} of the {base_min} runs it needs to tell a change from the \
                 usual variation between runs. {advice}"
            )
        })
    }

    /// Which commits a change lies between.
    pub(crate) fn commit_range(&self) -> Option<String> {
        let [base, new] = self.commits?.map(short_commit);
        Some(format!("Commits: {base}..{new}"))
    }

    /// That settings may be what differs.
    pub(crate) fn unlike(&self) -> Option<String> {
        let mut differences = self.differences.iter();
        differences.any(SetupDifference::is_of_command).then(|| {
            "The runs were not measured alike (see below): a difference may come from the settings."
                .to_owned()
        })
    }
}

/// As much of a commit as names it.
fn short_commit(commit: &str) -> &str {
    commit.get(..COMMIT_CHARS).unwrap_or(commit)
}

/// Letters of a commit that are shown.
const COMMIT_CHARS: usize = 12;

/// What is said below the ratios.
pub(crate) const TOGETHER: &str =
    "The intervals of ratios hold for all metrics together with 95 %.";

fn times(count: usize) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        more => format!("{more} times"),
    }
}

/// Such as `1 new run against 5 baseline runs: random read 4 KiB, 1 client`.
pub(crate) fn title(sets: &RunSets<'_>) -> String {
    let workload = sets
        .workload
        .map_or_else(String::new, |it| format!(": {it}"));
    format!(
        "{} against {}{workload}",
        format_counted(sets.new as u64, "new run"),
        format_counted(sets.base as u64, "baseline run")
    )
}

/// The comparison on a screen.
pub fn gate(sets: &RunSets<'_>, limits: &[GateLimit], rows: &[GateRow], style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading(&title(sets));
    if let Some(line) = sets.commit_range() {
        page.paragraph(Tone::Quiet, &line);
    }
    if let Some(line) = sets.unlike() {
        page.paragraph(Tone::Doubtful, &line);
    }
    let is_limited = !limits.is_empty() && !style.all;
    let limited = limited(limits, rows).filter(|_| is_limited);
    let rows = limited.as_deref().unwrap_or(rows);
    let changes = changes(rows).into_iter().filter(|_| !is_limited);
    for line in sets.too_few().into_iter().chain(changes) {
        page.paragraph(Tone::Plain, &line);
    }
    if !rows.is_empty() {
        page.blank();
        section::one(&mut page, &ratios(rows));
    }
    if !is_limited && rows.iter().any(|it| it.ratio.is_some()) {
        page.blank();
        page.paragraph(Tone::Quiet, TOGETHER);
    }
    if !sets.differences.is_empty() {
        differences(&mut page, sets.differences);
    }
    judged(&mut page, limits);
    page.finish()
}

/// The limits alone, below a comparison of one run with another.
pub fn gate_limits(sets: &RunSets<'_>, limits: &[GateLimit], style: &Style) -> String {
    let mut page = TextPage::new(style);
    judged(&mut page, limits);
    if let Some(line) = sets.too_few() {
        page.paragraph(Tone::Plain, &line);
    }
    page.finish()
}

/// The figures that have a limit, each with the interval by which it is judged; none without
/// limits.
pub(crate) fn limited(limits: &[GateLimit], rows: &[GateRow]) -> Option<Vec<GateRow>> {
    let limited = rows.iter().filter_map(|row| {
        let limit = limits.iter().find(|it| it.figure == row.figure)?;
        let ratio = limit.ratio;
        Some(GateRow {
            ratio,
            ..row.clone()
        })
    });
    (!limits.is_empty()).then(|| limited.collect())
}

/// What a gate with a baseline of so many runs can see, before anything new is measured.
pub fn gate_power(base: &[Run], limits: &[GateLimit], style: &Style) -> String {
    let mut page = TextPage::new(style);
    let runs = format_counted(base.len() as u64, "baseline run");
    let elapsed: u64 = base.iter().map(|it| it.elapsed_ns).sum();
    let each = format_duration_ns(elapsed as f64 / base.len().max(1) as f64);
    page.heading(&format!("One new run against {runs}, {each} each"));
    for limit in limits {
        let power = power(limit).unwrap_or_else(|| evidence(limit) + ".");
        page.item(Tone::Plain, &limit.rule, &power);
        if let Some(line) = trend(limit) {
            page.paragraph(Tone::Doubtful, &line);
        }
    }
    page.finish()
}

fn judged(page: &mut TextPage<'_>, limits: &[GateLimit]) {
    if limits.is_empty() {
        return;
    }
    page.blank();
    page.heading("Limits");
    for limit in limits {
        let (tone, mark) = verdict(limit.verdict);
        page.item(tone, mark, &format!("{}: {}", limit.rule, evidence(limit)));
        for line in power(limit).into_iter().chain(trend(limit)) {
            page.item(Tone::Quiet, &" ".repeat(mark.len()), &line);
        }
    }
}

/// What a gate of so many runs can see: `This gate sees p99 rise by 35 % or more. It needs 8 runs a
/// side to pass an unchanged p99.`
pub(crate) fn power(limit: &GateLimit) -> Option<String> {
    let sees = limit.sees?;
    let name = spoken(&limit.figure);
    let way = if sees > 1.0 { "rise" } else { "fall" };
    let least = format_count((sees - 1.0).abs() * 100.0);
    let needs = match limit.runs_needed {
        None => "needs more than 1,000 runs a side".to_owned(),
        Some(runs) if runs <= limit.base_runs.min(limit.new_runs) => "has enough runs".into(),
        Some(runs) => format!("needs {runs} runs a side"),
    };
    Some(format!(
        "This gate sees {name} {way} by {least} % or more. It {needs} to pass an unchanged {name}."
    ))
}

/// A slow decline that no single comparison shows.
pub(crate) fn trend(limit: &GateLimit) -> Option<String> {
    // A step that the limit has shown is no slow decline.
    let is_step = limit.verdict == LimitVerdict::Exceeded;
    let trend = limit.trend.filter(|_| !is_step)?;
    let change = change_in_words(&limit.figure, trend);
    let runs = trend.samples;
    Some(format!(
        "Slow decline over all {runs} runs: {change}. Compare with older runs."
    ))
}

/// Ratios as a table; of too few runs they have no interval.
pub(crate) fn ratios(rows: &[GateRow]) -> Table {
    let rows = rows.iter().map(|row| {
        let alone = || Estimate::exact(row.new / row.base, 1.0).without_interval();
        let [base, new] = [row.base, row.new].map(|it| Estimate::exact(it, 1.0));
        RatioRow {
            levels: vec![row.figure.clone()],
            unit: row.unit,
            better: row.better,
            values: [base, new, row.ratio.unwrap_or_else(alone)],
            shown: changed(row),
        }
    });
    ratio_table(&["figure"], rows)
}

/// The same as one Markdown table.
pub fn gate_markdown(sets: &RunSets<'_>, limits: &[GateLimit], rows: &[GateRow]) -> String {
    let mut text = String::new();
    if !limits.is_empty() {
        text.push_str("| verdict | limit | evidence |\n| --- | --- | --- |\n");
        for limit in limits {
            let (_, mark) = verdict(limit.verdict);
            let more = power(limit).into_iter().chain(trend(limit));
            let more: String = more
                .map(|it| format!(". {}", it.trim_end_matches('.')))
                .collect();
            let evidence = evidence(limit);
            text.push_str(&format!("| {mark} | {} | {evidence}{more} |\n", limit.rule));
        }
        text.push('\n');
    }
    let limited = limited(limits, rows);
    let rows = limited.as_deref().unwrap_or(rows);
    text.push_str("| figure | base | new | ratio | 95 % interval | |\n");
    text.push_str("| --- | ---: | ---: | ---: | --- | --- |\n");
    for row in rows {
        let (base, new) = (row.unit.format(row.base), row.unit.format(row.new));
        let ((ratio, interval), word) = (ratio(row), changed(row));
        let figure = &row.figure;
        text.push_str(&format!(
            "| {figure} | {base} | {new} | {ratio} | {interval} | {word} |\n"
        ));
    }
    let together = limits.is_empty() && rows.iter().any(|it| it.ratio.is_some());
    let together = together.then(|| TOGETHER.to_owned());
    for line in [sets.commit_range(), sets.unlike(), sets.too_few(), together]
        .into_iter()
        .flatten()
    {
        text.push_str(&format!("\n{line}\n"));
    }
    if !sets.differences.is_empty() {
        text.push_str("\n| differs | base | new |\n| --- | --- | --- |\n");
        for it in sets.differences {
            let line = |value: &str| value.replace('\n', " ").replace('|', "\\|");
            let (base, new) = (line(&it.base), line(&it.new));
            text.push_str(&format!("| {} | {base} | {new} |\n", it.key));
        }
    }
    text
}

/// The same for programs: verdicts, figures by name, and what differs. `verdict` is the whole's.
pub fn gate_json(
    sets: &RunSets<'_>,
    limits: &[GateLimit],
    rows: &[GateRow],
    verdict: &str,
) -> String {
    let figures = rows.iter().map(|row| {
        let figure = json!({
            "base": row.base,
            "new": row.new,
            "unit": row.unit,
            "ratio": row.new / row.base,
            "ratio_low": row.ratio.map(|it| it.low),
            "ratio_high": row.ratio.map(|it| it.high),
            "change": if row.ratio.is_some() { changed(row) } else { "too few runs" },
        });
        (row.figure.clone(), figure)
    });
    let differences = sets.differences.iter();
    let differences =
        differences.map(|it| json!({ "key": it.key, "base": it.base, "new": it.new }));
    let document = ComparisonJson {
        summary: json!({
            "verdict": verdict,
            "base_runs": sets.base,
            "new_runs": sets.new,
            "commits": sets.commits,
            "figures": Value::Object(figures.collect()),
        }),
        limits,
        differences: differences.collect(),
    };
    let text = serde_json::to_string_pretty(&document);
    text.expect("a document has no keys but text") + "\n"
}

/// The summary comes first, as in a run's JSON.
#[derive(Serialize)]
struct ComparisonJson<'a> {
    summary: Value,
    limits: &'a [GateLimit],
    differences: Vec<Value>,
}

fn ratio(row: &GateRow) -> (String, String) {
    match row.ratio {
        Some(it) => format_interval_count(it.value, it.low, it.high),
        None => (format!("{:.2}", row.new / row.base), "too few runs".into()),
    }
}

/// What the interval shows, in a word.
pub(crate) fn changed(row: &GateRow) -> &'static str {
    let Some(ratio) = row.ratio else {
        return "";
    };
    match row.better {
        _ if ratio.contains(1.0) => "no difference shown",
        Better::Neither => "differs",
        Better::Higher if ratio.low > 1.0 => "better",
        Better::Lower if ratio.high < 1.0 => "better",
        Better::Higher | Better::Lower => "worse",
    }
}

/// What changed, a sentence for each figure that did.
pub(crate) fn changes(rows: &[GateRow]) -> Vec<String> {
    let shown = rows.iter().filter_map(|row| {
        let ratio = row.ratio.filter(|it| !it.contains(1.0))?;
        let change = change_in_words(&row.figure, ratio);
        Some(format!("{}: {change}.", capitalised(changed(row))))
    });
    let shown: Vec<String> = shown.collect();
    let has_intervals = rows.iter().any(|row| row.ratio.is_some());
    match shown.is_empty() && has_intervals {
        true => vec!["No figure differs from the baseline at 95 % confidence.".into()],
        false => shown,
    }
}

/// A limit and what became of it, as in `PASS p99 > +10%.`
pub(crate) fn in_words(limit: &GateLimit) -> String {
    format!("{} {}.", verdict(limit.verdict).1, limit.rule)
}

pub(crate) fn evidence(limit: &GateLimit) -> String {
    let GateLimit {
        figure,
        base_runs,
        new_runs,
        ..
    } = limit;
    let Some(found) = limit.ratio else {
        return format!(
            "not enough runs with a usable {} (baseline {base_runs}, new {new_runs})",
            spoken(figure)
        );
    };
    let change = change_in_words(figure, found);
    let each = each_bound(&found);
    format!("{change}, {each}")
}
