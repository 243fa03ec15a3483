//! Reads the settings of a measurement from a table. Every mistake names what is allowed.

use drivers::Caching;
use toml::{Table, Value};
use units::{Bytes, did_you_mean, nearest};

use super::form::{OfForm, SettingValue, typed};
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

/// The settings of one measurement, each of its form.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    kind: &'static Kind,
    table: &'a Table,
    values: Vec<(&'static Setting, SettingValue)>,
}

impl<'a> Settings<'a> {
    /// The settings in `table` for that kind, with the defaults of the others.
    ///
    /// # Errors
    /// When it has no such setting, one that must be given is missing, or a value is not of its
    /// setting's form.
    pub fn of(kind: &'static Kind, table: &'a Table) -> Result<Self, SettingFault> {
        for key in table.keys() {
            if !kind.settings.iter().any(|setting| setting.name == key) {
                let names: Vec<&str> = kind.settings.iter().map(|it| it.name).collect();
                let message = format!(
                    "{} has no setting {key:?}{}. It has {}",
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
        let mut this = Self {
            kind,
            table,
            values: Vec::new(),
        };
        for setting in kind.settings {
            let Some(value) = this.raw(setting) else {
                continue;
            };
            let name = setting.name;
            let read = setting.form.read(&value);
            let read = read.map_err(|why| SettingFault::at(name, format!("{name}{why}")))?;
            this.values.push((setting, read));
        }
        Ok(this)
    }

    pub(super) const fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// What was given, in the order in which the kind lists it.
    pub(super) fn all_given(&self) -> impl Iterator<Item = &'static Setting> {
        let all = self.kind.settings.iter();
        all.filter(|it| self.is_given(it.name))
    }

    /// Every setting that has a value, as it would be typed.
    pub fn all_typed(&self) -> Vec<(String, String)> {
        let all = self.kind.settings.iter();
        let typed = all.filter_map(|it| Some((it.name.to_owned(), typed(&self.raw(it)?)?)));
        typed.collect()
    }

    /// Whether the setting was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// The value of a setting that has a default, or must be given.
    pub(crate) fn value<T: OfForm>(&self, name: &str) -> T {
        let found = self.optional(name);
        found.expect("a setting that is always there, asked for as what it is")
    }

    /// The value of a setting, if it has one.
    pub(crate) fn optional<T: OfForm>(&self, name: &str) -> Option<T> {
        let mut all = self.values.iter();
        let (_, value) = all.find(|(setting, _)| setting.name == name)?;
        let value = T::of(value);
        Some(value.expect("a setting is asked for as what it is"))
    }

    /// What the word of a setting stands for.
    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> T {
        let word: String = self.value(name);
        let found = choices.iter().find(|(choice, _)| *choice == word);
        found
            .expect("each word of a setting stands for something")
            .1
    }

    /// Bytes of a record, and of a file, which holds one at least.
    ///
    /// # Errors
    /// When the record is the larger.
    pub fn record_and_size(&self) -> Result<(Bytes, Bytes), SettingFault> {
        let (record, size): (Bytes, Bytes) = (self.value("record"), self.value("size"));
        if record > size {
            let why = format!("record = {record} is more than a whole file of {size}");
            return Err(SettingFault::at("record", why));
        }
        Ok((record, size))
    }

    /// Whether the page cache takes part, by the setting `direct`.
    pub fn caching(&self) -> Caching {
        match self.value("direct") {
            true => Caching::Direct,
            false => Caching::Buffered,
        }
    }

    fn raw(&self, setting: &Setting) -> Option<Value> {
        let default = match setting.default {
            Default::Is(value) => Some(Value::from(value)),
            Default::Required | Default::Nothing => None,
        };
        self.table.get(setting.name).cloned().or(default)
    }
}
