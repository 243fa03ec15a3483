//! The RAID state that results are recorded with.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::environment::RaidActivity;

units::words! {
    /// The mode of operation, as the RPT manual of 1995 names it on its screen.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    #[serde(rename_all = "kebab-case")]
    pub enum Mode {
        /// All members work; the workloads run a fixed number of times.
        #[default]
        Normal = "normal",
        /// As normal, but the workloads run until stopped.
        Continuous = "continuous",
        /// A member is missing.
        Reduced = "reduced",
        /// A member is being repaired.
        Repair = "repair",
        /// Data is being restored to a member.
        Rebuild = "rebuild",
        /// A member is being exchanged for another.
        Exchange = "exchange",
    }
}

impl Mode {
    /// The next mode; the last is followed by the first.
    #[must_use]
    pub fn next(self) -> Self {
        let place = Self::ALL.iter().position(|&mode| mode == self);
        Self::ALL[place.map_or(0, |place| (place + 1) % Self::ALL.len())]
    }

    /// Whether the workloads run until stopped.
    pub const fn is_endless(self) -> bool {
        !matches!(self, Self::Normal)
    }

    /// The mode that matches the system's RAID activity.
    pub const fn of_raid(activity: RaidActivity) -> Self {
        match activity {
            RaidActivity::Normal | RaidActivity::Checking { .. } => Self::Normal,
            RaidActivity::Degraded => Self::Reduced,
            RaidActivity::Rebuilding { .. } => Self::Rebuild,
            RaidActivity::Replacing => Self::Exchange,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| {
                let names: Vec<&str> = Self::ALL.iter().map(|mode| mode.name()).collect();
                format!("{text:?} is not a mode: use one of {}", names.join(", "))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_goes_through_all_modes_and_begins_again() {
        let mut mode = Mode::Normal;
        for expected in Mode::ALL {
            assert_eq!(mode, expected);
            mode = mode.next();
        }
        assert_eq!(mode, Mode::Normal);
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!("Rebuild".parse(), Ok(Mode::Rebuild));
        assert!("broken".parse::<Mode>().is_err());
    }
}
