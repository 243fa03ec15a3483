//! Systems beside each other, figure by figure, as in the tables of the KP3 notes: value, what the
//! maker says, performance relative to one system; then the mean performance and what it costs.

use std::collections::BTreeMap;

use results::{FigureRatio, FileSystemRole, PRICE, Price, Role, Run, Shown, compare as ratios};
use serde::Deserialize;
use stats::Estimate;
use units::{format_count, format_counted, format_interval_count};

use crate::compare::name;
use crate::figure::{estimated, percent};
use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::system::{DescribeModel, describe, short_name};
use crate::table::{Align, TextTable};

/// Figures that a message names.
const NAMED_MAX: usize = 20;

/// What no program finds out about a system.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemFacts {
    /// The number of the run that was measured on it.
    pub run: i64,
    /// What it is called in the table.
    pub name: Option<String>,
    /// What it costs, in the currency of all systems.
    pub price: Option<f64>,
    /// What its maker says of a figure, by the name of the figure or of row and figure.
    #[serde(default)]
    pub specified: BTreeMap<String, String>,
    /// Whatever else shall stand in its description.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}

/// What is wanted of the table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemsTable {
    /// The system that has performance 1, by its place among the runs, from 1.
    #[serde(skip)]
    pub against: Option<u32>,
    /// The figures that are shown; all but details where there are none.
    #[serde(skip)]
    pub metrics: Vec<String>,
    /// What prices are in.
    pub currency: Option<String>,
    /// What is known of systems, in any order.
    #[serde(default, rename = "system")]
    pub systems: Vec<SystemFacts>,
}

impl SystemsTable {
    /// What a file says of systems, in TOML.
    ///
    /// # Errors
    /// The line of the mistake where it has one, and what it is.
    // fuzzed: system_facts
    pub fn read(text: &str) -> Result<Self, (Option<usize>, String)> {
        let one = |line: &str| line.trim_start().starts_with("[system]");
        if let Some(line) = text.lines().position(one) {
            let message = "[system] is one table. Write [[system]] in front of each system";
            return Err((Some(line + 1), message.into()));
        }
        toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|it| text.get(..it.start));
            let line = before.map(|it| it.matches('\n').count() + 1);
            (line, error.message().replace('\n', " "))
        })
    }
}

impl SystemsTable {
    /// The runs with what their systems cost.
    ///
    /// # Errors
    /// When there are facts of a run that is not among them, or a price is none.
    pub fn price(&self, runs: &mut [Run]) -> Result<(), SystemsError> {
        check_facts(runs, &self.systems)?;
        for run in runs {
            let facts = self.systems.iter().find(|it| Some(it.run) == run.id);
            let price = facts.and_then(|it| it.price).map(|amount| Price {
                amount,
                currency: self.currency.clone(),
            });
            run.price = price.or(run.price.take());
        }
        Ok(())
    }
}

/// Why there is no table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SystemsError {
    /// There is nothing to compare with.
    #[error("a table of systems needs two runs or more: `runs list` has their numbers")]
    OneRun,
    /// The system to divide by is not there.
    #[error("--against {0}: no such system. They are numbered from 1 to {1}")]
    NoSuchSystem(u32, usize),
    /// A run shares no figure with that of performance 1.
    #[error(
        "{0} and {1} have no metric in common. Metrics compare when tables, levels and names are \
         equal, as those of one study on two hosts"
    )]
    NothingShared(String, String),
    /// Facts of a run that is not compared.
    #[error("facts of run {0}: it is not among the compared runs")]
    NoSuchRun(i64),
    /// Two tables about one run.
    #[error("facts of run {0} are given twice")]
    Twice(i64),
    /// A price that is none.
    #[error("run {0}: {1} is not a price. Use a number above 0")]
    Price(i64, f64),
    /// A specification of a figure that the table does not have.
    #[error("run {0}: `{1}` is specified, and no figure of the table is called so. There are {2}")]
    NoSuchFigure(i64, String, String),
    /// A specification that cannot be read.
    #[error("run {run}: {figure:?} is specified as {text:?}. Give it as in {example:?}")]
    Specified {
        run: i64,
        figure: String,
        /// What was given.
        text: String,
        /// How the measured value is written.
        example: String,
    },
}

