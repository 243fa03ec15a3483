//! One table of a file, read key by key.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Duration, parse_percent, shortened};

use crate::fault::{TomlFault, TomlFaults, place_in, refused_value, unknown_key};
use crate::value::{is_name, to_integer, typed};

/// The tables of a text.
///
/// # Errors
/// If it is not TOML; states the line.
// fuzzed: device, profiles, study, workload, workload_file
pub fn parse<'t>(file: &str, text: &'t str) -> Result<Spanned<DeTable<'t>>, TomlFaults> {
    DeTable::parse(text).map_err(|error| {
        let place = place_in(file, text, &error.span().unwrap_or_default());
        let message = shortened(&error.message().escape_debug().to_string());
        let message = format!("not TOML: {message}");
        TomlFaults {
            faults: vec![TomlFault { place, message }],
        }
    })
}

/// A text with its file name and the mistakes found so far.
#[derive(Debug)]
pub struct TomlText<'t> {
    /// File name, for places.
    pub file: &'t str,
    /// Content.
    pub text: &'t str,
    /// Mistakes.
    pub faults: Vec<TomlFault>,
}

impl<'t> TomlText<'t> {
    /// A text to be read.
    pub const fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            faults: Vec::new(),
        }
    }

    /// The result, or all mistakes.
    ///
    /// # Errors
    /// The mistakes, in the order in which they were found.
    pub fn finish<T>(self, read: T) -> Result<T, TomlFaults> {
        if self.faults.is_empty() {
            return Ok(read);
        }
        Err(TomlFaults {
            faults: self.faults,
        })
    }

    /// File and line of a part of the text.
    pub fn place(&self, span: &Range<usize>) -> String {
        place_in(self.file, self.text, span)
    }

    /// Records a mistake.
    pub fn note(&mut self, place: String, message: impl Into<String>) {
        let message = message.into();
        self.faults.push(TomlFault { place, message });
    }
}

/// A table of the file; every key that is read counts as known.
#[derive(Debug)]
pub struct KeyedTable<'s, 't> {
    /// The text that contains it.
    pub source: &'s mut TomlText<'t>,
    table: &'t DeTable<'t>,
    /// Start of the table.
    pub place: String,
    /// Its description.
    what: &'static str,
    known: Vec<&'static str>,
}

impl<'s, 't> KeyedTable<'s, 't> {
    /// A table that starts at `place`, described by `what`.
    pub const fn new(
        source: &'s mut TomlText<'t>,
        table: &'t DeTable<'t>,
        place: String,
        what: &'static str,
    ) -> Self {
        Self {
            source,
            table,
            place,
            what,
            known: Vec::new(),
        }
    }

    /// The value of a key, with its place.
    pub fn find(&mut self, key: &'static str) -> Option<(&'t DeValue<'t>, String)> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let (name, value) = self.table.get_key_value(key)?;
        Some((value.get_ref(), self.source.place(&name.span())))
    }

    fn refuse(&mut self, key: &str, value: &DeValue<'_>, place: String, wanted: &str) {
        let message = refused_value(key, &typed(value), wanted);
        self.source.note(place, message);
    }

    /// Reports a missing key.
    pub fn require<T>(&mut self, key: &str, value: Option<T>, wanted: &str) -> Option<T> {
        if value.is_none() && !self.table.contains_key(key) {
            let message = format!("the key \"{key}\" is missing, {}: {wanted}", self.what);
            self.source.note(self.place.clone(), message);
        }
        value
    }

    /// A non-empty text.
    pub fn text(&mut self, key: &'static str, wanted: &str) -> Option<String> {
        let (value, place) = self.find(key)?;
        match value {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.to_string()),
            _ => {
                self.refuse(key, value, place, wanted);
                None
            }
        }
    }

    /// A text that fits on one line.
    pub fn name(&mut self, key: &'static str, wanted: &str) -> Option<String> {
        let (value, place) = self.find(key)?;
        match value {
            DeValue::String(text) if is_name(text) => Some(text.to_string()),
            _ => {
                self.refuse(key, value, place, wanted);
                None
            }
        }
    }

    /// A whole number.
    pub fn count(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let (value, place) = self.find(key)?;
        let number = to_integer(value).and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (range.start(), range.end());
            let wanted = format!("a whole number from {low} to {high}");
            self.refuse(key, value, place, &wanted);
        }
        number
    }

    /// True or false.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let (value, place) = self.find(key)?;
        if let DeValue::Boolean(flag) = value {
            return Some(*flag);
        }
        self.refuse(key, value, place, "true or false");
        None
    }

    /// A share given in percent.
    pub fn share(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Option<f64> {
        let (value, place) = self.find(key)?;
        let typed = value.as_str().and_then(|text| parse_percent(text).ok());
        let share = typed.filter(|share| range.contains(share));
        if share.is_none() {
            let (low, high) = (range.start() * 100.0, range.end() * 100.0);
            let wanted = format!("a text from \"{low} %\" to \"{high} %\", such as \"5 %\"");
            self.refuse(key, value, place, &wanted);
        }
        share
    }

    /// A time above zero.
    pub fn span(&mut self, key: &'static str) -> Option<Duration> {
        let (value, place) = self.find(key)?;
        let span = value.as_str().and_then(|text| text.parse().ok());
        let span = span.filter(|span| *span > Duration::ZERO);
        if span.is_none() {
            self.refuse(key, value, place, "a time, such as \"90s\" or \"10 min\"");
        }
        span
    }

    /// Parses a text with `read`, and reports its message on error.
    pub fn notation<T>(
        &mut self,
        key: &'static str,
        wanted: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.text(key, wanted)?;
        let place = self.find(key).map(|(_, place)| place)?;
        let noted = |why| self.source.note(place, format!("{key}: {why}"));
        read(&text).map_err(noted).ok()
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &'static str, wanted: &str) -> Vec<String> {
        let Some((value, place)) = self.find(key) else {
            return Vec::new();
        };
        let text = |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
        let texts: Option<Vec<String>> = match value {
            DeValue::Array(items) => items.iter().map(text).collect(),
            _ => None,
        };
        texts.unwrap_or_else(|| {
            self.refuse(key, value, place, wanted);
            Vec::new()
        })
    }

    /// Places of the items of a list.
    pub fn item_places(&mut self, key: &'static str) -> Vec<String> {
        let Some((DeValue::Array(items), _)) = self.find(key) else {
            return Vec::new();
        };
        let items = items.iter();
        items.map(|item| self.source.place(&item.span())).collect()
    }

    /// An array of tables, each with its place.
    pub fn tables(&mut self, key: &'static str, wanted: &str) -> Vec<(&'t DeTable<'t>, String)> {
        let Some((value, place)) = self.find(key) else {
            return Vec::new();
        };
        let DeValue::Array(items) = value else {
            self.refuse(key, value, place, wanted);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            let place = self.source.place(&item.span());
            match item.get_ref() {
                DeValue::Table(table) => tables.push((table, place)),
                other => self.refuse(key, other, place, wanted),
            }
        }
        tables
    }

    /// Reports all unknown keys.
    pub fn finish(self) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if !self.known.contains(&key) {
                let place = self.source.place(&name.span());
                let message = unknown_key(key, self.what, &self.known);
                self.source.note(place, message);
            }
        }
    }
}
