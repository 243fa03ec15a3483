//! Runs compared with the first of them as a page: each ratio with its interval, curves and
//! distributions in one chart, what differs in the setup.

use results::{
    Curve, FigureRatio, GateLimit, GateRow, LimitVerdict, Role, Run, SetupDifference, Shown, Unit,
    compare as ratios, setup_differences,
};
use stats::Estimate;
use units::format_counted;

use super::facts::facts;
use super::tables::{folded, level_in_print};
use super::{Section, document, grid};
use crate::charts::load::overlaid;
use crate::charts::nines::overlaid_nines;
use crate::compare::{ComparisonError, ONE_RUN_A_SIDE, changed, in_words, name, verdict};
use crate::figure::estimated;
use crate::gate::{self, RunSets};
use crate::markup::{escaped, in_print};
use crate::names::words;
use crate::plot::Plot;
use crate::plot::strip::{Sense, Strip};
use crate::plot::svg::Drawn;
use crate::verdicts;

/// Runs that a chart tells apart.
const RUNS_DRAWN: usize = 6;

/// Each run compared with the first, as a page.
///
/// # Errors
/// When a run has no row in common with the first.
pub fn comparison_html(runs: &[Run]) -> Result<String, ComparisonError> {
    let [base, others @ ..] = runs else {
        return Err(ComparisonError::OneRun);
    };
    let mut compared = String::new();
    let mut differences = String::new();
    let mut lead = String::new();
    for new in others {
        let found = ratios(base, new);
        let (details, shown): (Vec<&FigureRatio>, Vec<&FigureRatio>) =
            found.iter().partition(|it| it.role == Role::Detail);
        if shown.is_empty() {
            return Err(ComparisonError::NothingShared(name(base), name(new)));
        }
        let heading = format!("<h3>{}</h3>\n", escaped(&name(new)));
        lead = in_words(&shown);
        compared.push_str(&heading);
        if others.len() > 1 {
            compared.push_str(&format!("<p>{}</p>\n", escaped(&lead)));
        }
        compared.push_str(&table(&shown));
        if !details.is_empty() {
            compared.push_str(&folded("More figures", &table(&details)));
        }
        differences.push_str(&format!("{heading}{}", setup(base, new)));
    }
    match others {
        [] => return Err(ComparisonError::OneRun),
        [_] => {}
        _ => lead = format_counted(others.len() as u64, "run") + " compared",
    }
    compared.push_str(&format!("<p class=\"legend\">{ONE_RUN_A_SIDE}</p>\n"));
    let title = format!("Compared with {}", name(base));
    let header = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        escaped(&title),
        escaped(&lead)
    );
    let [load, nines] = charts(runs);
    let mut drawn = Drawn::default();
    let sections = [
        Section::new("figures", "Ratios, new over base", compared),
        Section::new("load", "Latency over load", grid("", &load, &mut drawn)),
        Section::new(
            "nines",
            "Latency by percentile",
            grid("", &nines, &mut drawn),
        ),
        Section::new("setup", "What differs in the setup", differences),
    ];
    Ok(document(&title, &header, &sections, "", ""))
}

/// Sets of runs held against each other, as a page: the limits with their verdicts, each ratio, and
/// the curves and distributions of all `runs` in one chart.
#[must_use]
pub fn gate_html(
    sets: &RunSets<'_>,
    limits: &[GateLimit],
    rows: &[GateRow],
    runs: &[Run],
) -> String {
    let mut lead: Vec<String> = limits.iter().map(gate::in_words).collect();
    if lead.is_empty() {
        lead = sets
            .too_few()
            .into_iter()
            .chain(gate::changes(rows))
            .collect();
    }
    let judged = limits.iter().map(|limit| {
        let (_, mark) = verdicts::verdict(limit.verdict);
        let class = match limit.verdict {
            LimitVerdict::Kept => "sound",
            LimitVerdict::Exceeded => "void",
            LimitVerdict::Undecided => "doubt",
        };
        let (rule, evidence) = (escaped(&limit.rule), escaped(&gate::evidence(limit)));
        format!("<p><span class=\"t {class}\">{mark}</span> <b>{rule}</b>: {evidence}</p>\n")
    });
    let title = gate::title(sets);
    let header = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        escaped(&title),
        escaped(&lead.join(" "))
    );
    let [load, nines] = charts(runs);
    let mut drawn = Drawn::default();
    let sections = [
        Section::new("limits", "Limits", judged.collect()),
        Section::new(
            "figures",
            "Ratios, new over baseline",
            gate_figures(sets, rows),
        ),
        Section::new("load", "Latency over load", grid("", &load, &mut drawn)),
        Section::new(
            "nines",
            "Latency by percentile",
            grid("", &nines, &mut drawn),
        ),
        Section::new(
            "setup",
            "What differs in the setup",
            differing(sets.differences),
        ),
    ];
    document(&title, &header, &sections, "", "")
}

