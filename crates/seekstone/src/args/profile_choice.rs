//! Names of the profiles of applications.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use procedure::{ApplicationProfile, profile_names, profile_text, read_profile};

/// An application whose needs are measured.
#[derive(Clone, Debug)]
pub struct ProfileChoice(pub ApplicationProfile);

/// Reads the name of a profile.
pub fn profile_choices() -> impl TypedValueParser<Value = ProfileChoice> {
    PossibleValuesParser::new(profile_names()).try_map(|name| {
        let text = profile_text(&name).ok_or("unknown profile")?;
        let read = read_profile(&name, text).map_err(|_| "a profile that cannot be read");
        read.map(ProfileChoice)
    })
}
