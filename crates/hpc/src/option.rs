//! Options of IOR or mdtest as data, and a command-line parser that uses tables of them.

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HpcAnswer {
    /// As in the original.
    Same,
    /// Accepted, but with another or no effect; the reason.
    Differs(&'static str),
    /// Refused; the reason, and what to use instead.
    Refused(&'static str),
}

/// Applies the value of an option, which is empty if it has none.
type SetOption<S> = fn(&mut S, &str) -> Result<(), String>;

/// An option that sets something in settings `S`.
#[derive(Debug)]
pub struct HpcOption<S> {
    /// As typed, such as `-t`.
    pub flag: &'static str,
    /// Its long name, such as `transferSize`; empty without one.
    pub name: &'static str,
    /// Whether it has a value.
    pub has_value: bool,
    pub answer: HpcAnswer,
    pub(crate) set: SetOption<S>,
}

impl<S> HpcOption<S> {
    /// An option without a value.
    pub(crate) const fn flag(
        flag: &'static str,
        name: &'static str,
        answer: HpcAnswer,
        set: SetOption<S>,
    ) -> Self {
        Self {
            flag,
            name,
            has_value: false,
            answer,
            set,
        }
    }

    /// An option with a value.
    pub(crate) const fn value(
        flag: &'static str,
        name: &'static str,
        answer: HpcAnswer,
        set: SetOption<S>,
    ) -> Self {
        Self {
            has_value: true,
            ..Self::flag(flag, name, answer, set)
        }
    }

    /// An option without a value and without effect.
    pub(crate) const fn idle(flag: &'static str, name: &'static str, why: &'static str) -> Self {
        Self::flag(flag, name, HpcAnswer::Differs(why), |_, _| Ok(()))
    }

    /// An option with a value and without effect.
    pub(crate) const fn idle_value(
        flag: &'static str,
        name: &'static str,
        why: &'static str,
    ) -> Self {
        Self {
            has_value: true,
            ..Self::idle(flag, name, why)
        }
    }

    /// A refused option without a value.
    pub(crate) const fn refused(flag: &'static str, name: &'static str, why: &'static str) -> Self {
        Self::flag(flag, name, HpcAnswer::Refused(why), |_, _| Ok(()))
    }

    /// A refused option with a value.
    pub(crate) const fn refused_value(
        flag: &'static str,
        name: &'static str,
        why: &'static str,
    ) -> Self {
        Self {
            has_value: true,
            ..Self::refused(flag, name, why)
        }
    }

    /// Applies it.
    ///
    /// # Errors
    /// If it is refused, or its value is invalid.
    fn apply(&self, settings: &mut S, value: &str) -> Result<(), String> {
        match self.answer {
            HpcAnswer::Refused(why) => Err(format!("{}: {why}", self.typed())),
            HpcAnswer::Same | HpcAnswer::Differs(_) => {
                (self.set)(settings, value).map_err(|why| format!("{} {why}", self.typed()))
            }
        }
    }

    /// As typed: by its letter, or else by its name.
    const fn typed(&self) -> &'static str {
        if self.flag.is_empty() {
            self.name
        } else {
            self.flag
        }
    }
}

/// Parses a command line.
///
/// # Errors
/// What is unknown, refused, or an invalid value, in one sentence.
pub fn read<S>(table: &[HpcOption<S>], words: &[String], settings: &mut S) -> Result<(), String> {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(name) = word.strip_prefix("--") {
            read_named(table, name, settings)?;
            continue;
        }
        let letters = word.strip_prefix('-').filter(|it| !it.is_empty());
        let letters = letters
            .ok_or_else(|| format!("{word}: is no option"))?
            .char_indices();
        for (at, letter) in letters {
            let is_it = |it: &&HpcOption<S>| it.flag.strip_prefix('-') == Some(&letter.to_string());
            let option = table.iter().find(is_it);
            let option = option.ok_or_else(|| format!("-{letter}: is no option known here"))?;
            if !option.has_value {
                option.apply(settings, "")?;
                continue;
            }
            // Refused before its value is examined, since the reason is more informative.
            if let HpcAnswer::Refused(_) = option.answer {
                return option.apply(settings, "");
            }
            let behind = &word[1 + at + letter.len_utf8()..];
            let value = match behind.strip_prefix('=').unwrap_or(behind) {
                "" => rest
                    .next()
                    .ok_or_else(|| format!("{}: needs a value", option.flag))?,
                value => value,
            };
            option.apply(settings, value)?;
            break;
        }
    }
    Ok(())
}

/// An option by its name, as in `transferSize=2m` or `reorderTasksConstant`.
///
/// # Errors
/// Those of [`read`].
pub fn read_named<S>(table: &[HpcOption<S>], word: &str, settings: &mut S) -> Result<(), String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let name = name.trim();
    let is_it = |it: &&HpcOption<S>| !it.name.is_empty() && it.name.eq_ignore_ascii_case(name);
    let option = table.iter().find(is_it);
    let option = option.ok_or_else(|| format!("{name}: is no option known here"))?;
    match (option.has_value, value.trim()) {
        // A switch that is off.
        (false, "0") => Ok(()),
        (false, _) => option.apply(settings, ""),
        (true, "") if !matches!(option.answer, HpcAnswer::Refused(_)) => {
            Err(format!("{name}: needs a value"))
        }
        (true, value) => option.apply(settings, value),
    }
}
