//! What a target is, by its name.

use std::path::Path;

use sim::SIM_PREFIX;

/// What a target is: asked once, where it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium<'a> {
    /// A model in virtual time, by its name.
    Model(&'a str),
    /// What the system knows by a path.
    Real(&'a Path),
}

impl<'a> Medium<'a> {
    /// What a target of that name is.
    #[must_use]
    pub fn of(target: &'a str) -> Self {
        if target.starts_with(SIM_PREFIX) {
            return Self::Model(target);
        }
        Self::Real(Path::new(target))
    }
}
