//! What simulated machines give beside what was published, or beside a law.

use results::{Bar, Reference, Standing, Validation, ValidationRow, ValidationTable};

use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// What the columns mean.
const LEGEND: &str = "Nothing was fitted to the row it predicts. Every bar was fixed before its \
                      row was compared. \"12 %\" is how far simulated over published may be off 1. \
                      \"0.3 to 0.36\" is a range for the simulated figure. \"between\" is a \
                      published figure between those of two models. It is wide where these are \
                      more than 1.5 times apart. \"at most\" is a simulated figure that does not \
                      exceed the law. Rows that are \"missed\" did not keep their bar at the first \
                      look. OUTSIDE is new. Rows without a bar are shown, not judged, and their \
                      notes say why. ! marks a figure that the document itself contradicts.";

/// Tolerances below it are those of arithmetic.
const FINE: f64 = 0.001;

/// Every table, with notes under each.
pub fn validation(found: &Validation, style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading(&match &found.device {
        Some(device) => format!("Simulated {device} compared with what was published"),
        None => "Simulated machines compared with what was published, and with laws".into(),
    });
    page.paragraph(Tone::Quiet, LEGEND);
    for table in &found.tables {
        page.blank();
        show(&mut page, table);
    }
    page.blank();
    page.heading(&summary(found));
    if let Some(reason) = &found.stopped {
        page.item(Tone::Bad, "partial:", reason);
    }
    page.finish()
}

/// How many rows keep their bars, in words.
fn summary(found: &Validation) -> String {
    use Standing::{Missed, NotJudged, Outside, Within};
    let [within, missed, outside, not_judged] =
        [Within, Missed, Outside, NotJudged].map(|it| found.count(it));
    let (between, wide) = found.brackets();
    let pairs = match between {
        0 => String::new(),
        _ => format!("{between} between two models ({wide} wide), "),
    };
    format!(
        "{} rows within their bars, {pairs}{missed} known to miss theirs, {outside} outside, \
         {not_judged} not judged",
        within - between
    )
}

fn show(page: &mut TextPage<'_>, table: &ValidationTable) {
    page.heading(&table.title);
    page.paragraph(Tone::Quiet, &table.method);
    let published = match table.reference {
        Reference::Document => "published",
        Reference::Law => "law",
    };
    let mut rows = TextTable::new(&[
        ("", Align::Left, 9),
        (published, Align::Right, 9),
        ("simulated", Align::Right, 9),
        ("ratio", Align::Right, 8),
        ("bar", Align::Right, 6),
        ("", Align::Left, 7),
        ("", Align::Left, 5),
    ]);
    let mut notes: Vec<&str> = Vec::new();
    for row in &table.rows {
        let mark = if row.note.is_empty() {
            String::new()
        } else {
            let known = notes.iter().position(|note| *note == row.note);
            let place = known.unwrap_or_else(|| {
                notes.push(&row.note);
                notes.len() - 1
            });
            format!("({})", place + 1)
        };
        let tone = match row.standing {
            Standing::Within | Standing::Missed => Tone::Plain,
            Standing::Outside => Tone::Bad,
            Standing::NotJudged => Tone::Quiet,
        };
        rows.row(tone, cells(row, mark));
    }
    page.table(&rows);
    for (index, note) in notes.iter().enumerate() {
        page.item(Tone::Quiet, &format!("({})", index + 1), note);
    }
}

fn cells(row: &ValidationRow, mark: String) -> [String; 7] {
    let unit = if row.unit.is_empty() || row.unit.starts_with('/') {
        row.unit.clone()
    } else {
        format!(" {}", row.unit)
    };
    // As many digits as the bar can tell apart.
    let count = match row.bar {
        Bar::Tolerance { tolerance } if tolerance < FINE => 6,
        _ => 4,
    };
    let figure = |value| digits(value, count);
    let published = row.published.map_or_else(String::new, |value| {
        let sign = if row.is_misprint { "! " } else { "" };
        format!("{sign}{}{unit}", figure(value))
    });
    let simulated = match (row.simulated, row.simulated_high) {
        (Some(low), Some(high)) => format!("{} to {}{unit}", figure(low), figure(high)),
        (Some(value), None) => format!("{}{unit}", figure(value)),
        (None, _) => String::new(),
    };
    [
        row.row.clone(),
        published,
        simulated,
        row.ratio
            .map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        bar(row.bar),
        match row.standing {
            Standing::Within => "within".into(),
            Standing::Missed => "missed".into(),
            Standing::Outside => "OUTSIDE".into(),
            Standing::NotJudged => "-".into(),
        },
        mark,
    ]
}

fn bar(bar: Bar) -> String {
    match bar {
        Bar::Tolerance { tolerance } if tolerance < FINE => format!("{:.3} %", tolerance * 100.0),
        Bar::Tolerance { tolerance } => format!("{} %", digits(tolerance * 100.0, 2)),
        Bar::Bound { .. } => "at most".into(),
        Bar::Range {
            low,
            high: Some(high),
        } => format!("{low} to {high}"),
        Bar::Range { low, high: None } => format!("{low} or more"),
        Bar::Bracket => "between".into(),
        Bar::None => String::new(),
    }
}

/// So many digits that count, or all of a larger number, without zeros at the end of a fraction.
fn digits(value: f64, count: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let decimals = (count - before).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The JSON form, described in `docs/json-schema.md`.
///
/// # Panics
/// Never: it has no value that JSON cannot hold.
pub fn validation_json(found: &Validation) -> String {
    let mut text = serde_json::to_string_pretty(found).expect("no keys but text");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_as_many_digits_as_count() {
        for (value, expected) in [
            (14.3, "14.3"),
            (13.3654, "13.37"),
            (0.155_583, "0.1556"),
            (1256.0, "1256"),
            (20_833.4, "20833"),
            (9.0, "9"),
            (0.0, "0"),
            (1.056_96, "1.057"),
        ] {
            assert_eq!(digits(value, 4), expected);
        }
    }
}
