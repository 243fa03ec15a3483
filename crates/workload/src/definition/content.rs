//! `[content]` of a definition: the content of writes.

use std::fmt::Write as _;

use toml::de::DeValue;
use units::Bytes;

use crate::content::{CHUNK_BYTES_USUAL, Content, Fill, Freshness, PATTERN_BYTES_MAX};
use crate::definition::keys;
use crate::definition::reader::check_keys;
use crate::definition::values::{Noted, WorkloadTable, WorkloadValues, quoted, typed};

/// Prefix of a pattern's digits.
const PATTERN: &str = "pattern:";

/// The content of a definition; the default without such a table.
pub(super) fn read(
    values: &mut WorkloadValues<'_>,
    top: &WorkloadTable<'_>,
) -> Result<Content, Noted> {
    let Some(value) = top.keys.get(keys::CONTENT.name) else {
        return Ok(Content::default());
    };
    let DeValue::Table(table) = value.get_ref() else {
        return Err(values.refuse(top, &keys::CONTENT, &typed(value.get_ref())));
    };
    let table = WorkloadTable {
        keys: table,
        line: values.line(&value.span()),
    };
    check_keys(values, &table, &keys::CONTENT_KEYS, &keys::TYPE);
    let fill = read_fill(values, &table);
    let compressible_percent = read_percent(values, &table, &keys::COMPRESSIBLE);
    let duplicate_percent = read_percent(values, &table, &keys::DUPLICATES);
    let chunk_bytes = match values.size(&table, &keys::CHUNK)? {
        None => CHUNK_BYTES_USUAL,
        Some(bytes) => match u32::try_from(bytes) {
            Ok(bytes @ 1..) => bytes,
            _ => return Err(values.refuse(&table, &keys::CHUNK, &bytes.to_string())),
        },
    };
    let (fill, freshness) = fill?;
    let content = Content {
        fill,
        freshness,
        compressible_percent: compressible_percent?,
        chunk_bytes,
        duplicate_percent: duplicate_percent?,
    };
    Ok(content)
}

fn read_fill(
    values: &mut WorkloadValues<'_>,
    table: &WorkloadTable<'_>,
) -> Result<(Fill, Freshness), Noted> {
    let word = values.word(table, &keys::FILL)?;
    let marked = |fill| Ok((fill, Freshness::Marked));
    match word {
        None | Some("noise") => marked(Fill::Noise),
        Some("drawn") => Ok((Fill::Noise, Freshness::Drawn)),
        Some("repeated") => Ok((Fill::Noise, Freshness::Repeated)),
        Some("zeroes") => marked(Fill::Zeroes),
        Some(text) => match text.strip_prefix(PATTERN).and_then(bytes_of) {
            Some(bytes) => marked(Fill::Pattern(bytes)),
            None => Err(values.refuse(table, &keys::FILL, &quoted(text))),
        },
    }
}

fn read_percent(
    values: &mut WorkloadValues<'_>,
    table: &WorkloadTable<'_>,
    key: &keys::WorkloadKey,
) -> Result<u32, Noted> {
    match values.integer(table, key)? {
        None => Ok(0),
        Some(percent @ 0..=100) => Ok(percent as u32),
        Some(other) => Err(values.refuse(table, key, &other.to_string())),
    }
}

/// Decodes hexadecimal digits, two per byte.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let pairs = digits.as_bytes().chunks_exact(2);
    let is_whole =
        pairs.remainder().is_empty() && (2..=PATTERN_BYTES_MAX * 2).contains(&digits.len());
    let pair = |pair: &[u8]| Some(value(pair[0])? << 4 | value(pair[1])?);
    is_whole.then(|| pairs.map(pair).collect())?
}

/// The same as TOML; empty for the default.
pub(super) fn write(content: &Content) -> String {
    if content.is_default() {
        return String::new();
    }
    let fill = match (&content.fill, content.freshness) {
        (Fill::Zeroes, _) => "zeroes".to_owned(),
        (Fill::Pattern(bytes), _) => bytes.iter().fold(PATTERN.to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
        (Fill::Noise, Freshness::Marked) => "noise".to_owned(),
        (Fill::Noise, Freshness::Drawn) => "drawn".to_owned(),
        (Fill::Noise, Freshness::Repeated) => "repeated".to_owned(),
    };
    format!(
        "\n[content]\nfill = \"{fill}\"\ncompressible = {}\nchunk = \"{}\"\nduplicates = {}\n",
        content.compressible_percent,
        Bytes(u64::from(content.chunk_bytes)).to_exact_string(),
        content.duplicate_percent
    )
}
