//! fio's options as data: names, kinds of value, and what becomes of each here.

use crate::number::{KbBase, TimeUnit, size, time, whole};
use crate::table::GENERIC;
use crate::table_engines::OF_ENGINES;

/// What is done with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSupport {
    /// It does what it does in fio; a note says what is particular.
    Done(&'static str),
    /// It is read and changes nothing, because of this.
    NoEffect(&'static str),
    /// A job with it is refused, because of this, unless its value switches it off.
    Refused(&'static str),
    /// It belongs to this engine, which is refused.
    OfEngine(&'static str),
}

/// What is written behind the `=`.
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
    /// A whole number between two.
    Int(i64, i64),
    /// One to three of them, for reads, writes and trims.
    Ints(i64, i64),
    /// A size, or a share in percent.
    Amount,
    /// One to three sizes.
    Sizes,
    Size,
    /// A time in seconds.
    Seconds,
    /// A time in microseconds.
    Micros,
    /// Numbers with fractions, between colons.
    Floats,
    /// One of these words, perhaps with more behind a colon.
    OneOf(&'static [&'static str]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioOption {
    /// Its name, as fio's own help has it.
    pub name: &'static str,
    /// Another name; empty without one.
    pub alias: &'static str,
    /// What its value must be.
    pub value: ValueKind,
    /// What is done with it.
    pub answer: OptionSupport,
    /// Options of higher rank are read first, whatever their order: fio's `prio`.
    pub rank: i8,
}

impl FioOption {
    /// Whether it belongs to an engine that is refused.
    pub(crate) const fn is_of_engine(&self) -> bool {
        matches!(self.answer, OptionSupport::OfEngine(_))
    }
}

/// Every option of fio 3.42, and those of older ones.
pub fn options() -> impl Iterator<Item = &'static FioOption> {
    GENERIC.iter().chain(OF_ENGINES)
}

/// The option of that name or alias.
#[must_use]
pub fn find_option(name: &str) -> Option<&'static FioOption> {
    options().find(|it| it.name == name || (!it.alias.is_empty() && it.alias == name))
}

/// The known name that is spelled most nearly so.
pub(crate) fn nearest(typed: &str) -> Option<&'static str> {
    let names = options().flat_map(|it| [it.name, it.alias]);
    let names = names.filter(|name| !name.is_empty());
    let rated = names.map(|name| (units::edits(typed, name), name));
    let (far, name) = rated.min()?;
    (far <= (typed.len() / 3).max(1)).then_some(name)
}

impl ValueKind {
    /// Whether `text` can stand behind the option.
    ///
    /// # Errors
    /// What is wrong with it, in words.
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
            // Each reader of sizes says best what is wrong with one.
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

/// What a flag says.
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

/// The parts for reads, writes and trims; a part that is left out keeps what it was.
fn triplet(text: &str) -> Result<impl Iterator<Item = &str>, String> {
    if text.split(',').count() > 3 {
        return Err("has more than three values: reads, writes, trims".into());
    }
    Ok(text.split(',').filter(|part| !part.is_empty()))
}
