//! Errors in typed quantities, with messages that show the right form.

use std::fmt;

use thiserror::Error;

/// The expected kind of quantity.
///
/// Its `Display` names the accepted units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A number of bytes.
    Size,
    /// A span of time.
    Duration,
    /// A number of operations per second.
    Rate,
    /// A share of a whole.
    Percent,
}

impl Quantity {
    fn noun(self) -> &'static str {
        match self {
            Self::Size => "a size",
            Self::Duration => "a time",
            Self::Rate => "a rate",
            Self::Percent => "a percentage",
        }
    }

    fn limit(self) -> &'static str {
        match self {
            Self::Size => "The largest size is 18446744073709551615 bytes, just under 16384 PiB",
            Self::Duration => "The longest time is 18446744073709551615 ns, about 213503 d",
            Self::Rate => "The highest rate is 1000000000000000000/s",
            Self::Percent => "The largest percentage is 1000000000000000000%",
        }
    }

    fn bare_number_advice(self, typed: &str) -> String {
        match self {
            Self::Percent => match typed.parse::<f64>() {
                Ok(share) if share > 0.0 && share < 1.0 => {
                    let percent = (share * 1e6).round() / 1e4;
                    format!("a percentage needs the sign. Use {percent}% or {typed}%")
                }
                _ => format!("a percentage needs the sign. Use {typed}%"),
            },
            Self::Duration => format!("a time needs a unit. Use {typed}s, {typed}ms or {typed}us"),
            Self::Size | Self::Rate => format!("{typed:?} needs a unit. {self}"),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => {
                "Sizes take B, k, m, g, t, p or KiB to PiB (1024-based), or kB to PB (1000-based)"
            }
            Self::Duration => {
                "Times take ns, us, ms, s, min, h, d, alone or from large to small as in 1m30s"
            }
            Self::Rate => {
                "Rates take k, m or g (1000-based) and iops, /s, /min or /h, as in 1000, 10k/s or \
                 50k iops"
            }
            Self::Percent => "Percentages take the sign, as in 3% or 0.5 %",
        })
    }
}

/// Why a text is not the requested quantity.
///
/// `typed` is the text as typed by the user, cut to a printable length.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// Only white space.
    #[error("{} is missing. {quantity}", quantity.noun())]
    Empty {
        /// The expected quantity.
        quantity: Quantity,
    },
    /// The text, or a part of it, does not start with a plain decimal number.
    #[error(
        "{typed:?} is not {} ({reason}). Numbers look like 4, 1.5, 1_000_000 or 1,000,000. \
         {quantity}",
        quantity.noun()
    )]
    NotANumber {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
        /// The invalid part.
        reason: &'static str,
    },
    /// The number is negative.
    #[error("{} cannot be negative ({typed:?}). {quantity}", quantity.noun())]
    Negative {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
    },
    /// The number has an exponent.
    #[error("exponents are not read ({typed:?}). Write it out as in 1_000_000_000. {quantity}")]
    Exponent {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
    },
    /// The number is followed by an unknown unit.
    #[error("unknown unit {unit:?} in {typed:?}. {quantity}")]
    UnknownUnit {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
        /// The part that should be a unit.
        unit: String,
    },
    /// A number without a unit is ambiguous.
    #[error("{}", quantity.bare_number_advice(typed))]
    MissingUnit {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
    },
    /// A compound such as `30s 1m` or `1s 1s`.
    #[error("the units must go from large to small, each once ({typed:?}). {quantity}")]
    UnitOrder {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
    },
    /// The value is too large.
    #[error("{typed:?} is too large. {}", quantity.limit())]
    TooLarge {
        /// The text as typed.
        typed: String,
        /// The expected quantity.
        quantity: Quantity,
    },
}

/// The text being parsed, which every error quotes.
#[derive(Clone, Copy)]
pub(crate) struct Typed<'a> {
    text: &'a str,
    quantity: Quantity,
}

impl<'a> Typed<'a> {
    /// The trimmed text, with the context for errors.
    pub(crate) fn trimmed(text: &'a str, quantity: Quantity) -> Result<(Self, &'a str), UnitError> {
        let typed = Self { text, quantity };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(UnitError::Empty { quantity });
        }
        Ok((typed, trimmed))
    }

    // A message must stay one readable line even if a whole file was pasted.
    fn quote(self) -> String {
        const CHARS_MAX: usize = 60;
        let trimmed = self.text.trim();
        if trimmed.chars().count() <= CHARS_MAX {
            return trimmed.to_owned();
        }
        trimmed
            .chars()
            .take(CHARS_MAX)
            .chain("...".chars())
            .collect()
    }

    pub(crate) fn not_a_number(self, reason: &'static str) -> UnitError {
        UnitError::NotANumber {
            typed: self.quote(),
            quantity: self.quantity,
            reason,
        }
    }

    pub(crate) fn negative(self) -> UnitError {
        UnitError::Negative {
            typed: self.quote(),
            quantity: self.quantity,
        }
    }

    pub(crate) fn exponent(self) -> UnitError {
        UnitError::Exponent {
            typed: self.quote(),
            quantity: self.quantity,
        }
    }

    pub(crate) fn unknown_unit(self, unit: &str) -> UnitError {
        let unit = unit.trim().chars().take(20).collect();
        UnitError::UnknownUnit {
            typed: self.quote(),
            quantity: self.quantity,
            unit,
        }
    }

    pub(crate) fn missing_unit(self) -> UnitError {
        UnitError::MissingUnit {
            typed: self.quote(),
            quantity: self.quantity,
        }
    }

    pub(crate) fn unit_order(self) -> UnitError {
        UnitError::UnitOrder {
            typed: self.quote(),
            quantity: self.quantity,
        }
    }

    pub(crate) fn too_large(self) -> UnitError {
        UnitError::TooLarge {
            typed: self.quote(),
            quantity: self.quantity,
        }
    }
}
