//! Reads the settings of a measurement from a table. Every mistake names what is allowed.

use std::ops::RangeInclusive;

use toml::{Table, Value};
use units::{Bytes, Duration, did_you_mean, nearest, parse_percent};

use super::kind::{Default, Kind, Setting};

/// What is wrong with the settings of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingFault {
    /// The setting; absent when the kind itself is wrong, or a setting is missing.
    pub key: Option<String>,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl SettingFault {
    /// A fault of the setting `key`.
    #[must_use]
    pub fn at(key: &str, message: impl Into<String>) -> Self {
        Self {
            key: Some(key.to_owned()),
            message: message.into(),
        }
    }

    pub(super) fn unknown_kind(kind: &str, kinds: &[Kind]) -> Self {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        Self {
            key: None,
            message: format!("there is no measurement {kind:?}: use {}", names.join(", ")),
        }
    }
}

/// A value that is either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextOrList {
    Text(String),
    /// Texts, at least one of them, the first not empty.
    List(Vec<String>),
}

impl TextOrList {
    /// The texts, a single one as a list of itself.
    #[must_use]
    pub fn all(self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(texts) => texts,
        }
    }
}

/// The settings of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    kind: &'a Kind,
    table: &'a Table,
}

impl<'a> Settings<'a> {
    /// The settings in `table` for that kind.
    ///
    /// # Errors
    /// When it has no such setting, or one that must be given is missing.
    pub fn of(kind: &'a Kind, table: &'a Table) -> Result<Self, SettingFault> {
        for key in table.keys() {
            if !kind.settings.iter().any(|setting| setting.name == key) {
                let names: Vec<&str> = kind.settings.iter().map(|it| it.name).collect();
                let message = format!(
                    "{} has no setting {key:?}{}; it has {}",
                    kind.name,
                    did_you_mean(nearest(key, names.iter().copied())),
                    names.join(", ")
                );
                return Err(SettingFault::at(key, message));
            }
        }
        let is_missing =
            |it: &&Setting| it.default == Default::Required && !table.contains_key(it.name);
        if let Some(missing) = kind.settings.iter().find(is_missing) {
            let message = format!(
                "{} needs {} = {}: {}",
                kind.name, missing.name, missing.form, missing.meaning
            );
            return Err(SettingFault { key: None, message });
        }
        Ok(Self { kind, table })
    }

