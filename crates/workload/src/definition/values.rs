//! Reads single values of a definition; mistakes are recorded with their lines.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeTable, DeValue};
use toml_reader::{TomlFault, TomlFaults, place_at, refused_value, to_integer};
use units::{Bytes, UnitError, line_at};

use crate::definition::keys::{self, WorkloadKey};
use crate::definition::notation::NotationError;
use crate::threads::shortened;

/// Maximum length of a name or title.
const NAME_CHARS_MAX: usize = 60;

/// The text of a file, and the mistakes in it.
pub(super) struct WorkloadText<'t> {
    text: &'t str,
    /// Lines with their mistakes.
    faults: RefCell<Vec<(usize, String)>>,
}

/// One table of the document.
pub(super) struct WorkloadTable<'a> {
    pub(super) file: &'a WorkloadText<'a>,
    pub(super) keys: &'a DeTable<'a>,
    /// Its first line.
    pub(super) line: usize,
}

/// A mistake was recorded.
pub(super) struct Noted;

/// The value of a key, if it is there and right.
pub(super) type Read<T> = Result<Option<T>, Noted>;

impl<'t> WorkloadText<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            faults: RefCell::default(),
        }
    }

    pub(super) fn note(&self, line: usize, message: impl Into<String>) {
        self.faults.borrow_mut().push((line, message.into()));
    }

    /// Whether nothing was recorded so far.
    pub(super) fn is_right(&self) -> bool {
        self.faults.borrow().is_empty()
    }

    /// The recorded mistakes in order of lines.
    pub(super) fn into_faults(self, file: &str) -> TomlFaults {
        let mut faults = self.faults.into_inner();
        faults.sort_by_key(|(line, _)| *line);
        let fault = |(line, message)| TomlFault {
            place: place_at(file, line),
            message,
        };
        TomlFaults {
            faults: faults.into_iter().map(fault).collect(),
        }
    }

    /// The line of a place in the text.
    pub(super) fn line(&self, span: &Range<usize>) -> usize {
        line_at(self.text, span.start)
    }
}

impl<'a> WorkloadTable<'a> {
    pub(super) fn value(&self, key: &WorkloadKey) -> Option<&'a DeValue<'a>> {
        self.keys.get(key.name).map(toml::Spanned::get_ref)
    }

    /// The line of a key, or of the table if the key is absent.
    pub(super) fn line_of(&self, key: &WorkloadKey) -> usize {
        let entry = self.keys.get_key_value(key.name);
        entry.map_or(self.line, |(name, _)| self.file.line(&name.span()))
    }

    /// The tables of an array, each with its index; `empty` says what is wrong if there are none.
    pub(super) fn tables(&self, key: &WorkloadKey, empty: &str) -> Vec<(usize, Self)> {
        let elements = match self.value(key) {
            Some(DeValue::Array(elements)) => &elements[..],
            None => &[],
            Some(other) => {
                self.refuse(key, &typed(other));
                return Vec::new();
            }
        };
        if elements.is_empty() {
            self.file.note(self.line_of(key), empty);
        }
        let tables = elements.iter().enumerate().filter_map(|(index, element)| {
            let DeValue::Table(keys) = element.get_ref() else {
                self.refuse(key, &typed(element.get_ref()));
                return None;
            };
            let (file, line) = (self.file, self.file.line(&element.span()));
            Some((index, Self { file, keys, line }))
        });
        tables.collect()
    }

    /// Reports a value that the key does not accept.
    pub(super) fn refuse(&self, key: &WorkloadKey, typed: &str) -> Noted {
        let message = refused_value(key.name, typed, key.meaning);
        self.file.note(self.line_of(key), message);
        Noted
    }

    /// Reports an invalid size or rate.
    fn refuse_unit(&self, key: &WorkloadKey, error: &UnitError) -> Noted {
        let message = format!("{}: {error}", key.name);
        self.file.note(self.line_of(key), message);
        Noted
    }

    /// Turns an absent key into a mistake.
    pub(super) fn required<T>(&self, key: &WorkloadKey, value: Read<T>) -> Result<T, Noted> {
        value?.ok_or_else(|| {
            let (name, meaning, example) = (key.name, key.meaning, key.example);
            let message =
                format!("the key {name:?} is missing: {meaning}, such as {name} = {example}");
            self.file.note(self.line, message);
            Noted
        })
    }

    /// Refuses a number outside of the range.
    pub(super) fn within(
        &self,
        key: &WorkloadKey,
        value: Read<i64>,
        range: RangeInclusive<i64>,
    ) -> Read<i64> {
        match value? {
            Some(value) if !range.contains(&value) => Err(self.refuse(key, &value.to_string())),
            value => Ok(value),
        }
    }

    pub(super) fn word(&self, key: &WorkloadKey) -> Read<&'a str> {
        match self.value(key) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(key, &typed(other))),
        }
    }

    /// What one of some words means.
    pub(super) fn choice<T: Copy>(&self, key: &WorkloadKey, words: &[(&str, T)]) -> Read<T> {
        let Some(typed) = self.word(key)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == typed) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => Err(self.refuse(key, &quoted(typed))),
        }
    }

    pub(super) fn integer(&self, key: &WorkloadKey) -> Read<i64> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let number = to_integer(value).ok_or_else(|| self.refuse(key, &typed(value)));
        number.map(Some)
    }

    /// A size with a unit, or a number of bytes.
    pub(super) fn size(&self, key: &WorkloadKey) -> Read<i64> {
        let Some(DeValue::String(text)) = self.value(key) else {
            return self.integer(key);
        };
        match text.parse().map(|Bytes(bytes)| i64::try_from(bytes)) {
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            Ok(Err(_)) => Err(self.refuse(key, &quoted(text))),
            Err(error) => Err(self.refuse_unit(key, &error)),
        }
    }

    /// Position of operations in a block; negative means packed.
    pub(super) fn place(&self) -> Read<i64> {
        let key = &keys::PLACE;
        match self.value(key) {
            Some(DeValue::String(text)) if text == "packed" => Ok(Some(-1)),
            Some(DeValue::String(text)) if !text.contains(|c: char| c.is_ascii_digit()) => {
                Err(self.refuse(key, &quoted(text)))
            }
            _ => self.within(key, self.size(key), 0..=i64::MAX),
        }
    }

    /// A name or title: something that fits on one line.
    pub(super) fn name(&self, key: &WorkloadKey) -> Read<String> {
        let Some(name) = self.word(key)? else {
            return Ok(None);
        };
        let is_short = name.chars().count() <= NAME_CHARS_MAX;
        if is_short && !name.trim().is_empty() && !name.contains(char::is_control) {
            return Ok(Some(name.to_owned()));
        }
        Err(self.refuse(key, &quoted(name)))
    }

    /// A text in one of the short notations.
    pub(super) fn notation<T>(
        &self,
        key: &WorkloadKey,
        parse: impl FnOnce(&str) -> Result<T, NotationError>,
    ) -> Read<T> {
        let Some(text) = self.word(key)? else {
            return Ok(None);
        };
        match parse(text) {
            Ok(value) => Ok(Some(value)),
            Err(NotationError::Form) => Err(self.refuse(key, &quoted(text))),
            Err(NotationError::Unit(error)) => Err(self.refuse_unit(key, &error)),
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
