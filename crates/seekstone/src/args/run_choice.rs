//! Which archived run is meant.

use std::fmt;
use std::str::FromStr;

/// A run of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChoice {
    /// The one of that number.
    Number(i64),
    /// The one that was archived last.
    Latest,
}

impl FromStr for RunChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "latest" => Ok(Self::Latest),
            Ok(number) if number > 0 => Ok(Self::Number(number)),
            _ => Err("use a run number from `seekstone runs list`, or `latest`".into()),
        }
    }
}

impl fmt::Display for RunChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Latest => f.write_str("latest"),
        }
    }
}
