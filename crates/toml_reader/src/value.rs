//! Single values of a file.

use toml::de::{DeTable, DeValue};
use units::shortened;

/// Maximum length of a name or title.
const NAME_CHARS_MAX: usize = 80;

/// Whether a text can be a name or a title: it must fit on one line.
pub fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= NAME_CHARS_MAX
        && !text.contains(char::is_control)
}

/// An integer, if it fits in 64 bits.
pub fn to_integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    let digits: String = integer.as_str().chars().filter(|c| *c != '_').collect();
    i64::from_str_radix(&digits, integer.radix()).ok()
}

/// A value without its place in the file.
pub fn owned(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => to_integer(value).map_or_else(
            || toml::Value::String(number.to_string()),
            toml::Value::Integer,
        ),
        DeValue::Float(number) => {
            let text: String = number.as_str().chars().filter(|c| *c != '_').collect();
            text.parse()
                .map_or_else(|_| toml::Value::String(text), toml::Value::Float)
        }
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(moment) => toml::Value::Datetime(*moment),
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|item| owned(item.get_ref())).collect())
        }
        DeValue::Table(table) => toml::Value::Table(owned_table(table)),
    }
}

/// The same of a table.
pub fn owned_table(table: &DeTable<'_>) -> toml::Table {
    let pairs = table.iter();
    pairs
        .map(|(name, value)| (name.get_ref().to_string(), owned(value.get_ref())))
        .collect()
}

/// A value for a message: short, on one line.
pub fn typed(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(_) => "[...]".into(),
        DeValue::Table(_) => "{...}".into(),
        value => shortened(&owned(value).to_string()),
    }
}
