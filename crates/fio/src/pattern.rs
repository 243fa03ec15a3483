//! Directions and address order of a job.

use crate::number::{KbBase, size};
use crate::zones::{self, ZoneShares};

/// A direction of transfer, as index of triplets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Discards.
    Trim,
}

/// Directions of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    Read,
    /// Writes.
    Write,
    /// Both, mixed by `rwmixread`.
    Mixed,
    Trim,
    /// Each write is preceded by a trim of its range.
    TrimWrite,
}

impl Directions {
    /// Whether anything is written.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Mixed | Self::TrimWrite)
    }

    /// Whether anything is trimmed.
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::TrimWrite)
    }

    /// Whether anything is read.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Mixed)
    }
}

/// fio's `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RwPattern {
    pub directions: Directions,
    /// Whether addresses are random rather than sequential.
    pub is_random: bool,
    /// After the colon: the gap in bytes after each sequential request, backwards if negative, or
    /// the number of sequential requests after each random address.
    pub modifier: Option<i64>,
}

impl RwPattern {
    /// fio's default.
    pub(crate) const READ: Self = Self {
        directions: Directions::Read,
        is_random: false,
        modifier: None,
    };

    /// Parses `rw=`.
    pub(crate) fn parse(text: &str, base: KbBase) -> Result<Self, String> {
        let (word, modifier) = match text.split_once(':') {
            Some((word, modifier)) => (word, Some(modifier)),
            None => (text, None),
        };
        let (directions, is_random) = match word {
            "read" => (Directions::Read, false),
            "write" => (Directions::Write, false),
            "rw" | "readwrite" => (Directions::Mixed, false),
            "randread" => (Directions::Read, true),
            "randwrite" => (Directions::Write, true),
            "randrw" => (Directions::Mixed, true),
            "trim" => (Directions::Trim, false),
            "randtrim" => (Directions::Trim, true),
            "trimwrite" => (Directions::TrimWrite, false),
            "randtrimwrite" => (Directions::TrimWrite, true),
            _ => {
                return Err(format!(
                    "{word:?} is none of read, write, rw, readwrite, trim, trimwrite, or one of \
                     these with rand in front"
                ));
            }
        };
        let modifier = modifier.map(|text| {
            let (sign, text) = match text.strip_prefix('-') {
                Some(text) => (-1, text),
                None => (1, text),
            };
            let value = size(text, base)?;
            let value = i64::try_from(value).map_err(|_| format!("{text} is too large"))?;
            Ok::<_, String>(sign * value)
        });
        let modifier = modifier.transpose()?.filter(|value| *value != 0);
        if is_random && modifier.is_some_and(|value| value < 0) {
            return Err(format!(
                "{text}: the number of requests must not be negative"
            ));
        }
        Ok(Self {
            directions,
            is_random,
            modifier,
        })
    }
}

/// fio's `random_distribution`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Every block is equally likely.
    #[default]
    Uniform,
    /// Popularity falls as this power of rank.
    Zipf(f64),
    /// Pareto's law with this share.
    Pareto(f64),
    /// Normal around the middle, with this standard deviation in percent of the region.
    Normal(f64),
    /// Zones have their shares of the requests.
    Zoned(Box<ZoneShares>),
}

impl Distribution {
    /// Zones, as in `60/10:30/20:10/70`: percentages of the requests and of the file.
    ///
    /// # Errors
    /// A description of the error, in a sentence.
    pub fn zoned(shares: &str) -> Result<Self, String> {
        let zones = zones::parse(shares, None)?;
        Ok(Self::Zoned(Box::new(zones)))
    }

    /// Popularity falls as this power of rank.
    ///
    /// # Errors
    /// If fio would not accept it.
    pub fn zipf(theta: f64) -> Result<Self, String> {
        let is_allowed = (0.001..=100.0).contains(&theta);
        let why = || format!("zipf: {theta} is not between 0.001 and 100");
        is_allowed.then_some(Self::Zipf(theta)).ok_or_else(why)
    }

    /// A share `1 - share` of the requests goes to this share of the blocks.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn pareto(share: f64) -> Result<Self, String> {
        let is_allowed = share > 0.0 && share < 1.0;
        let why = || format!("pareto: {share} is not between 0 and 1");
        is_allowed.then_some(Self::Pareto(share)).ok_or_else(why)
    }

    /// Around the middle, with this standard deviation in percent of the region.
    ///
    /// # Errors
    /// If it is not above 0 and at most 100.
    pub fn normal(percent: f64) -> Result<Self, String> {
        let is_allowed = percent > 0.0 && percent <= 100.0;
        let why = || format!("normal: {percent} is not above 0 and up to 100");
        is_allowed.then_some(Self::Normal(percent)).ok_or_else(why)
    }

    pub(crate) fn parse(text: &str, base: KbBase) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("zoned", shares)) => return Self::zoned(shares),
            Some(("zoned_abs", sizes)) => {
                let zones = zones::parse(sizes, Some(base))?;
                return Ok(Self::Zoned(Box::new(zones)));
            }
            _ => {}
        }
        let mut parts = text.split(':');
        let word = parts.next().unwrap_or_default();
        let number = parts.next();
        if parts.next().is_some() {
            return Err(format!("{text}: a centre is not supported"));
        }
        let value = |default: f64| match number {
            None | Some("") => Ok(default),
            Some(text) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => Err(format!("{text:?} is no number")),
            },
        };
        match word {
            "random" => Ok(Self::Uniform),
            "zipf" => match value(1.1)? {
                1.0 => Err("zipf: fio refuses an exponent of exactly 1. Write 0.99 or 1.01".into()),
                theta => Self::zipf(theta),
            },
            "pareto" => Self::pareto(value(0.2)?),
            "normal" | "gauss" => Self::normal(value(0.0)?),
            "zoned" | "zoned_abs" => {
                Err(format!("{word} needs its zones, as in zoned:60/10:40/90"))
            }
            "sequence" => Err(format!("{word}: this distribution is not supported")),
            _ => Err(format!(
                "{word:?} is none of random, zipf, pareto, normal, zoned, zoned_abs"
            )),
        }
    }
}
