//! The tables of a run as tables of a page: values with their intervals, a strip that shows them on
//! one scale, how far each row can be trusted.

use results::{Figure, Metric, Role, Row, Run, Table, Trust, Unit};
use units::format_counted;

use crate::figure::{indicative_legend, legend};
use crate::markup::{Printed, escaped, in_print, with_commands};
use crate::names::{capitalised, metric_words, words};
use crate::plot::Extent;
use crate::plot::axis::{Axis, AxisScale, tick_label};
use crate::plot::strip::{SHOWN, Sense, Strip};

/// A longer first table is folded, as all others are.
const ROWS_MAX: usize = 24;
/// The percentiles that a strip of times goes from and to.
const SPREAD: [&str; 2] = ["-p50", "-p99"];

/// What the columns of a page's tables are called where they do not stand below each other:
/// rules for
/// the page's style, a tenth of the bytes of a name in each cell.
#[derive(Default)]
pub(super) struct Labels {
    rules: String,
    tables: usize,
}

impl Labels {
    /// Take up a table's columns, and give its class. Columns without a name are not labelled.
    fn take<'a>(&mut self, columns: impl Iterator<Item = Option<&'a str>>) -> String {
        self.tables += 1;
        let class = format!("c{}", self.tables);
        for (place, name) in columns.enumerate() {
            if let Some(name) = name {
                self.rules.push_str(&format!(
                    ".{class} td:nth-child({}){{--l:\"{}\"}}\n",
                    place + 1,
                    quoted(&metric_words(name))
                ));
            }
        }
        class
    }

    /// As part of a style.
    pub(super) fn into_rules(self) -> String {
        self.rules
    }
}

/// Text that cannot end a quoted string of a style, nor the style.
fn quoted(text: &str) -> String {
    let one = |c: char| match c {
        ' ' | '.' | '-' => c.to_string(),
        c if c.is_alphanumeric() => c.to_string(),
        c => format!("\\{:x} ", u32::from(c)),
    };
    text.chars().map(one).collect()
}

/// All tables, and what the words and signs in them mean.
pub(super) fn all(run: &Run, tables: &[Table], labels: &mut Labels) -> String {
    let mut text = String::new();
    for (place, table) in tables.iter().enumerate() {
        // The first table is what the page is about.
        let open = if place == 0 && table.rows.len() <= ROWS_MAX {
            " open"
        } else {
            ""
        };
        let rows = format_counted(table.rows.len() as u64, "row");
        text.push_str(&format!(
            "<details class=\"table\"{open}><summary><h3>{}</h3> {rows}</summary>\n",
            escaped(&heading(table))
        ));
        let main = table.main_metrics();
        text.push_str(&one(run, table, labels, &main, true));
        let mut details = table.metrics();
        details.retain(|metric| !main.contains(metric));
        if !details.is_empty() {
            let details = one(run, table, labels, &details, false);
            text.push_str(&folded("More metrics", &details));
        }
        for note in &table.notes {
            text.push_str(&format!(
                "<p class=\"legend\">{}</p>\n",
                with_commands(&in_print(note))
            ));
        }
        text.push_str("</details>\n");
    }
    text.push_str(&legends(tables));
    text
}

fn heading(table: &Table) -> String {
    match table.title.as_str() {
        "" => capitalised(&words(&table.name)),
        title => title.to_owned(),
    }
}

pub(super) fn folded(what: &str, body: &str) -> String {
    format!("<details><summary>{what}</summary>\n{body}</details>\n")
}

/// A word of a row; what a comparison shows is set as a sign.
fn note_of(row: &Row, what: &str) -> String {
    let word = escaped(row.word(what));
    match what == SHOWN && !word.is_empty() {
        true => {
            let class = Sense::of(&word).class();
            format!("<td><span class=\"t {class}\">{word}</span></td>")
        }
        false => format!("<td>{word}</td>"),
    }
}