/// One system with what is known of it.
struct ComparedSystem<'a> {
    number: usize,
    run: &'a Run,
    facts: Option<&'a SystemFacts>,
    /// Its figures over those of the system with performance 1.
    found: Vec<FigureRatio>,
}

/// Each figure of runs, system by system, relative to one of them.
///
/// # Errors
/// When runs share no figure, or facts are about nothing that is compared.
pub fn systems_comparison(
    runs: &[Run],
    wanted: &SystemsTable,
    style: &Style,
    models: DescribeModel<'_>,
) -> Result<String, SystemsError> {
    if runs.len() < 2 {
        return Err(SystemsError::OneRun);
    }
    let against = wanted.against.unwrap_or(1);
    let base = (against as usize)
        .checked_sub(1)
        .and_then(|at| runs.get(at));
    let base = base.ok_or(SystemsError::NoSuchSystem(against, runs.len()))?;
    let is_shown = |it: &FigureRatio| match wanted.metrics.as_slice() {
        [] => it.role != Role::Detail,
        metrics => metrics.contains(&it.metric),
    };
    let mut systems = Vec::new();
    for (number, run) in (1..).zip(runs) {
        let mut found = ratios(base, run);
        found.retain(is_shown);
        if found.is_empty() {
            return Err(SystemsError::NothingShared(name(base), name(run)));
        }
        let facts = wanted.systems.iter().find(|it| Some(it.run) == run.id);
        systems.push(ComparedSystem {
            number,
            run,
            facts,
            found,
        });
    }
    let mut described = String::new();
    for system in &systems {
        let place = (&system.run.target, FileSystemRole::Target);
        describe(&mut described, system.number, system.run, place, models);
        described.push_str(&system.facts_line(wanted.currency.as_deref()));
    }
    let mut page = TextPage::new(style);
    figures(&mut page, &systems, against as usize)?;
    page.blank();
    means(
        &mut page,
        &systems,
        against as usize,
        wanted.currency.as_deref(),
    );
    page.blank();
    page.paragraph(Tone::Quiet, &legend(against));
    Ok(format!("{described}\n{}", page.finish()))
}

fn check_facts(runs: &[Run], facts: &[SystemFacts]) -> Result<(), SystemsError> {
    for (place, it) in facts.iter().enumerate() {
        if !runs.iter().any(|run| run.id == Some(it.run)) {
            return Err(SystemsError::NoSuchRun(it.run));
        }
        if facts[..place].iter().any(|other| other.run == it.run) {
            return Err(SystemsError::Twice(it.run));
        }
        let price = it
            .price
            .filter(|price| !(price.is_finite() && *price > 0.0));
        if let Some(price) = price {
            return Err(SystemsError::Price(it.run, price));
        }
    }
    Ok(())
}

impl ComparedSystem<'_> {
    fn name(&self) -> String {
        let given = self.facts.and_then(|it| it.name.clone());
        let name = given.unwrap_or_else(|| short_name(&self.run.target));
        format!("[{}] {name}", self.number)
    }

    /// Price and free facts, as they were given.
    fn facts_line(&self, currency: Option<&str>) -> String {
        let Some(facts) = self.facts else {
            return String::new();
        };
        let price = facts
            .price
            .map(|it| format!("price {}", money(it, currency)));
        let others = facts.facts.iter().map(|(key, it)| format!("{key} {it}"));
        let all: Vec<String> = price.into_iter().chain(others).collect();
        match all.as_slice() {
            [] => String::new(),
            all => format!("    {}\n", all.join(", ")),
        }
    }

    fn figure(&self, of: &FigureRatio) -> Option<&FigureRatio> {
        self.found.iter().find(|it| is_same(it, of))
    }

    /// What the maker says of a figure, and the measured part of it.
    fn specified(&self, of: &FigureRatio) -> Result<[String; 2], SystemsError> {
        let found = self.facts.and_then(|it| Some((it, it.specification(of)?)));
        let Some((facts, (_, text))) = found else {
            return Ok(Default::default());
        };
        let value = of.unit.parse(text).filter(|it| *it > 0.0);
        let value = value.ok_or_else(|| SystemsError::Specified {
            run: facts.run,
            figure: of.metric.clone(),
            text: text.clone(),
            example: of.unit.format(of.new.value),
        })?;
        Ok([text.clone(), percent(of.new.value / value)])
    }
}

