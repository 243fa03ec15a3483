//! Runs compared with the first of them as a page: each ratio with its interval, curves and
//! distributions in one chart, what differs in the setup.

use results::{
    Curve, FigureRatio, GateLimit, GateRow, LimitVerdict, Role, Run, SetupDifference, Table,
    compare as ratios, setup_differences,
};
use units::format_counted;

use super::facts::facts;
use super::tables::{self, Labels, folded};
use super::{HtmlSection, alone, document, grid};
use crate::charts::load::overlaid;
use crate::charts::nines::overlaid_nines;
use crate::compare::{ComparisonError, ONE_RUN_A_SIDE, changed, in_words, name, ratios_of};
use crate::figure::headline;
use crate::gate::{self, RunSets};
use crate::markup::escaped;
use crate::names::capitalised;
use crate::plot::Plot;
use crate::plot::svg::PageCharts;
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
    let mut labels = Labels::default();
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
        compared.push_str(&table(new, &ratios_of(&shown), &mut labels));
        if !details.is_empty() {
            let details = table(new, &ratios_of(&details), &mut labels);
            compared.push_str(&folded("More metrics", &details));
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
    let mut drawn = PageCharts::default();
    let sections = [
        HtmlSection::new("figures", "Ratios, new over base", compared),
        HtmlSection::new("load", "Latency against load", alone(&load, &mut drawn)),
        HtmlSection::new(
            "nines",
            "Latency by percentile",
            grid("", &nines, &mut drawn),
        ),
        HtmlSection::new("setup", "What differs in the setup", differences),
    ];
    let rules = labels.into_rules();
    Ok(document(&title, &header, &sections, "", &rules))
}

/// Why these runs cannot be compared, what each of them is and in what they differ, as a page of a
/// server, with a link to its list.
pub fn not_compared_html(runs: &[Run], why: &str) -> String {
    let header = format!(
        "<header>\n<h1>Not compared</h1>\n<p class=\"lead long\">{}</p>\n</header>\n",
        escaped(&capitalised(why))
    );
    let each: Vec<(String, String)> = runs.iter().map(|it| (name(it), headline(it))).collect();
    let each = each.iter().map(|(name, it)| (name.as_str(), it.clone()));
    let others = runs.split_first().into_iter().flat_map(|(base, others)| {
        let each = others.iter().map(move |new| (base, new));
        each.map(|(base, new)| format!("<h3>{}</h3>\n{}", escaped(&name(new)), setup(base, new)))
    });
    let runs = if runs.is_empty() {
        String::new()
    } else {
        facts(each)
    };
    let next = "<p>Tick runs of one command with equal workloads: <a href=\".\">list of runs</a>.\
                </p>\n";
    let sections = [
        HtmlSection::new("runs", "Runs", runs),
        HtmlSection::new("next", "What to compare", next.to_owned()),
        HtmlSection::new("setup", "What differs in the setup", others.collect()),
    ];
    document("not compared", &header, &sections, "", "")
}

/// Sets of runs held against each other, as a page: the limits with their verdicts, each ratio, and
/// the curves and distributions of all `runs` in one chart.
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
            LimitVerdict::Kept => "reliable",
            LimitVerdict::Exceeded => "invalid",
            LimitVerdict::Undecided => "warning",
        };
        let (rule, evidence) = (escaped(&limit.rule), escaped(&gate::evidence(limit)));
        let more = gate::power(limit).into_iter().chain(gate::trend(limit));
        let more: Vec<String> = more.map(|it| escaped(&it)).collect();
        format!(
            "<p><span class=\"t {class}\">{mark}</span> <b>{rule}</b>: {evidence}</p>\n\
             <p class=\"legend\">{}</p>\n",
            more.join(" ")
        )
    });
    let title = gate::title(sets);
    let header = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n",
        escaped(&title),
        escaped(&lead.join(" "))
    );
    let [load, nines] = charts(runs);
    let mut labels = Labels::default();
    let mut drawn = PageCharts::default();
    let sections = [
        HtmlSection::new("limits", "Limits", judged.collect()),
        HtmlSection::new(
            "figures",
            "Ratios, new over baseline",
            gate_figures(sets, limits, rows, runs.first(), &mut labels),
        ),
        HtmlSection::new("load", "Latency against load", alone(&load, &mut drawn)),
        HtmlSection::new(
            "nines",
            "Latency by percentile",
            grid("", &nines, &mut drawn),
        ),
        HtmlSection::new(
            "setup",
            "What differs in the setup",
            differing(sets.differences),
        ),
    ];
    document(&title, &header, &sections, "", &labels.into_rules())
}

/// The ratios; with limits first those that have one, as they are judged.
fn gate_figures(
    sets: &RunSets<'_>,
    limits: &[GateLimit],
    rows: &[GateRow],
    run: Option<&Run>,
    labels: &mut Labels,
) -> String {
    let legend = |text: &str| format!("<p class=\"legend\">{}</p>\n", escaped(text));
    let mut of = |rows: &[GateRow]| {
        run.map_or_else(String::new, |run| table(run, &gate::ratios(rows), labels))
    };
    let limited = gate::limited(limits, rows).map(|it| of(&it));
    let all = of(rows) + &legend(gate::TOGETHER);
    let figures = match limited {
        Some(limited) => limited + &folded("All metrics", &all),
        None => all,
    };
    let below = [sets.unlike(), sets.too_few()].into_iter().flatten();
    figures + &below.map(|it| legend(&it)).collect::<String>()
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

fn table(run: &Run, ratios: &Table, labels: &mut Labels) -> String {
    tables::one(run, ratios, labels, &ratios.metrics(), true)
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
