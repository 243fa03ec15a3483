//! Reads the values of one table of a definition. Mistakes are recorded with their lines, and
//! values with their sources, to be shown.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use toml::de::{DeTable, DeValue};
use toml_reader::{TomlFault, place_in, refused_value, unknown_key};
use units::{Bytes, Duration, UnitError, parse_percent, shortened};

/// Maximum time value: a day. Sums of times stay far below the end of the clock.
const SPAN_MAX: u64 = 86_400 * 1_000_000_000;
/// Maximum size, bytes. Sums and products of a few stay below 64 bits.
const SIZE_MAX: u64 = 1 << 60;
/// Minimum rate, bytes per second.
const RATE_MIN: u64 = 1000;

/// A key of a definition.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionKey {
    /// Its name.
    pub name: &'static str,
    /// What happens if it is absent.
    pub absent: Absent,
    /// Its meaning, with an example.
    pub meaning: &'static str,
}

/// What happens if a key is absent.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    Mistake,
    /// There is no value.
    Nothing,
    /// This default is used.
    Is(&'static str),
}

/// A required key.
pub const fn needed(name: &'static str, meaning: &'static str) -> DefinitionKey {
    DefinitionKey {
        name,
        absent: Absent::Mistake,
        meaning,
    }
}

/// An optional key.
pub const fn optional(name: &'static str, meaning: &'static str) -> DefinitionKey {
    DefinitionKey {
        name,
        absent: Absent::Nothing,
        meaning,
    }
}

/// A key with a default.
pub const fn or(name: &'static str, value: &'static str, meaning: &'static str) -> DefinitionKey {
    DefinitionKey {
        name,
        absent: Absent::Is(value),
        meaning,
    }
}

/// Declares keys, a line of `NAME = constructor("name", .., "meaning");` each.
macro_rules! keys {
    ($($name:ident = $key:expr;)*) => {
        $(const $name: DefinitionKey = $key;)*
    };
}
pub(super) use keys;

/// A parsed value, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Part of the machine.
    pub part: String,
    pub key: String,
    /// The value as typed.
    pub value: String,
    /// Its source: the file, an option, or the model's default.
    pub source: String,
}

/// State shared by all tables of a definition.
#[derive(Debug, Default)]
pub struct Context {
    /// Mistakes.
    pub faults: Vec<TomlFault>,
    /// Parsed values.
    pub parameters: Vec<Parameter>,
    /// Options that replace values, and whether a table used them.
    pub options: Vec<(String, String, bool)>,
    /// All keys that an option could set.
    pub known: Vec<String>,
}

impl Context {
    /// Records a mistake.
    pub fn note(&mut self, place: impl Into<String>, message: impl Into<String>) {
        let (place, message) = (place.into(), message.into());
        self.faults.push(TomlFault { place, message });
    }

    /// The value of an option, which then counts as used.
    pub fn option(&mut self, name: &str) -> Option<String> {
        self.known.push(name.to_owned());
        let option = self.options.iter_mut().find(|(key, ..)| key == name)?;
        option.2 = true;
        Some(option.1.clone())
    }
}

/// One table of a file.
pub struct Form<'t, 'c> {
    /// Shared state.
    pub context: &'c mut Context,
    /// File name and text, for line numbers.
    file: &'t str,
    text: &'t str,
    table: Option<&'t DeTable<'t>>,
    /// Location of the table.
    begin: String,
    /// Part of the machine.
    part: String,
    /// Prefix of this table's options.
    prefix: &'static str,
    taken: Vec<&'static str>,
    seen: BTreeMap<&'static str, (String, String)>,
    /// Keys without a value that can be used.
    wrong: Vec<&'static str>,
}

/// A value with its origin.
struct FoundValue {
    typed: String,
    place: String,
}

