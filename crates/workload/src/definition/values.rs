//! Reads single values of a definition; mistakes are recorded with their lines.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml_reader::{TomlFault, TomlFaults, place_at, refused_value, to_integer};
use units::{Bytes, UnitError, line_at};

use crate::definition::keys::{self, WorkloadKey};
use crate::definition::notation::NotationError;
use crate::threads::shortened;

/// Maximum length of a name or title.
const NAME_CHARS_MAX: usize = 60;

/// Reads values and records mistakes.
pub(super) struct WorkloadValues<'t> {
    text: &'t str,
    /// Lines with their mistakes.
    faults: Vec<(usize, String)>,
}

/// One table of the document.
pub(super) struct WorkloadTable<'a> {
    pub(super) keys: &'a DeTable<'a>,
    /// Its first line.
    pub(super) line: usize,
}

/// A mistake was recorded.
pub(super) struct Noted;

impl<'t> WorkloadValues<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            faults: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, line: usize, message: impl Into<String>) {
        self.faults.push((line, message.into()));
    }

    /// Whether nothing was recorded so far.
    pub(super) const fn are_right(&self) -> bool {
        self.faults.is_empty()
    }

    /// The recorded mistakes in order of lines.
    pub(super) fn into_faults(mut self, file: &str) -> TomlFaults {
        self.faults.sort_by_key(|(line, _)| *line);
        let fault = |(line, message)| TomlFault {
            place: place_at(file, line),
            message,
        };
        TomlFaults {
            faults: self.faults.into_iter().map(fault).collect(),
        }
    }

    /// The line of a place in the text.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        line_at(self.text, span.start)
    }

    /// The line of a key, or of its table if the key is absent.
    pub(super) fn line_of(&self, table: &WorkloadTable<'_>, key: &WorkloadKey) -> usize {
        let entry = table.keys.get_key_value(key.name);
        entry.map_or(table.line, |(name, _)| self.line(&name.span()))
    }

    /// Reports a value that the key does not accept.
    pub(super) fn refuse(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
        typed: &str,
    ) -> Noted {
        let message = refused_value(key.name, typed, key.meaning);
        self.note(self.line_of(table, key), message);
        Noted
    }

    /// Reports an invalid size or rate.
    fn refuse_unit(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
        error: &UnitError,
    ) -> Noted {
        self.note(self.line_of(table, key), format!("{}: {error}", key.name));
        Noted
    }

    /// Turns an absent key into a mistake.
    pub(super) fn required<T>(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
        value: Result<Option<T>, Noted>,
    ) -> Result<T, Noted> {
        match value? {
            Some(value) => Ok(value),
            None => {
                let (name, example) = (key.name, key.example);
                let message = format!(
                    "the key {name:?} is missing: {}, such as {name} = {example}",
                    key.meaning
                );
                self.note(table.line, message);
                Err(Noted)
            }
        }
    }

    pub(super) fn word<'a>(
        &mut self,
        table: &WorkloadTable<'a>,
        key: &WorkloadKey,
    ) -> Result<Option<&'a str>, Noted> {
        match table.keys.get(key.name).map(toml::Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(table, key, &typed(other))),
        }
    }

    pub(super) fn integer(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
    ) -> Result<Option<i64>, Noted> {
        match table.keys.get(key.name).map(toml::Spanned::get_ref) {
            None => Ok(None),
            Some(value) => match to_integer(value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.refuse(table, key, &typed(value))),
            },
        }
    }

    /// A size with a unit, or a number of bytes.
    pub(super) fn size(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
    ) -> Result<Option<i64>, Noted> {
        let Some(DeValue::String(text)) = table.keys.get(key.name).map(toml::Spanned::get_ref)
        else {
            return self.integer(table, key);
        };
        match text.parse::<Bytes>() {
            Ok(Bytes(bytes)) => match i64::try_from(bytes) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(_) => Err(self.refuse(table, key, &quoted(text))),
            },
            Err(error) => Err(self.refuse_unit(table, key, &error)),
        }
    }

    /// Position of operations in a block; negative means packed.
    pub(super) fn place(&mut self, table: &WorkloadTable<'_>) -> Result<Option<i64>, Noted> {
        let key = &keys::PLACE;
        match table.keys.get(key.name).map(toml::Spanned::get_ref) {
            Some(DeValue::String(text)) if text == "packed" => Ok(Some(-1)),
            Some(DeValue::String(text)) if !text.contains(|c: char| c.is_ascii_digit()) => {
                Err(self.refuse(table, key, &quoted(text)))
            }
            _ => match self.size(table, key)? {
                Some(bytes) if bytes < 0 => Err(self.refuse(table, key, &bytes.to_string())),
                offset => Ok(offset),
            },
        }
    }

    /// A name or title: something that fits on one line.
    pub(super) fn name(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
    ) -> Result<Option<String>, Noted> {
        let Some(name) = self.word(table, key)? else {
            return Ok(None);
        };
        let is_short = name.chars().count() <= NAME_CHARS_MAX;
        if is_short && !name.trim().is_empty() && !name.contains(char::is_control) {
            return Ok(Some(name.to_owned()));
        }
        Err(self.refuse(table, key, &quoted(name)))
    }

    /// A text in one of the short notations.
    pub(super) fn notation<T>(
        &mut self,
        table: &WorkloadTable<'_>,
        key: &WorkloadKey,
        parse: impl FnOnce(&str) -> Result<T, NotationError>,
    ) -> Result<Option<T>, Noted> {
        let Some(text) = self.word(table, key)? else {
            return Ok(None);
        };
        match parse(text) {
            Ok(value) => Ok(Some(value)),
            Err(NotationError::Form) => Err(self.refuse(table, key, &quoted(text))),
            Err(NotationError::Unit(error)) => Err(self.refuse_unit(table, key, &error)),
        }
    }
}

/// A value for a message: short, on one line.
pub(super) fn typed(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => shortened(number.as_str()),
        DeValue::Float(number) => shortened(number.as_str()),
        DeValue::Boolean(is_true) => is_true.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "[...]".to_owned(),
        DeValue::Table(_) => "{...}".to_owned(),
    }
}

pub(super) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}
