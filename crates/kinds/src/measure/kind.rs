//! What kinds of measurement there are: the text of their help, and the defaults of their settings.

/// A kind of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What a study file calls it.
    pub name: &'static str,
    /// One line on what it measures.
    pub about: &'static str,
    /// What can be set.
    pub settings: &'static [Setting],
    /// What one replicate gives: names, as readings carry them, and meanings.
    pub readings: &'static [(&'static str, &'static str)],
}

/// A setting of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the study file.
    pub name: &'static str,
    /// What a value looks like, such as `SIZE`.
    pub form: &'static str,
    /// What holds when it is not given.
    pub default: Default,
    /// What it does.
    pub meaning: &'static str,
}

/// What holds when a setting is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// That is a mistake.
    Required,
    /// Nothing; the meaning says what that does.
    Nothing,
    /// This value, as it would be typed.
    Is(&'static str),
}

impl Setting {
    /// Whether its value is a path of this machine, or a list of them.
    #[must_use]
    pub fn names_paths(&self) -> bool {
        ["PATH", "LIST of PATHs"]
            .iter()
            .any(|form| self.form.starts_with(form))
    }

    /// A setting that must be given.
    #[must_use]
    pub const fn required(name: &'static str, form: &'static str, meaning: &'static str) -> Self {
        let default = Default::Required;
        Self {
            name,
            form,
            default,
            meaning,
        }
    }

    /// A setting that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, form: &'static str, meaning: &'static str) -> Self {
        let default = Default::Nothing;
        Self {
            name,
            form,
            default,
            meaning,
        }
    }

    /// A setting with a value of its own.
    #[must_use]
    pub const fn or(
        name: &'static str,
        form: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        let default = Default::Is(value);
        Self {
            name,
            form,
            default,
            meaning,
        }
    }
}
