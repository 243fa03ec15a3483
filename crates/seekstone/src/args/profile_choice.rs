//! Names of the profiles of goals.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use procedure::{PROFILES, ProgramProfile};

/// A set of goals.
#[derive(Clone, Copy, Debug)]
pub struct ProfileChoice(pub ProgramProfile);

/// Reads the name of a profile.
pub fn profile_names() -> impl TypedValueParser<Value = ProfileChoice> {
    PossibleValuesParser::new(PROFILES.map(|it| it.name)).try_map(|name| {
        let found = PROFILES.into_iter().find(|it| it.name == name);
        found.map(ProfileChoice).ok_or("unknown profile")
    })
}
