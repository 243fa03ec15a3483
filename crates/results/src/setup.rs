//! What was asked for and what it came to: all that it takes to measure the same again.

use serde::{Deserialize, Serialize};

/// The setup of a run. What the clients did is with each measurement and curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The command, as in `run`.
    pub command: String,
    /// Seed of everything random.
    #[serde(with = "crate::seed")]
    pub seed: u64,
    /// Every setting of the command, in the order of its help.
    pub settings: Vec<RunSetting>,
    /// Every file that was read: definitions, never data.
    pub files: Vec<FileText>,
}

/// A setting as it was resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSetting {
    /// The option without its dashes, or the name of the argument.
    pub name: String,
    /// Its values in canonical units; none where it is not set.
    pub values: Vec<String>,
    /// Who chose them.
    pub origin: SettingOrigin,
}

/// Who chose a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingOrigin {
    /// The user.
    Given,
    /// Nobody: it is the default.
    Default,
    /// The program, from what it found.
    Resolved,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// Its name as it was given.
    pub name: String,
    /// What it held.
    pub text: String,
}

impl Setup {
    /// A setup of which nothing else is known.
    #[must_use]
    pub fn new(command: &str, seed: u64) -> Self {
        Self {
            command: command.into(),
            seed,
            settings: Vec::new(),
            files: Vec::new(),
        }
    }

    /// With a further setting that the user gave.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push(RunSetting {
            name: name.into(),
            values: vec![value.into()],
            origin: SettingOrigin::Given,
        });
        self
    }

    /// The setting of that name.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&RunSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The first value of a setting.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let values = &self.setting(name)?.values;
        values.first().map(String::as_str)
    }

    /// Whether the user chose the setting.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        let setting = self.setting(name);
        setting.is_some_and(|it| it.origin == SettingOrigin::Given)
    }

    /// What a setting came to: what the program chose, or made of what the user gave. What the
    /// command has no setting for is left out.
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
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.name == name)?;
        Some(&file.text)
    }

    /// Keep the text of a file.
    pub fn keep_text(&mut self, name: &str, text: &str) {
        if self.text_of(name).is_none() {
            self.files.push(FileText {
                name: name.into(),
                text: text.into(),
            });
        }
    }
}
