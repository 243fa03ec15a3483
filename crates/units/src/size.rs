//! Numbers of bytes: type, parsing and display.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Quantity, Typed, UnitError};
use crate::number::Number;
use crate::print::{fixed, significant};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const PIB: u64 = 1 << 50;

const BINARY: [(u64, &str); 6] = [
    (PIB, "PiB"),
    (TIB, "TiB"),
    (GIB, "GiB"),
    (MIB, "MiB"),
    (KIB, "KiB"),
    (1, "B"),
];

const DECIMAL: [(u64, &str); 6] = [
    (1_000_000_000_000_000, "PB"),
    (1_000_000_000_000, "TB"),
    (1_000_000_000, "GB"),
    (1_000_000, "MB"),
    (1_000, "kB"),
    (1, "B"),
];

/// A number of bytes.
///
/// Typed sizes follow the convention of storage tools: `4k` and `4KiB` are 4096 bytes. Only units
/// that spell out the B without an i, such as `4kB` and `4KB`, are powers of 1000. Case does not
/// matter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);

    /// This many times 1024 bytes.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib.saturating_mul(KIB))
    }

    /// This many times 1024^2 bytes.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib.saturating_mul(MIB))
    }

    /// This many times 1024^3 bytes.
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib.saturating_mul(GIB))
    }

    /// The number of bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// This size less `other`, at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Whether this size is a multiple of `unit`; false if `unit` is zero.
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        unit.0 != 0 && self.0.is_multiple_of(unit.0)
    }

    /// The size in powers of 1000 with three significant digits, such as `2.41 GB`.
    pub fn decimal(self) -> String {
        self.in_units(&DECIMAL, 1_000.0)
    }

    /// The exact size, such as `1536MiB` or `1000B`, for files that are read again.
    pub fn to_exact_string(self) -> String {
        let divides = |unit: &&(u64, &str)| self.0 != 0 && self.0.is_multiple_of(unit.0);
        let (factor, name) = BINARY.iter().find(divides).unwrap_or(&(1, "B"));
        format!("{}{name}", self.0 / factor)
    }

    // A multiple of the unit needs no fraction; anything else gets three significant digits, but
    // never fewer than its whole units: 1,011 KiB stays 1,011 KiB.
    fn in_units(self, units: &[(u64, &str)], base: f64) -> String {
        for (index, &(factor, name)) in units.iter().enumerate() {
            let scaled = self.0 as f64 / factor as f64;
            if scaled < 1.0 && factor > 1 {
                // 1023.9 KiB would be printed as 1,024 KiB: use 1.00 MiB.
                let smaller = self.0 as f64 / units[index + 1].0 as f64;
                if smaller < base - 0.5 {
                    continue;
                }
            }
            if self.0.is_multiple_of(factor) {
                return format!("{} {name}", fixed(scaled, 0));
            }
            let number = if scaled >= 100.0 {
                fixed(scaled, 0)
            } else {
                significant(scaled)
            };
            return format!("{number} {name}");
        }
        unreachable!("the last unit is one byte and takes everything")
    }
}

/// Binary units with three significant digits: `512 B`, `4 KiB`, `1.50 GiB`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.in_units(&BINARY, 1_024.0))
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (typed, text) = Typed::trimmed(text, Quantity::Size)?;
        let (number, unit) = Number::scan(typed, text)?;
        let factor = factor_of(unit).ok_or_else(|| typed.unknown_unit(unit))?;
        number
            .times(factor)
            .map(Self)
            .ok_or_else(|| typed.too_large())
    }
}

fn factor_of(unit: &str) -> Option<u64> {
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 1,
        "k" | "ki" | "kib" => KIB,
        "m" | "mi" | "mib" => MIB,
        "g" | "gi" | "gib" => GIB,
        "t" | "ti" | "tib" => TIB,
        "p" | "pi" | "pib" => PIB,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "pb" => 1_000_000_000_000_000,
        _ => return None,
    })
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Bytes {
    type Output = Self;
    fn div(self, parts: u64) -> Self {
        assert!(parts > 0, "a size was divided by zero");
        Self(self.0 / parts)
    }
}

/// How many times a size fits into another, rounded down.
impl Div for Bytes {
    type Output = u64;
    fn div(self, unit: Self) -> u64 {
        assert!(unit.0 > 0, "a size was divided by a size of zero");
        self.0 / unit.0
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::ZERO, Add::add)
    }
}