impl<'t, 'c> Form<'t, 'c> {
    /// A table of `file`; without one, only options count.
    pub fn new(
        context: &'c mut Context,
        (file, text): (&'t str, &'t str),
        table: Option<(&'t DeTable<'t>, Range<usize>)>,
        part: &str,
        prefix: &'static str,
    ) -> Self {
        let span = table.as_ref().map_or(0..0, |(_, span)| span.clone());
        Self {
            context,
            file,
            text,
            table: table.map(|(table, _)| table),
            begin: place_in(file, text, &span),
            part: part.to_owned(),
            prefix,
            taken: Vec::new(),
            seen: BTreeMap::new(),
            wrong: Vec::new(),
        }
    }

    /// What `read` makes of its values, unless one of them is wrong: it gets another one in that
    /// place, so that all mistakes are noted at once.
    pub fn whole<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let before = self.context.faults.len();
        let found = read(self);
        (self.context.faults.len() == before).then_some(found)
    }

    /// The value of a key that may be missing.
    pub fn maybe<T>(
        &mut self,
        key: &DefinitionKey,
        read: impl FnOnce(&mut Self, &DefinitionKey) -> T,
    ) -> Option<T> {
        if self.has(key) {
            return Some(read(self, key));
        }
        self.knows(key);
        None
    }

    /// Whether a key has a value, in the file or by an option.
    pub fn has(&self, key: &DefinitionKey) -> bool {
        let option = format!("{}{}", self.prefix, key.name);
        self.context
            .options
            .iter()
            .any(|(name, ..)| *name == option)
            || self.table.is_some_and(|table| table.contains_key(key.name))
    }

    /// Marks a key as known that only has a meaning together with another one.
    pub fn knows(&mut self, key: &DefinitionKey) {
        self.taken.push(key.name);
        let option = format!("{}{}", self.prefix, key.name);
        self.context.known.push(option);
    }

    /// What `read` makes of a part that only exists if the first of its keys has a value; `None` if
    /// one of them is wrong.
    pub fn part<T>(
        &mut self,
        keys: &[DefinitionKey],
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<Option<T>> {
        if self.has(&keys[0]) {
            return self.whole(read).map(Some);
        }
        keys.iter().for_each(|key| self.knows(key));
        Some(None)
    }

    fn place(&self, span: &Range<usize>) -> String {
        place_in(self.file, self.text, span)
    }

    fn find(&mut self, key: &DefinitionKey) -> Option<FoundValue> {
        let (typed, place, source) = self.look(key)?;
        self.keep(key, &typed, &place, source);
        Some(FoundValue { typed, place })
    }

    fn keep(&mut self, key: &DefinitionKey, typed: &str, place: &str, source: String) {
        self.seen
            .insert(key.name, (typed.to_owned(), place.to_owned()));
        self.context.parameters.push(Parameter {
            part: self.part.clone(),
            key: key.name.to_owned(),
            value: typed.to_owned(),
            source,
        });
    }

    fn look(&mut self, key: &DefinitionKey) -> Option<(String, String, String)> {
        self.taken.push(key.name);
        let option = format!("{}{}", self.prefix, key.name);
        if let Some(value) = self.context.option(&option) {
            return Some((value.clone(), format!("{option}={value}"), "option".into()));
        }
        let entry = self.table.and_then(|table| table.get_key_value(key.name));
        let Some((name, value)) = entry else {
            return match key.absent {
                Absent::Is(value) => Some((value.into(), "default".into(), "default".into())),
                Absent::Nothing => None,
                Absent::Mistake => {
                    let message = format!("the key \"{}\" is missing: {}", key.name, key.meaning);
                    self.note(key, self.begin.clone(), message);
                    None
                }
            };
        };
        let place = self.place(&name.span());
        let (value, source) = sourced(value.get_ref());
        if let Some(text) = plain(value) {
            return Some((text, place, source));
        }
        self.note(key, place, refused_value(key.name, "[...]", key.meaning));
        None
    }

    fn note(&mut self, key: &DefinitionKey, place: String, message: String) {
        self.wrong.push(key.name);
        self.context.note(place, message);
    }

    fn refuse(&mut self, key: &DefinitionKey, found: &FoundValue, wanted: &str) {
        let message = refused_value(key.name, &shortened(&found.typed), wanted);
        self.note(key, found.place.clone(), message);
    }

    /// What `read` makes of a value; where that is a mistake, it is noted.
    fn value<T>(
        &mut self,
        key: &DefinitionKey,
        read: impl FnOnce(&str) -> Result<T, RefusedValue>,
    ) -> Option<T> {
        let found = self.find(key)?;
        match read(&found.typed) {
            Ok(value) => return Some(value),
            Err(RefusedValue::Wanted(wanted)) => self.refuse(key, &found, &wanted),
            Err(RefusedValue::Unit(error)) => {
                let message = format!("{} = {}: {error}", key.name, shortened(&found.typed));
                self.note(key, found.place, message);
            }
        }
        None
    }

    /// Nanoseconds.
    pub fn span(&mut self, key: &DefinitionKey) -> u64 {
        let span = self.value(key, |typed| {
            let span = typed.parse::<Duration>()?.as_nanos();
            within(span <= SPAN_MAX, span, || "at most a day".into())
        });
        span.unwrap_or_default()
    }

    /// Bytes, as many as storage could have.
    pub fn size(&mut self, key: &DefinitionKey) -> u64 {
        self.size_in(key, 0..=SIZE_MAX)
    }

    /// Bytes in a range.
    pub fn size_in(&mut self, key: &DefinitionKey, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start(), *range.end());
        let size = self.value(key, |typed| {
            let size = typed.parse::<Bytes>()?.as_u64();
            within(range.contains(&size), size, || {
                format!("from {} to {}", Bytes(low), Bytes(high))
            })
        });
        size.unwrap_or(low)
    }

    /// Bytes per second.
    pub fn rate(&mut self, key: &DefinitionKey) -> f64 {
        let rate = self.value(key, |typed| {
            let size = typed.strip_suffix("/s").ok_or_else(|| {
                RefusedValue::Wanted("bytes per second, such as \"5 MB/s\"".into())
            })?;
            let size = size.parse::<Bytes>()?.as_u64();
            within(size >= RATE_MIN, size, || "at least 1 kB/s".into())?;
            within(size <= SIZE_MAX, size, || "at most 1,024 PiB/s".into())
        });
        rate.unwrap_or(RATE_MIN) as f64
    }

    /// A share from 0 to 1, typed in percent.
    pub fn share(&mut self, key: &DefinitionKey) -> f64 {
        let share = self.value(key, |typed| {
            let share = parse_percent(typed)?;
            within(share <= 1.0, share, || "at most 100%".into())
        });
        share.unwrap_or_default()
    }

    /// A whole number in a range.
    pub fn count(&mut self, key: &DefinitionKey, range: RangeInclusive<u64>) -> u64 {
        let (low, high) = (*range.start(), *range.end());
        let count = self.value(key, |typed| {
            let count = typed.parse().ok().filter(|it| range.contains(it));
            let wanted = || RefusedValue::Wanted(format!("a whole number from {low} to {high}"));
            count.ok_or_else(wanted)
        });
        count.unwrap_or(low)
    }

    /// A number above zero, in a range.
    pub fn number(&mut self, key: &DefinitionKey, range: RangeInclusive<f64>) -> f64 {
        let (low, high) = (*range.start(), *range.end());
        let number = self.value(key, |typed| match typed.parse::<f64>() {
            Ok(number) if range.contains(&number) => Ok(number),
            Ok(number) if number <= 0.0 => Err(RefusedValue::Wanted("a number above zero".into())),
            _ => Err(RefusedValue::Wanted(format!(
                "a number from {low} to {high}"
            ))),
        });
        number.unwrap_or(low)
    }

    /// One of some words.
    pub fn word<T: Copy>(&mut self, key: &DefinitionKey, words: &[(&str, T)]) -> T {
        let meant = self.value(key, |typed| {
            let meant = words.iter().find(|(word, _)| *word == typed);
            let all = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>();
            let wanted = || RefusedValue::Wanted(format!("one of {}", all().join(", ")));
            meant.ok_or_else(wanted)
        });
        meant.unwrap_or(&words[0]).1
    }

    /// Any text.
    pub fn text(&mut self, key: &DefinitionKey) -> Option<String> {
        self.find(key).map(|found| found.typed)
    }

    /// A text for another parser.
    pub fn read<T>(&mut self, key: &DefinitionKey, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.find(key)?;
        let value = read(&found.typed);
        if value.is_none() {
            self.refuse(key, &found, key.meaning);
        }
        value
    }

    /// Pairs of numbers, such as `[[1, 1.01], [10, 2.2]]`; none if the key is absent.
    pub fn pairs(&mut self, key: &DefinitionKey) -> Option<Vec<(u32, f64)>> {
        self.taken.push(key.name);
        let (name, value) = self.table?.get_key_value(key.name)?;
        let (list, source) = sourced(value.get_ref());
        let place = self.place(&name.span());
        let pairs = pairs_of(list);
        let typed = pairs.as_ref().map_or("[...]".into(), |pairs| {
            let texts: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}: {b}")).collect();
            texts.join(", ")
        });
        let found = FoundValue { typed, place };
        self.keep(key, &found.typed, &found.place, source);
        if pairs.is_none() {
            self.refuse(key, &found, key.meaning);
        }
        pairs
    }

    /// Note that two values do not go together, where both are right for themselves.
    pub fn disagree(&mut self, key: &DefinitionKey, other: &DefinitionKey, why: impl Into<String>) {
        if [key, other].iter().any(|it| self.wrong.contains(&it.name)) {
            return;
        }
        let of = |name| self.seen.get(name).cloned().unwrap_or_default();
        let ((value, place), (other_value, other_place)) = (of(key.name), of(other.name));
        let message = format!(
            "{} = {} does not go with {} = {} ({other_place}): {}",
            key.name,
            shortened(&value),
            other.name,
            shortened(&other_value),
            why.into()
        );
        self.context.note(place, message);
    }

    /// Reports all unknown keys.
    pub fn finish(self, tables: &[&str]) {
        let Some(table) = self.table else {
            return;
        };
        let mut known: Vec<&str> = self.taken.iter().chain(tables).copied().collect();
        known.sort_unstable();
        known.dedup();
        for (name, _) in table {
            let typed: &str = name.get_ref();
            if known.contains(&typed) {
                continue;
            }
            let place = place_in(self.file, self.text, &name.span());
            self.context
                .note(place, unknown_key(typed, &self.part, &known));
        }
    }
}

