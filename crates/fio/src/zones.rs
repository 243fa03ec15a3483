//! Zones of a file with different access frequencies: `random_distribution=zoned`, `zoned_abs`.

use crate::blocks::triplet;
use crate::number::{KbBase, size};

/// A part of a file that follows the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShare {
    /// Percentage of the requests.
    pub percent: u32,
    /// Its length.
    pub span: ZoneLength,
}

/// Length of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneLength {
    /// Percentage of the file.
    Percent(u32),
    Bytes(u64),
}

/// Zones for reads, writes and trims.
pub type ZoneShares = [Vec<ZoneShare>; 3];

/// Maximum number of zones per direction.
const ZONES_MAX: usize = 256;

/// Parses `60/10:30/20:10/`: shares of requests and of the file, or of requests and bytes. An
/// omitted share is an equal part of the rest.
pub(crate) fn parse(text: &str, bytes: Option<KbBase>) -> Result<ZoneShares, String> {
    let zones = |part: Option<&str>| zones(part.unwrap_or_default(), bytes);
    let [reads, writes, trims] = triplet(text)?.map(zones);
    Ok([reads?, writes?, trims?])
}

fn zones(text: &str, bytes: Option<KbBase>) -> Result<Vec<ZoneShare>, String> {
    let unread = |entry: &str| match bytes {
        None => format!("{entry:?}: zones are written 60/10:40/90, requests % / file %"),
        Some(_) => format!("{entry:?}: zones are written 60/1g:40/9g, requests % / size"),
    };
    let entries = text.split(':');
    let entries = entries.map(|entry| entry.split_once('/').ok_or_else(|| unread(entry)));
    let entries: Vec<(&str, &str)> = entries.collect::<Result<_, _>>()?;
    if entries.len() > ZONES_MAX {
        return Err(format!("more than {ZONES_MAX} zones"));
    }
    let accesses = percents(entries.iter().map(|it| it.0)).ok_or_else(|| unread(text))?;
    let sum: u32 = accesses.iter().sum();
    if sum != 100 {
        return Err(format!(
            "{text}: the percentages of requests add up to {sum}, not to 100"
        ));
    }
    let spans: Vec<ZoneLength> = match bytes {
        None => {
            let spans = percents(entries.iter().map(|it| it.1)).ok_or_else(|| unread(text))?;
            let sum: u32 = spans.iter().sum();
            if sum > 100 {
                return Err(format!("{text}: the zones are {sum} % of the file"));
            }
            spans.into_iter().map(ZoneLength::Percent).collect()
        }
        Some(base) => {
            let sizes = entries.iter().map(|it| size(it.1.trim(), base));
            let sizes = sizes.map(|size| size.map(ZoneLength::Bytes));
            sizes.collect::<Result<_, _>>().map_err(|_| unread(text))?
        }
    };
    if spans.contains(&ZoneLength::Percent(0)) || spans.contains(&ZoneLength::Bytes(0)) {
        return Err(format!("{text}: a zone has no length"));
    }
    let zones = accesses.into_iter().zip(spans);
    let zones = zones.map(|(percent, span)| ZoneShare { percent, span });
    Ok(zones.collect())
}

/// Percentages; omitted ones share the rest of 100 equally, the last one gets the remainder.
fn percents<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Vec<u32>> {
    let read = |text: &str| match text.trim().trim_end_matches('%') {
        "" => Some(None),
        text => Some(Some(text.parse().ok().filter(|it| *it <= 100)?)),
    };
    let given: Vec<Option<u32>> = texts.map(read).collect::<Option<_>>()?;
    let mut left = 100_u32.saturating_sub(given.iter().flatten().sum());
    let mut open = given.iter().filter(|it| it.is_none()).count() as u32;
    let percent = |it: Option<u32>| {
        it.unwrap_or_else(|| {
            let share = left / open;
            (left, open) = (left - share, open - 1);
            share
        })
    };
    Some(given.into_iter().map(percent).collect())
}

/// The text that [`parse`] parses.
pub(crate) fn text(zones: &ZoneShares) -> String {
    let one = |zones: &Vec<ZoneShare>| {
        let zones = zones.iter().map(|zone| match zone.span {
            ZoneLength::Percent(span) => format!("{}/{span}", zone.percent),
            ZoneLength::Bytes(span) => format!("{}/{span}", zone.percent),
        });
        zones.collect::<Vec<_>>().join(":")
    };
    let word = match zones[0][0].span {
        ZoneLength::Percent(_) => "zoned",
        ZoneLength::Bytes(_) => "zoned_abs",
    };
    let [reads, writes, trims] = zones;
    match reads == writes && reads == trims {
        true => format!("{word}:{}", one(reads)),
        false => format!("{word}:{},{},{}", one(reads), one(writes), one(trims)),
    }
}
