//! The setup of a run, as requested and resolved: everything needed to repeat it.

use serde::{Deserialize, Serialize};

/// The setup of a run. The workload of the clients is kept with each measurement and curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The command, as in `run`.
    pub command: String,
    /// Seed of all random numbers.
    #[serde(with = "crate::seed")]
    pub seed: u64,
    /// All settings of the command, in the order of its help.
    pub settings: Vec<RunSetting>,
    /// Definition files that were read, never data.
    pub files: Vec<FileText>,
}

/// A setting as it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSetting {
    /// The option without its dashes, or the name of the argument.
    pub name: String,
    /// Values in canonical units; empty if not set.
    pub values: Vec<String>,
    /// Origin of the values.
    pub origin: SettingOrigin,
}

/// Origin of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingOrigin {
    /// The user.
    Given,
    /// The default.
    Default,
    /// The program, from what it detected.
    Resolved,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// File name as typed.
    pub name: String,
    /// Content.
    pub text: String,
}

impl Setup {
    /// A setup without settings.
    pub fn new(command: &str, seed: u64) -> Self {
        Self {
            command: command.into(),
            seed,
            settings: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Adds a setting that the user gave.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push(RunSetting {
            name: name.into(),
            values: vec![value.into()],
            origin: SettingOrigin::Given,
        });
        self
    }

    /// The setting with that name.
    pub fn setting(&self, name: &str) -> Option<&RunSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The first value of a setting.
    pub fn value(&self, name: &str) -> Option<&str> {
        let values = &self.setting(name)?.values;
        values.first().map(String::as_str)
    }

    /// Whether the user chose the setting.
    pub fn is_given(&self, name: &str) -> bool {
        let setting = self.setting(name);
        setting.is_some_and(|it| it.origin == SettingOrigin::Given)
    }

    /// Records the resolved values of a setting. Ignored if the command has no such setting.
    pub fn resolve(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let mut settings = self.settings.iter_mut();
        let Some(setting) = settings.find(|it| it.name == name) else {
            return;
        };
        setting.values = values.into_iter().collect();
        if setting.origin == SettingOrigin::Default {
            setting.origin = SettingOrigin::Resolved;
        }
    }

    /// The text of a file, if it was read.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.name == name)?;
        Some(&file.text)
    }

    /// Keeps the text of a file.
    pub fn keep_text(&mut self, name: &str, text: &str) {
        if self.text_of(name).is_none() {
            self.files.push(FileText {
                name: name.into(),
                text: text.into(),
            });
        }
    }
}
