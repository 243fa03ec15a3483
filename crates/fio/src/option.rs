//! fio's options as data: names, kinds of value, and how each is handled here.

use crate::number::{KbBase, TimeUnit, size, time, whole};
use crate::table::GENERIC;
use crate::table_engines::OF_ENGINES;

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSupport {
    /// As in fio; a note has details.
    Done(&'static str),
    /// Accepted without effect, for this reason.
    NoEffect(&'static str),
    /// Refused, for this reason, unless its value switches it off.
    Refused(&'static str),
    /// Belongs to this unsupported engine.
    OfEngine(&'static str),
}

/// Value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// Any text.
    Text,
    /// Any text, or none.
    MaybeText,
    /// Nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// An integer in a range.
    Int(i64, i64),
    /// One to three integers in a range, for reads, writes and trims.
    Ints(i64, i64),
    /// A size, or a percentage.
    Amount,
    /// One to three sizes.
    Sizes,
    Size,
    /// A time in seconds.
    Seconds,
    /// A time in microseconds.
    Micros,
    /// Decimal numbers separated by colons.
    Floats,
    /// One of these words, optionally with more after a colon.
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioOption {
    /// Its name in fio's help.
    pub name: &'static str,
    /// Another name, or empty.
    pub alias: &'static str,
    /// Its value.
    pub value: ValueKind,
    /// How it is handled.
    pub answer: OptionSupport,
    /// Options with a higher rank are applied first, whatever their order: fio's `prio`.
    pub rank: i8,
}

impl FioOption {
    /// Whether it belongs to an unsupported engine.
    pub(crate) const fn is_of_engine(&self) -> bool {
        matches!(self.answer, OptionSupport::OfEngine(_))
    }
}

/// All options of fio 3.42, and those of older versions.
pub fn options() -> impl Iterator<Item = &'static FioOption> {
    GENERIC.iter().chain(OF_ENGINES)
}

/// The option with that name or alias.
pub fn find_option(name: &str) -> Option<&'static FioOption> {
    options().find(|it| it.name == name || (!it.alias.is_empty() && it.alias == name))
}

/// The known name with the most similar spelling.
pub(crate) fn nearest(typed: &str) -> Option<&'static str> {
    let names = options().flat_map(|it| [it.name, it.alias]);
    let names = names.filter(|name| !name.is_empty());
    let rated = names.map(|name| (units::edits(typed, name), name));
    let (far, name) = rated.min()?;
    (far <= (typed.len() / 3).max(1)).then_some(name)
}

impl ValueKind {
    /// Checks that `text` is a valid value.
    ///
    /// # Errors
    /// A description of the error.
    pub fn check(self, text: Option<&str>, base: KbBase) -> Result<(), String> {
        let text = match (self, text) {
            (Self::Flag, None) | (Self::MaybeText, _) => return Ok(()),
            (_, None | Some("")) => return Err("needs a value".into()),
            (_, Some(text)) => text,
        };
        match self {
            Self::Text | Self::MaybeText => Ok(()),
            Self::Flag | Self::Bool => truth(text).map(|_| ()),
            Self::Int(least, most) => within(text, base, (least, most)),
            Self::Ints(least, most) => {
                let mut parts = triplet(text)?;
                parts.try_for_each(|part| within(part, base, (least, most)))
            }
            Self::Amount => amount_text(text, base),
            // The parsers of sizes have the best error messages.
            Self::Sizes => triplet(text).map(|_| ()),
            Self::Size => size(text, base).map(|_| ()),
            Self::Seconds => time(text, TimeUnit::Seconds).map(|_| ()),
            Self::Micros => time(text, TimeUnit::Microseconds).map(|_| ()),
            Self::Floats => text.split([':', ',']).try_for_each(|part| {
                let number = part.trim().parse::<f64>().ok();
                let number = number.filter(|number| number.is_finite());
                number.map(|_| ()).ok_or(format!("{part:?} is no number"))
            }),
            Self::OneOf(words) => {
                let word = text.split([':', ',']).next().unwrap_or(text);
                match words.contains(&word) {
                    true => Ok(()),
                    false => Err(format!("{word:?} is none of {}", words.join(", "))),
                }
            }
        }
    }
}

/// Value of a flag.
pub(crate) fn truth(text: &str) -> Result<bool, String> {
    match text {
        "0" | "false" => Ok(false),
        "1" | "true" => Ok(true),
        other => Err(format!("{other:?} is neither 0 nor 1")),
    }
}

fn within(text: &str, base: KbBase, (least, most): (i64, i64)) -> Result<(), String> {
    let value = whole(text, base)?;
    match (least..=most).contains(&value) {
        true => Ok(()),
        false if most == i64::MAX => Err(format!("{value} is below {least}")),
        false => Err(format!("{value} is not between {least} and {most}")),
    }
}

fn amount_text(text: &str, base: KbBase) -> Result<(), String> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent = percent.trim_end_matches('%');
        let value = whole(percent, base)?;
        return match (0..=100).contains(&value) {
            true => Ok(()),
            false => Err(format!("{text} is not between 0% and 100%")),
        };
    }
    if text.ends_with('z') {
        return Err("sizes in zones are not supported: give bytes".into());
    }
    size(text, base).map(|_| ())
}

/// Parts for reads, writes and trims; an omitted part is unchanged.
fn triplet(text: &str) -> Result<impl Iterator<Item = &str>, String> {
    if text.split(',').count() > 3 {
        return Err("has more than three values: reads, writes, trims".into());
    }
    Ok(text.split(',').filter(|part| !part.is_empty()))
}