/// Why a value is refused.
enum RefusedValue {
    /// The key is something else.
    Wanted(String),
    Unit(UnitError),
}

impl From<UnitError> for RefusedValue {
    fn from(error: UnitError) -> Self {
        Self::Unit(error)
    }
}

fn within<T>(
    is_within: bool,
    value: T,
    wanted: impl FnOnce() -> String,
) -> Result<T, RefusedValue> {
    match is_within {
        true => Ok(value),
        false => Err(RefusedValue::Wanted(wanted())),
    }
}

/// A value and its source, written `[value, "source"]`.
fn sourced<'v, 't>(value: &'v DeValue<'t>) -> (&'v DeValue<'t>, String) {
    if let DeValue::Array(parts) = value
        && let [value, source] = &parts[..]
        && let DeValue::String(source) = source.get_ref()
    {
        return (value.get_ref(), source.to_string());
    }
    (value, "not stated".into())
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

fn pairs_of(value: &DeValue<'_>) -> Option<Vec<(u32, f64)>> {
    let DeValue::Array(pairs) = value else {
        return None;
    };
    let pair = |pair: &DeValue<'_>| {
        let DeValue::Array(numbers) = pair else {
            return None;
        };
        let [first, second] = &numbers[..] else {
            return None;
        };
        let first = plain(first.get_ref())?.parse().ok()?;
        let second: f64 = plain(second.get_ref())?.parse().ok()?;
        (second.is_finite() && second >= 0.0).then_some((first, second))
    };
    let pairs: Option<Vec<_>> = pairs.iter().map(|item| pair(item.get_ref())).collect();
    pairs.filter(|pairs| !pairs.is_empty())
}