impl SystemFacts {
    /// What is specified for a figure, under the name of its row and its own, or its own alone. A
    /// level may be named with its factor.
    fn specification(&self, of: &FigureRatio) -> Option<(&String, &String)> {
        let in_full = format!("{} {}", of.row, of.metric);
        let is_it = |key: &&String| {
            let level = key.split_once('=').map(|(_, level)| level);
            **key == in_full || !of.row.contains('=') && level == Some(&in_full)
        };
        let whole = self.specified.keys().find(is_it).unwrap_or(&of.metric);
        self.specified.get_key_value(whole)
    }
}

fn is_same(it: &FigureRatio, other: &FigureRatio) -> bool {
    (&it.table, &it.row, &it.metric) == (&other.table, &other.row, &other.metric)
}

/// Below each figure the systems that have it.
fn figures(
    page: &mut TextPage<'_>,
    systems: &[ComparedSystem<'_>],
    against: usize,
) -> Result<(), SystemsError> {
    let base = &systems[against - 1];
    let mut table = TextTable::new(&[
        ("figure and system", Align::Left, 9),
        ("measured", Align::Right, 9),
        ("95 % interval", Align::Left, 5),
        ("specified", Align::Right, 7),
        ("of that", Align::Right, 7),
        ("performance", Align::Right, 9),
        ("95 % interval", Align::Left, 8),
        ("", Align::Left, 9),
    ]);
    let mut used: Vec<(i64, &String)> = Vec::new();
    for of in &base.found {
        let having: Vec<_> = systems
            .iter()
            .filter_map(|it| Some((it, it.figure(of)?)))
            .collect();
        if having.len() < 2 {
            continue;
        }
        let title = format!("{}, {}", of.row, of.metric);
        table.row(
            Tone::Strong,
            [title].into_iter().chain(vec![String::new(); 7]),
        );
        for (system, it) in having {
            let specified = system.specified(it)?;
            let facts = system.facts;
            let named = facts.and_then(|facts| Some((facts.run, facts.specification(it)?.0)));
            used.extend(named);
            let is_base = system.number == against;
            table.row(tone(it), cells(system, it, specified, is_base));
        }
    }
    let facts = systems.iter().filter_map(|it| it.facts);
    let mut given = facts.flat_map(|it| it.specified.keys().map(move |key| (it.run, key)));
    if let Some((run, key)) = given.find(|it| !used.contains(it)) {
        let names = base
            .found
            .iter()
            .map(|it| format!("`{} {}`", it.row, it.metric));
        let names: Vec<String> = names.take(NAMED_MAX).collect();
        return Err(SystemsError::NoSuchFigure(
            run,
            key.clone(),
            names.join(", "),
        ));
    }
    page.whole_table(&table);
    Ok(())
}

fn cells(
    system: &ComparedSystem<'_>,
    it: &FigureRatio,
    specified: [String; 2],
    is_base: bool,
) -> [String; 8] {
    let (value, interval) = estimated(it.unit, it.new);
    let relative = it.performance().filter(|_| !is_base);
    let (performance, within) = match relative {
        Some(found) if found.is_bounded() => {
            format_interval_count(found.value, found.low, found.high)
        }
        Some(found) => (format_count(found.value), String::new()),
        None if is_base && it.performance().is_some() => ("1".to_owned(), String::new()),
        None => (String::new(), String::new()),
    };
    let word = match it.shown {
        Shown::Untrusted(_) => it.shown.word(),
        _ => "",
    };
    let [specified, part] = specified;
    let name = format!("  {}", system.name());
    [
        name,
        value,
        interval,
        specified,
        part,
        performance,
        within,
        word.to_owned(),
    ]
}

const fn tone(it: &FigureRatio) -> Tone {
    match it.shown {
        Shown::Untrusted(_) => Tone::Quiet,
        _ => Tone::Plain,
    }
}

/// What each system is on average over the figures that all have, and what that costs.
fn means(
    page: &mut TextPage<'_>,
    systems: &[ComparedSystem<'_>],
    against: usize,
    currency: Option<&str>,
) {
    let base = &systems[against - 1];
    let is_usable = |it: &FigureRatio| {
        // What is per unit of money tells the same once more.
        let is_own = it.table != PRICE;
        is_own && !matches!(it.shown, Shown::Untrusted(_)) && it.performance().is_some()
    };
    let shared = base.found.iter().filter(|of| {
        let mut found = systems.iter().map(|it| it.figure(of));
        found.all(|it| it.is_some_and(is_usable))
    });
    let shared: Vec<&FigureRatio> = shared.collect();
    if shared.is_empty() {
        page.paragraph(
            Tone::Plain,
            "No figure that all systems have can be averaged.",
        );
        return;
    }
    let rows = shared.chunk_by(|one, other| (&one.table, &one.row) == (&other.table, &other.row));
    let rows: Vec<&[&FigureRatio]> = rows.collect();
    let count = format_counted(rows.len() as u64, "row");
    page.heading(&format!(
        "Mean performance over {count} that all systems have"
    ));
    let mut table = TextTable::new(&[
        ("system", Align::Left, 9),
        ("performance", Align::Right, 9),
        ("least .. most", Align::Left, 7),
        ("price", Align::Right, 8),
        ("performance/price", Align::Right, 8),
    ]);
    let base_price = base.facts.and_then(|it| it.price);
    for system in systems {
        let found = shared
            .iter()
            .filter_map(|of| system.figure(of)?.performance());
        let found: Vec<f64> = found.map(|it: Estimate| it.value).collect();
        // Figures of one row tell the same time in other ways: each row counts once.
        let of_row = |row: &&[&FigureRatio]| {
            let found = row.iter().filter_map(|of| system.figure(of)?.performance());
            found.map(|it| it.value.ln()).sum::<f64>() / row.len() as f64
        };
        let mean = (rows.iter().map(of_row).sum::<f64>() / rows.len() as f64).exp();
        let least = found.iter().copied().fold(f64::INFINITY, f64::min);
        let most = found.iter().copied().fold(0.0, f64::max);
        let price = system.facts.and_then(|it| it.price);
        let worth = price
            .zip(base_price)
            .map(|(price, base)| mean * base / price);
        table.row(
            Tone::Plain,
            [
                system.name(),
                format_count(mean),
                format!("{} .. {}", format_count(least), format_count(most)),
                price.map_or_else(String::new, |it| money(it, currency)),
                worth.map_or_else(String::new, format_count),
            ],
        );
    }
    page.table(&table);
}

/// An amount in the currency that was given, if one was.
fn money(amount: f64, currency: Option<&str>) -> String {
    let currency = currency.map(str::to_owned);
    Price { amount, currency }.to_string()
}

fn legend(against: u32) -> String {
    format!(
        "Performance: relative to [{against}], which is 1. Above 1 is better, for times \
         as for rates. Each interval covers the variation within the runs, not from run to \
         run. Means are geometric, and each row counts once. They have no interval, since \
         figures of one run may vary together. Performance/price is relative to [{against}], too."
    )
}
