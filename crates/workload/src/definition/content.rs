//! `[content]` of a definition: the content of writes.

use std::fmt::Write as _;

use toml::de::DeValue;
use units::Bytes;

use crate::content::{CHUNK_BYTES_USUAL, Content, Fill, Freshness, PATTERN_BYTES_MAX};
use crate::definition::keys;
use crate::definition::reader::check_keys;
use crate::definition::values::{Noted, WorkloadTable, quoted, typed};

/// Prefix of a pattern's digits.
const PATTERN: &str = "pattern:";

/// The content of a definition; the default without such a table.
pub(super) fn read(top: &WorkloadTable<'_>) -> Result<Content, Noted> {
    let Some(value) = top.keys.get(keys::CONTENT.name) else {
        return Ok(Content::default());
    };
    let DeValue::Table(keys) = value.get_ref() else {
        return Err(top.refuse(&keys::CONTENT, &typed(value.get_ref())));
    };
    let (file, line) = (top.file, top.file.line(&value.span()));
    let table = WorkloadTable { file, keys, line };
    check_keys(&table, &keys::CONTENT_KEYS, &keys::TYPE);
    let fill = read_fill(&table);
    let percent = |key| table.within(key, table.integer(key), 0..=100);
    let compressible = percent(&keys::COMPRESSIBLE);
    let duplicates = percent(&keys::DUPLICATES);
    let chunk = table.size(&keys::CHUNK);
    let chunk = table.within(&keys::CHUNK, chunk, 1..=u32::MAX.into())?;
    let (fill, freshness) = fill?;
    Ok(Content {
        fill,
        freshness,
        compressible_percent: compressible?.unwrap_or(0) as u32,
        chunk_bytes: chunk.map_or(CHUNK_BYTES_USUAL, |bytes| bytes as u32),
        duplicate_percent: duplicates?.unwrap_or(0) as u32,
    })
}

fn read_fill(table: &WorkloadTable<'_>) -> Result<(Fill, Freshness), Noted> {
    let word = table.word(&keys::FILL)?;
    let marked = |fill| Ok((fill, Freshness::Marked));
    match word {
        None | Some("noise") => marked(Fill::Noise),
        Some("drawn") => Ok((Fill::Noise, Freshness::Drawn)),
        Some("repeated") => Ok((Fill::Noise, Freshness::Repeated)),
        Some("zeroes") => marked(Fill::Zeroes),
        Some(text) => match text.strip_prefix(PATTERN).and_then(bytes_of) {
            Some(bytes) => marked(Fill::Pattern(bytes)),
            None => Err(table.refuse(&keys::FILL, &quoted(text))),
        },
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