/// Details of a row are as trustworthy as the rest of it, where that is said.
pub(super) fn one(
    run: &Run,
    table: &Table,
    labels: &mut Labels,
    metrics: &[&Metric],
    is_main: bool,
) -> String {
    let strip = is_main.then(|| StripColumn::of(table)).flatten();
    // What is compared says itself how far.
    let has_trust = is_main && table.show.around_one.is_none();
    // A table of one row has no factor; its name is the row's.
    let factors = match table.factors.as_slice() {
        [] => vec![String::new()],
        _ => shown_factors(table)
            .map(|place| table.factors[place].clone())
            .collect(),
    };
    let notes = if is_main { table.words() } else { Vec::new() };
    let named = factors.iter().skip(1).map(|name| Some(name.as_str()));
    let columns = std::iter::once(None)
        .chain(named)
        .chain(strip.iter().map(|_| None))
        .chain(metrics.iter().map(|it| Some(it.name.as_str())))
        .chain(notes.iter().map(|it| Some(*it)));
    let class = labels.take(columns);
    let ranked_class = if table.show.is_ranked { " ranked" } else { "" };
    let mut text =
        format!("<div class=\"wide\"><table class=\"{class}{ranked_class}\"><thead><tr>");
    text.extend(factors.iter().map(|factor| {
        let factor = escaped(&words(factor));
        format!("<th scope=\"col\">{factor}</th>")
    }));
    if let Some(strip) = &strip {
        text.push_str(&format!(
            "<th scope=\"col\" class=\"strip\">{}</th>",
            strip.head(&class)
        ));
    }
    for metric in metrics {
        text.push_str(&format!(
            "<th scope=\"col\" class=\"n\">{}</th>",
            escaped(&metric_words(&metric.name))
        ));
    }
    for what in &notes {
        text.push_str(&format!("<th scope=\"col\">{}</th>", escaped(what)));
    }
    if has_trust {
        text.push_str("<th scope=\"col\">trust</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in table.ranked() {
        text.push_str(&format!("<tr class=\"{}\">", row.trust.name()));
        text.push_str(&levels(run, table, row));
        if let Some(strip) = &strip {
            text.push_str(&format!(
                "<td class=\"strip\">{}</td>",
                strip.mark(row, &class)
            ));
        }
        text.extend(metrics.iter().map(|it| cell(row, it)));
        text.extend(notes.iter().map(|it| note_of(row, it)));
        if has_trust {
            text.push_str(&format!("<td>{}</td>", trust(row)));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// The factors that some row has a level of, and the first, which names the rows.
fn shown_factors(table: &Table) -> impl Iterator<Item = usize> {
    let is_shown =
        |place: &usize| *place == 0 || table.rows.iter().any(|row| !row.levels[*place].is_empty());
    (0..table.factors.len()).filter(is_shown)
}

/// The levels of a row; of a measurement with what was done.
fn levels(run: &Run, table: &Table, row: &Row) -> String {
    let name = |text: &str| {
        let done = run.measurement(text).map_or("", |it| it.title.as_str());
        match done.is_empty() || table.factors.len() > 1 {
            // On a narrow page no heading of a column says what a bare number counts.
            true if text.parse::<f64>().is_ok() => format!(
                "{}<small>{}</small>",
                escaped(text),
                escaped(&words(&table.factors[0]))
            ),
            true => escaped(&level_in_print(text)),
            false => format!("{}<small>{}</small>", escaped(done), escaped(text)),
        }
    };
    match row.levels.as_slice() {
        [] => format!("<th scope=\"row\">{}</th>", escaped(&words(&table.name))),
        [first, ..] => {
            let mut text = format!("<th scope=\"row\">{}</th>", name(first));
            for place in shown_factors(table).skip(1) {
                let level = escaped(&level_in_print(&row.levels[place]));
                text.push_str(&format!("<td>{level}</td>"));
            }
            text
        }
    }
}

/// A level that is a number with its unit is set as such; a name stays as it is.
pub(super) fn level_in_print(level: &str) -> String {
    match level.starts_with(|c: char| c.is_ascii_digit()) {
        true => in_print(level),
        false => level.to_owned(),
    }
}

fn cell(row: &Row, metric: &Metric) -> String {
    let Some(figure) = row.figure(&metric.name) else {
        return "<td></td>".to_owned();
    };
    let printed = Printed::of(figure);
    let class = match figure.metric.role {
        Role::Headline => " class=\"h\"",
        _ => "",
    };
    let mut text = format!("<td{class}>");
    if figure.value.value.is_finite() {
        // The value to the last digit is for programs, and for readers who copy it.
        text.push_str(&format!(
            "<data value=\"{}\">{}</data>",
            figure.value.value,
            escaped(&printed.value)
        ));
    }
    if !printed.interval.is_empty() {
        text.push_str(&format!("<small>{}</small>", escaped(&printed.interval)));
    }
    text + "</td>"
}

fn trust(row: &Row) -> String {
    let word = row.trust.name();
    let mut codes: Vec<String> = Vec::new();
    for code in row.codes().into_iter().map(words) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    let mut text = format!("<span class=\"t {word}\">{word}</span>");
    if row.trust != Trust::Reliable && !codes.is_empty() {
        text.push_str(&format!("<small>{}</small>", escaped(&codes.join(", "))));
    }
    text
}

/// What the words and signs that occur mean.
fn legends(tables: &[Table]) -> String {
    let rows = || tables.iter().flat_map(|table| &table.rows);
    let mut notes = vec!["The small print is 95 % confidence intervals.".to_owned()];
    for trust in [Trust::Unstable, Trust::Invalid] {
        if rows().any(|row| row.trust == trust) {
            let (name, meaning) = (trust.name(), legend(trust));
            let meaning = meaning
                .strip_prefix(&format!("{name}: "))
                .unwrap_or(meaning);
            notes.push(format!("<b>{name}</b>: {}.", escaped(meaning)));
        }
    }
    if rows()
        .flat_map(|row| &row.figures)
        .any(|it| it.is_indicative)
    {
        notes.push(format!("<b>?</b>{}.", escaped(&indicative_legend()[1..])));
    }
    format!("<p class=\"legend\">{}</p>\n", notes.join(" "))
}

/// One figure of each row on a common scale: the spread of a time, or a value with its interval.
struct StripColumn {
    strip: Strip,
    unit: Unit,
    metric: String,
    is_spread: bool,
    /// Whether it is a ratio, with a line at 1.
    is_ratio: bool,
}

impl StripColumn {
    fn of(table: &Table) -> Option<Self> {
        let metrics = table.metrics();
        let in_all = |metric: &&Metric| {
            let mut rows = table.rows.iter();
            rows.all(|row| row.figure(&metric.name).is_some())
        };
        let has_spread = |metric: &Metric| {
            let is_there = |end: &str| {
                let name = format!("{}{end}", metric.name);
                let mut all = metrics.iter();
                all.any(|it| it.name == name && it.role != Role::Detail)
            };
            SPREAD.iter().all(|end| is_there(end))
        };
        let mut all = metrics.iter().copied();
        let spread = all.find(|it| in_all(it) && has_spread(it));
        let ratio = table.show.around_one.as_ref();
        let ratio = metrics.iter().copied().find(|it| Some(&it.name) == ratio);
        let spread = spread.filter(|_| ratio.is_none() && !table.show.is_ranked);
        let metric = ratio.or(spread).or_else(|| most_headed(table))?;
        let mut column = Self {
            strip: Strip::new(Axis::over(AxisScale::FromZero, std::iter::empty())),
            unit: metric.unit,
            metric: metric.name.clone(),
            is_spread: spread.is_some(),
            is_ratio: table.show.around_one.as_ref() == Some(&metric.name),
        };
        let found = table.rows.iter().filter_map(|row| column.found(row));
        let found: Vec<Extent> = found.collect();
        column.strip = match column.is_ratio {
            true => {
                let figures = table
                    .rows
                    .iter()
                    .filter_map(|row| row.figure(&column.metric));
                Strip::around_one(figures.map(|it| it.value))
            }
            false => {
                // An end at zero must not hide that values differ by factors.
                let least = found
                    .iter()
                    .map(|it| it.value)
                    .fold(f64::INFINITY, f64::min);
                let values = found.iter().flat_map(|it| it.all());
                let values = values.filter(|it| *it >= 0.5 * least);
                Strip::new(Axis::over(AxisScale::Fitting, values))
            }
        };
        (found.len() > 1).then_some(column)
    }

    fn found(&self, row: &Row) -> Option<Extent> {
        let figure = row.figure(&self.metric)?;
        let value = |figure: &Figure| Some(figure.value.value).filter(|it| it.is_finite());
        if self.is_spread {
            let end = |end| row.figure(&format!("{}{end}", self.metric)).and_then(value);
            let at = value(figure)?;
            let [low, high] = SPREAD.map(|it| end(it).unwrap_or(at));
            return Some(Extent {
                low,
                value: at,
                high,
            });
        }
        let middle = 0.5 * (figure.value.low + figure.value.high);
        let value = value(figure).or(Some(middle).filter(|it| it.is_finite()))?;
        Some(Extent {
            value,
            ..Extent::of(figure.value, 1.0)
        })
    }

    /// What the strip shows, and its scale, whose lines the rows of the table of this class repeat.
    fn head(&self, class: &str) -> String {
        let what = match self.is_spread {
            true => format!("{}: p50 to p99, mean", words(&self.metric)),
            false => format!("{} and its interval", words(&self.metric)),
        };
        // Three labels are as many as fit.
        let [labels, lines] = self
            .strip
            .scale(3, 11.0, |tick| tick_label(self.unit, tick));
        let lines =
            format!("<defs><path id=\"grid-{class}\" class=\"grid\" d=\"{lines}\"/></defs>");
        escaped(&what) + &Strip::row(&(lines + &labels))
    }

    fn mark(&self, row: &Row, class: &str) -> String {
        let figure = row.figure(&self.metric).filter(|_| self.is_ratio);
        let mark = match figure {
            Some(ratio) => Some(self.strip.ratio(ratio.value)),
            None => self.found(row).map(|it| self.strip.mark(it)),
        };
        Strip::row(&format!(
            "<use href=\"#grid-{class}\"/>{}",
            mark.unwrap_or_default()
        ))
    }
}

/// The metric that is the headline of most rows.
fn most_headed(table: &Table) -> Option<&Metric> {
    let headed = |name: &str| {
        let heads = table.rows.iter().filter_map(Row::headline);
        heads.filter(|it| it.metric.name == name).count()
    };
    let metrics = table.metrics().into_iter();
    // Of equally many the first.
    metrics.rev().max_by_key(|metric| headed(&metric.name))
}