fn gate_figures(sets: &RunSets<'_>, rows: &[GateRow]) -> String {
    let ratios = rows.iter().map(|row| (row, gate_ratio(row)));
    let ratios: Vec<(&GateRow, Estimate)> = ratios.collect();
    let strip = Strip::around_one(ratios.iter().map(|it| it.1));
    let mut figures = head(false);
    for (row, ratio) in ratios {
        let word = gate::changed(row);
        let class = Sense::of(word).class();
        let values = [row.base, row.new].map(|it| Estimate::exact(it, 1.0));
        let name = (row.figure.as_str(), "", "");
        figures.push_str(&line(name, row.unit, values, ratio, (class, word), &strip));
    }
    figures.push_str("</tbody></table></div>\n");
    let below = [
        sets.unlike(),
        sets.too_few(),
        Some(gate::TOGETHER.to_owned()),
    ];
    for text in below.into_iter().flatten() {
        figures.push_str(&format!("<p class=\"legend\">{}</p>\n", escaped(&text)));
    }
    figures
}

/// The ratio of a figure; of too few runs without an interval.
fn gate_ratio(row: &GateRow) -> Estimate {
    let alone = Estimate::exact(row.new / row.base, 1.0).without_interval();
    row.ratio.unwrap_or(alone)
}

/// Curves with equal titles in one chart, and distributions of measurements with equal names.
fn charts(runs: &[Run]) -> [Vec<Plot>; 2] {
    let drawn = &runs[..runs.len().min(RUNS_DRAWN)];
    let named: Vec<(String, &Run)> = drawn.iter().map(|run| (name(run), run)).collect();
    let of_base = drawn.first().into_iter().flat_map(|run| &run.curves);
    let load = of_base.filter_map(|base| {
        let alike = named.iter().filter_map(|(name, run)| {
            let mut curves = run.curves.iter();
            let curve = curves.find(|curve| curve.title == base.title)?;
            Some((name.clone(), curve))
        });
        let alike: Vec<(String, &Curve)> = alike.collect();
        (alike.len() > 1).then(|| overlaid(&alike)).flatten()
    });
    [load.collect(), overlaid_nines(&named)]
}

fn table(shown: &[&FigureRatio]) -> String {
    let strip = Strip::around_one(shown.iter().map(|it| it.ratio));
    let mut text = head(true);
    for it in shown {
        text.push_str(&row(it, &strip));
    }
    text + "</tbody></table></div>\n"
}

/// The headings; of rows that are figures themselves no column names the metric.
fn head(has_metric: bool) -> String {
    let mut text = String::from("<div class=\"wide\"><table><thead><tr>");
    let first: &[(&str, &str)] = match has_metric {
        true => &[("", "row"), ("", "metric")],
        false => &[("", "figure")],
    };
    for &(class, heading) in first.iter().chain(&[
        ("n", "base"),
        ("n", "new"),
        ("n", "ratio"),
        ("strip", "interval of the ratio, around 1"),
        ("", "shown"),
    ]) {
        text.push_str(&format!(
            "<th scope=\"col\" class=\"{class}\">{heading}</th>"
        ));
    }
    text + "</tr></thead>\n<tbody>\n"
}

fn row(it: &FigureRatio, strip: &Strip) -> String {
    let class = match it.shown {
        Shown::Better => "sound",
        Shown::Worse => "void",
        Shown::Differs => "differs",
        Shown::Nothing | Shown::NoInterval | Shown::Untrusted(_) => "",
    };
    let (row, table, metric) = (level_in_print(&it.row), words(&it.table), words(&it.metric));
    let said = (class, verdict(it.shown));
    line(
        (&row, &table, &metric),
        it.unit,
        [it.base, it.new],
        it.ratio,
        said,
        strip,
    )
}

/// A row of the table: its names, both values, the ratio, and a word in a class.
fn line(
    (row, table, metric): (&str, &str, &str),
    unit: Unit,
    [base, new]: [Estimate; 2],
    found: Estimate,
    (class, word): (&str, &str),
    strip: &Strip,
) -> String {
    let value = |label: &str, estimate: Estimate| {
        format!(
            "<td class=\"n\" data-l=\"{label}\"><data value=\"{}\">{}</data></td>",
            estimate.value,
            escaped(&in_print(&estimated(unit, estimate).0))
        )
    };
    let (ratio, interval) = match found.is_bounded() {
        true => estimated(Unit::Ratio, found),
        false => (format!("{:.2}", found.value), String::new()),
    };
    let word = match word {
        "" => String::new(),
        word => format!("<span class=\"t {class}\">{word}</span>"),
    };
    let metric = match metric {
        "" => String::new(),
        metric => format!("<td>{}</td>", escaped(metric)),
    };
    format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th>{metric}{}{}\
         <td class=\"n h\" data-l=\"ratio\"><data value=\"{}\">{}</data><small>{}</small></td>\
         <td class=\"strip\">{}</td><td>{word}</td></tr>\n",
        escaped(row),
        escaped(table),
        value("base", base),
        value("new", new),
        found.value,
        escaped(&ratio),
        escaped(&in_print(&interval)),
        Strip::row(&strip.ratio(found)),
    )
}

fn setup(base: &Run, new: &Run) -> String {
    differing(&setup_differences(base, new))
}

fn differing(differences: &[SetupDifference]) -> String {
    if differences.is_empty() {
        return "<p>Machine, target and settings are the same.</p>\n".to_owned();
    }
    facts(
        differences
            .iter()
            .map(|it| (it.key.as_str(), changed(&it.base, &it.new))),
    )
}