    /// What was given, in the order in which the kind lists it.
    pub(super) fn all_given(&self) -> impl Iterator<Item = &'a Setting> {
        let table = self.table;
        let all = self.kind.settings.iter();
        all.filter(|it| table.contains_key(it.name))
    }

    /// Whether the setting was given.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// A text.
    ///
    /// # Errors
    /// When it is none.
    pub fn text(&self, name: &str) -> Result<Option<String>, SettingFault> {
        match self.table.get(name) {
            None => Ok(self.default(name).map(str::to_owned)),
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(name, other, "a text that is not empty")),
        }
    }

    /// A text or a number, as it would be typed: a name that may look like a number.
    ///
    /// # Errors
    /// When it is neither, or empty.
    pub fn given(&self, name: &str) -> Result<Option<String>, SettingFault> {
        match self.typed(name)? {
            Some(typed) if typed.is_empty() => Err(SettingFault::at(
                name,
                format!("{name} = \"\": it is {}", self.setting(name).form),
            )),
            typed => Ok(typed),
        }
    }

    /// One of the `choices`.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, SettingFault> {
        let typed = self.typed(name)?.unwrap_or_default();
        if let Some((_, found)) = choices.iter().find(|(choice, _)| *choice == typed) {
            return Ok(*found);
        }
        let names: Vec<String> = choices.iter().map(|(it, _)| format!("{it:?}")).collect();
        let message = format!("{name} = {typed:?}: it is one of {}", names.join(", "));
        Err(SettingFault::at(name, message))
    }

    /// True or false; false when nothing is said.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, SettingFault> {
        match self.typed(name)?.as_deref() {
            None | Some("false" | "no") => Ok(false),
            Some("true" | "yes") => Ok(true),
            Some(other) => Err(SettingFault::at(
                name,
                format!("{name} = {other:?}: it is true or false"),
            )),
        }
    }

    /// Bytes of a record, and of a file, which holds one at least.
    ///
    /// # Errors
    /// When one is no size up to its most, or the record is the larger.
    pub fn record_and_size(
        &self,
        record_max: Bytes,
        size_max: Bytes,
    ) -> Result<(Bytes, Bytes), SettingFault> {
        let record = self.size("record", Bytes(1)..=record_max)?;
        let size = self.size("size", Bytes(1)..=size_max)?;
        let (record, size) = (record.unwrap_or_default(), size.unwrap_or_default());
        if record > size {
            let why = format!("record = {record} is more than a whole file of {size}");
            return Err(SettingFault::at("record", why));
        }
        Ok((record, size))
    }

    /// A whole number in `range`.
    ///
    /// # Errors
    /// When it is none.
    pub fn count(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, SettingFault> {
        let Some(typed) = self.typed(name)? else {
            return Ok(None);
        };
        let found = typed.replace(['_', ','], "").parse().ok();
        let found = found.filter(|number| range.contains(number));
        found.map(Some).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            SettingFault::at(
                name,
                format!("{name} = {typed:?}: it is a whole number from {low} to {high}"),
            )
        })
    }

    /// A number of bytes in `range`.
    ///
    /// # Errors
    /// When it is none.
    pub fn size(
        &self,
        name: &str,
        range: RangeInclusive<Bytes>,
    ) -> Result<Option<Bytes>, SettingFault> {
        let Some(typed) = self.typed(name)? else {
            return Ok(None);
        };
        let (low, high) = (*range.start(), *range.end());
        let found: Bytes = typed
            .parse()
            .map_err(|error| SettingFault::at(name, format!("{name}: {error}")))?;
        if range.contains(&found) {
            return Ok(Some(found));
        }
        let message = format!("{name} = {typed:?}: it is a size from {low} to {high}");
        Err(SettingFault::at(name, message))
    }

    /// A span of time above zero.
    ///
    /// # Errors
    /// When it is none.
    pub fn time(&self, name: &str) -> Result<Option<Duration>, SettingFault> {
        let Some(typed) = self.typed(name)? else {
            return Ok(None);
        };
        let found: Duration = typed
            .parse()
            .map_err(|error| SettingFault::at(name, format!("{name}: {error}")))?;
        if found > Duration::ZERO {
            return Ok(Some(found));
        }
        Err(SettingFault::at(
            name,
            format!("{name} = {typed:?}: it is a time above zero"),
        ))
    }

    /// A share, typed as a percentage.
    ///
    /// # Errors
    /// When it is none, or above 100 %.
    pub fn percent(&self, name: &str) -> Result<Option<f64>, SettingFault> {
        let Some(typed) = self.typed(name)? else {
            return Ok(None);
        };
        let found = parse_percent(&typed)
            .map_err(|error| SettingFault::at(name, format!("{name}: {error}")))?;
        if found <= 1.0 {
            return Ok(Some(found));
        }
        Err(SettingFault::at(
            name,
            format!("{name} = {typed:?}: it is a percentage from 0% to 100%"),
        ))
    }

    /// A text, or a list of texts; nothing when it was not given.
    ///
    /// # Errors
    /// When it is neither.
    pub fn text_or_list(&self, name: &str) -> Result<Option<TextOrList>, SettingFault> {
        let Some(value) = self.table.get(name) else {
            return Ok(None);
        };
        let Value::Array(items) = value else {
            return Ok(self.text(name)?.map(TextOrList::Text));
        };
        let words: Option<Vec<String>> = items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect();
        let words = words.filter(|words| words.first().is_some_and(|it| !it.is_empty()));
        let words = words.ok_or_else(|| self.wrong(name, value, "a text, or a list of texts"))?;
        Ok(Some(TextOrList::List(words)))
    }

    /// The value as it would be typed: a level of a factor may be a number or a text.
    fn typed(&self, name: &str) -> Result<Option<String>, SettingFault> {
        match self.table.get(name) {
            None => Ok(self.default(name).map(str::to_owned)),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(Value::Integer(number)) => Ok(Some(number.to_string())),
            Some(Value::Float(number)) => Ok(Some(number.to_string())),
            Some(Value::Boolean(flag)) => Ok(Some(flag.to_string())),
            Some(other) => {
                let form = self.setting(name).form;
                Err(self.wrong(name, other, form))
            }
        }
    }

    fn wrong(&self, name: &str, value: &Value, expected: &str) -> SettingFault {
        let message = format!("{name} = {value} of {}: it is {expected}", self.kind.name);
        SettingFault::at(name, message)
    }

    fn default(&self, name: &str) -> Option<&'static str> {
        match self.setting(name).default {
            Default::Is(value) => Some(value),
            Default::Required | Default::Nothing => None,
        }
    }

    fn setting(&self, name: &str) -> &'static Setting {
        let found = self.kind.settings.iter().find(|it| it.name == name);
        found.expect("only settings that the kind lists are asked for")
    }
}
