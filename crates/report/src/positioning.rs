//! Positioning: mean, histogram, and what a document found.

use results::Positioning;
use stats::Estimate;
use units::{Bytes, format_count, format_duration_ns};

use crate::figure::time;
use crate::page::TextPage;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// Columns of the longest bar.
const BAR: usize = 30;

/// The times as text.
#[must_use]
pub fn positioning(found: &Positioning, style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading(&format!(
        "positioning on {}, seed {}",
        found.target, found.seed
    ));
    let record = Bytes(u64::from(found.record_bytes));
    let rounds = match found.rounds {
        1 => "one round in virtual time".to_owned(),
        count => format!(
            "{} rounds in virtual time, each in an order of its own",
            format_count(f64::from(count))
        ),
    };
    let size = Bytes(found.file_bytes).decimal();
    let text = match found.files {
        1 => format!("1 file of {size}, {record} read of it, {rounds}"),
        count => format!(
            "{} files of {size}, opened in random order, {record} read of each, {rounds}",
            format_count(f64::from(count))
        ),
    };
    page.paragraph(Tone::Plain, &text);
    page.blank();
    let (mean, mut interval) = time(found.mean);
    if !found.mean.is_bounded() {
        interval = "no interval: one value says nothing about variation".into();
    }
    page.fact("mean", &format!("{mean}  ({interval})"));
    if let Some(one) = found.one_round {
        let (_, within) = time(one);
        page.fact(
            "mean of one round",
            &format!("{within} in 95 % of the rounds"),
        );
    }
    page.fact("longest", &format_duration_ns(found.max_ns as f64));
    if let (Some(published), Some(ratio)) = (&found.published, found.ratio()) {
        let text = format!(
            "mean {}, simulated over published {ratio:.2}  ({})",
            format_duration_ns(published.mean_ns as f64),
            published.source
        );
        page.fact("published", &text);
    }
    page.blank();
    histogram(&mut page, found);
    page.finish()
}

fn histogram(page: &mut TextPage<'_>, found: &Positioning) {
    let published = found.published.as_ref();
    let mut table = TextTable::new(&[
        ("time", Align::Right, 9),
        ("files", Align::Right, 9),
        ("95 % of rounds", Align::Left, 8),
        (
            if published.is_some() { "published" } else { "" },
            Align::Right,
            9,
        ),
        ("", Align::Left, 6),
    ]);
    let counted = published.map_or(&[][..], |it| &it.bins);
    let values = found.bins.iter().map(|bin| bin.value);
    let longest = values.chain(counted.iter().map(|&count| f64::from(count)));
    let longest = longest.fold(1.0, f64::max);
    for bin in 0..found.bins.len().max(counted.len()) {
        let bin_name = name_of(bin as u64, found.bin_ns);
        let files = found.bins.get(bin).copied();
        let in_document = published.map(|_| counted.get(bin).copied().unwrap_or(0));
        table.row(
            Tone::Plain,
            [
                bin_name,
                files.map_or_else(|| "0".into(), |it| format_count(it.value)),
                files.and_then(band).unwrap_or_default(),
                in_document.map_or_else(String::new, |count| count.to_string()),
                bar(page.style, files.map_or(0.0, |it| it.value) / longest),
            ],
        );
    }
    page.table(&table);
}

/// From where to where a bin goes, in the unit of its width.
fn name_of(bin: u64, width_ns: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1000, "us"),
        (1, "ns"),
    ];
    let fitting = UNITS
        .into_iter()
        .find(|(unit, _)| width_ns.is_multiple_of(*unit));
    let (unit, name) = fitting.unwrap_or((1, "ns"));
    let width = width_ns / unit;
    format!("{} .. {} {name}", bin * width, (bin + 1) * width)
}

fn band(count: Estimate) -> Option<String> {
    let is_known = count.high.is_finite();
    is_known.then(|| {
        format!(
            "{} .. {}",
            format_count(count.low),
            format_count(count.high)
        )
    })
}

fn bar(style: &Style, share: f64) -> String {
    let ink = if style.unicode { "█" } else { "#" };
    ink.repeat((share * BAR as f64).round() as usize)
}

/// The JSON form.
#[must_use]
pub fn positioning_json(found: &Positioning) -> String {
    let mut text = serde_json::to_string_pretty(found).expect("plain values");
    text.push('\n');
    text
}
