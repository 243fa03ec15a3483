//! What the values of a setting look like, and how one is read.

use std::fmt;
use std::path::PathBuf;

use toml::Value;
use units::{Bytes, Duration, TargetName, parse_percent};

/// What a value looks like, with the least and the most that it may be.
#[derive(Clone, Copy, Debug)]
pub enum ValueForm {
    Size(Bytes, Bytes),
    Time(Duration, Duration),
    Count(u64, u64),
    /// A percentage up to 100 %.
    Percent,
    /// True or false.
    Flag,
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or a pattern of theirs such as `zipf:THETA`, which the kind reads.
    Pattern(&'static [&'static str]),
    /// What this text stands for: a name, an address.
    Text(&'static str),
    /// A path of this machine, or what else this text names.
    Path(&'static str),
    /// A text, or a list of texts.
    TextOrList(&'static str),
    /// Paths of this machine; a command takes its option several times.
    Paths,
}

/// Any time but none.
pub const ANY_TIME: ValueForm =
    ValueForm::Time(Duration::from_nanos(1), Duration::from_nanos(u64::MAX));

/// A value of a setting that is of the setting's form.
#[derive(Clone, Debug)]
pub(crate) enum SettingValue {
    Size(Bytes),
    Time(Duration),
    Count(u64),
    /// Of one.
    Share(f64),
    Flag(bool),
    Text(String),
    /// Texts, at least one of them, the first not empty.
    List(Vec<String>),
}

impl ValueForm {
    /// What a command line calls its values, such as `SIZE` or `yes|no`.
    pub fn value_name(&self) -> String {
        match self {
            Self::Words(words) | Self::Pattern(words) => words.join("|"),
            Self::Paths => "PATH".into(),
            other => other.to_string(),
        }
    }

    /// Read a value, which may be a number where a text is meant.
    ///
    /// # Errors
    /// What is wrong with it, as it was typed.
    pub(crate) fn read(&self, value: &Value) -> Result<SettingValue, String> {
        let Some(typed) = typed(value) else {
            return self.read_list(value);
        };
        let wrong = |what: String| format!(" = {typed:?}: it is {what}");
        let between = |what: &str, least: &dyn fmt::Display, most: &dyn fmt::Display| {
            wrong(format!("{what} from {least} to {most}"))
        };
        match *self {
            Self::Size(least, most) => {
                let found: Bytes = typed.parse().map_err(|error| format!(": {error}"))?;
                let is_within = (least..=most).contains(&found);
                let found = is_within.then_some(SettingValue::Size(found));
                found.ok_or_else(|| between("a size", &least, &most))
            }
            Self::Time(least, most) => {
                let found: Duration = typed.parse().map_err(|error| format!(": {error}"))?;
                let is_within = (least..=most).contains(&found);
                let found = is_within.then_some(SettingValue::Time(found));
                found.ok_or_else(|| match most.as_nanos() {
                    u64::MAX => wrong("a time above zero".into()),
                    _ => between("a time", &least, &most),
                })
            }
            Self::Count(least, most) => {
                let found = typed.replace(['_', ','], "").parse().ok();
                let found = found.filter(|number| (least..=most).contains(number));
                let found = found.map(SettingValue::Count);
                found.ok_or_else(|| between("a whole number", &least, &most))
            }
            Self::Percent => {
                let found = parse_percent(&typed).map_err(|error| format!(": {error}"))?;
                let found = (found <= 1.0).then_some(SettingValue::Share(found));
                found.ok_or_else(|| wrong("a percentage from 0% to 100%".into()))
            }
            Self::Flag => match typed.as_str() {
                "true" | "yes" => Ok(SettingValue::Flag(true)),
                "false" | "no" => Ok(SettingValue::Flag(false)),
                _ => Err(wrong(self.to_string())),
            },
            Self::Words(words) if !words.contains(&typed.as_str()) => {
                let words: Vec<String> = words.iter().map(|it| format!("{it:?}")).collect();
                Err(wrong(format!("one of {}", words.join(", "))))
            }
            Self::Words(_) | Self::Pattern(_) if !typed.is_empty() => Ok(SettingValue::Text(typed)),
            _ if typed.is_empty() => Err(wrong(self.to_string())),
            // A password may end with a blank.
            _ => Ok(SettingValue::Text(
                value.as_str().map_or(typed, str::to_owned),
            )),
        }
    }

    fn read_list(&self, value: &Value) -> Result<SettingValue, String> {
        let expected = match self {
            Self::TextOrList(_) | Self::Paths => "a text, or a list of texts".to_owned(),
            other => other.to_string(),
        };
        let items = match (self, value) {
            (Self::TextOrList(_) | Self::Paths, Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        let texts: Option<Vec<String>> = texts.collect();
        let texts = texts.filter(|texts| texts.first().is_some_and(|it| !it.is_empty()));
        let texts = texts.map(SettingValue::List);
        texts.ok_or_else(|| format!(" = {value}: it is {expected}"))
    }
}

/// As documents have it.
impl fmt::Display for ValueForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size(..) => "SIZE",
            Self::Time(..) => "TIME",
            Self::Count(..) => "NUMBER",
            Self::Percent => "PERCENT",
            Self::Flag => "true or false",
            Self::Paths => "LIST of PATHs",
            Self::Text(name) | Self::Path(name) | Self::TextOrList(name) => name,
            Self::Words(words) | Self::Pattern(words) => {
                let (last, others) = words.split_last().expect("a word at least");
                let others: Vec<String> = others.iter().map(|it| format!("{it:?}")).collect();
                if !others.is_empty() {
                    write!(f, "{} or ", others.join(", "))?;
                }
                return write!(f, "{last:?}");
            }
        })
    }
}

/// The value as it would be typed: a level of a factor may be a number or a text.
pub(crate) fn typed(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A type that values of a form have.
pub(crate) trait OfForm: Sized {
    /// The value; `None` for one of another form.
    fn of(value: &SettingValue) -> Option<Self>;
}

macro_rules! of_form {
    ($($type:ty: $form:ident),+) => {$(
        impl OfForm for $type {
            fn of(value: &SettingValue) -> Option<Self> {
                match value {
                    SettingValue::$form(found) => Some(found.clone().into()),
                    _ => None,
                }
            }
        }
    )+};
}

of_form! {
    Bytes: Size,
    Duration: Time,
    u64: Count,
    f64: Share,
    bool: Flag,
    String: Text,
    TargetName: Text,
    PathBuf: Text
}

/// A value that is either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextOrList {
    Text(String),
    /// Texts, at least one of them, the first not empty.
    List(Vec<String>),
}

impl OfForm for TextOrList {
    fn of(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Text(text) => Some(Self::Text(text.clone())),
            SettingValue::List(texts) => Some(Self::List(texts.clone())),
            _ => None,
        }
    }
}

impl TextOrList {
    /// The texts, a single one as a list of itself.
    pub fn all(self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(texts) => texts,
        }
    }
}
