//! Tables of a study file, read key by key; mistakes are noted with their lines.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Duration, did_you_mean, line_at, nearest, parse_percent, shortened};

use crate::study::definition::Script;
use crate::study::fault::StudyFault;

/// The longest name or title.
const NAME_CHARS_MAX: usize = 80;

/// A text with its file name, and the mistakes found in it so far.
pub(super) struct Source<'t> {
    pub file: &'t str,
    pub text: &'t str,
    pub faults: Vec<StudyFault>,
}

impl Source<'_> {
    pub fn place(&self, span: &Range<usize>) -> String {
        format!("{}:{}", self.file, line_at(self.text, span.start))
    }

    pub fn note(&mut self, place: String, message: impl Into<String>) {
        let message = message.into();
        self.faults.push(StudyFault { place, message });
    }
}

/// A table of the file; every key that is asked for counts as known.
pub(super) struct Form<'s, 't> {
    pub source: &'s mut Source<'t>,
    table: &'t DeTable<'t>,
    /// Where the table begins.
    pub place: String,
    /// What it is, in words.
    what: &'static str,
    known: Vec<&'static str>,
}

impl<'s, 't> Form<'s, 't> {
    pub fn new(
        source: &'s mut Source<'t>,
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

    pub fn find(&mut self, key: &'static str) -> Option<(&'t DeValue<'t>, String)> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let (name, value) = self.table.get_key_value(key)?;
        Some((value.get_ref(), self.source.place(&name.span())))
    }

    fn refuse(&mut self, key: &str, value: &DeValue<'_>, place: String, wanted: &str) {
        let message = format!("{key} = {}: {key} is {wanted}", typed(value));
        self.source.note(place, message);
    }

    pub fn require<T>(&mut self, key: &str, value: Option<T>, wanted: &str) -> Option<T> {
        if value.is_none() && !self.table.contains_key(key) {
            let message = format!("the key \"{key}\" is missing: {}: {wanted}", self.what);
            self.source.note(self.place.clone(), message);
        }
        value
    }

    /// A text with something in it.
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

    pub fn script(&mut self, key: &'static str) -> Option<Script> {
        let place = self.find(key).map(|(_, place)| place)?;
        let text = self.text(key, "commands for the shell, such as \"sync\"")?;
        Some(Script { text, place })
    }

    pub fn count(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let (value, place) = self.find(key)?;
        let number = integer(value).and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (range.start(), range.end());
            let wanted = format!("a whole number from {low} to {high}");
            self.refuse(key, value, place, &wanted);
        }
        number
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let (value, place) = self.find(key)?;
        if let DeValue::Boolean(flag) = value {
            return Some(*flag);
        }
        self.refuse(key, value, place, "true or false");
        None
    }

    /// A share typed in percent.
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

    pub fn span(&mut self, key: &'static str) -> Option<Duration> {
        let (value, place) = self.find(key)?;
        let span = value.as_str().and_then(|text| text.parse().ok());
        let span = span.filter(|span| *span > Duration::ZERO);
        if span.is_none() {
            self.refuse(key, value, place, "a time, such as \"90s\" or \"10 min\"");
        }
        span
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

    /// Where each item of a list stands.
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

    /// Note every key that was not asked for.
    pub fn finish(self) {
        for (name, _) in self.table {
            let key: &str = name.get_ref();
            if !self.known.contains(&key) {
                let place = self.source.place(&name.span());
                let meant = did_you_mean(nearest(key, self.known.iter().copied()));
                let (key, what, known) = (shortened(key), self.what, self.known.join(", "));
                let message = format!("unknown key \"{key}\"{meant}: {what} takes {known}");
                self.source.note(place, message);
            }
        }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= NAME_CHARS_MAX
        && !text.contains(char::is_control)
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    let digits: String = integer.as_str().chars().filter(|c| *c != '_').collect();
    i64::from_str_radix(&digits, integer.radix()).ok()
}

/// A value without its place in the file.
pub(super) fn owned(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => integer(value).map_or_else(
            || toml::Value::String(number.to_string()),
            toml::Value::Integer,
        ),
        DeValue::Float(number) => {
            let text: String = number.as_str().chars().filter(|c| *c != '_').collect();
            text.parse()
                .map_or_else(|_| toml::Value::String(text), toml::Value::Float)
        }
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(moment) => toml::Value::Datetime(*moment),
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|item| owned(item.get_ref())).collect())
        }
        DeValue::Table(table) => toml::Value::Table(owned_table(table)),
    }
}

pub(super) fn owned_table(table: &DeTable<'_>) -> toml::Table {
    let pairs = table.iter();
    pairs
        .map(|(name, value)| (name.get_ref().to_string(), owned(value.get_ref())))
        .collect()
}

/// A value for a message: short, on one line.
pub(super) fn typed(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(_) => "[...]".into(),
        DeValue::Table(_) => "{...}".into(),
        value => shortened(&owned(value).to_string()),
    }
}
