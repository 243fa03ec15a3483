//! Kinds of targets, by their names.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Prefix of models.
const MODEL_PREFIX: &str = "sim:";
/// Prefix of buckets of an object store.
const BUCKET_PREFIX: &str = "s3:";
/// Name of the null target.
const NULL: &str = "null:";

/// The name of a target as typed. Only this module interprets it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetName {
    /// A model in virtual time with its options, as in `sim:nvme?size=1GiB`.
    Model(String),
    /// `null:`, where everything completes at once.
    Null,
    /// A bucket of an object store, as in `s3:https://HOST/BUCKET`.
    Bucket(String),
    /// A directory, a file or a device.
    Path(String),
}

impl TargetName {
    /// The target of a model by its listed name.
    pub fn of_model(listed: &str) -> Self {
        Self::Model(format!("{MODEL_PREFIX}{listed}"))
    }

    /// As it was typed.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Model(text) | Self::Bucket(text) | Self::Path(text) => text,
            Self::Null => NULL,
        }
    }

    /// Full name of a model; `None` otherwise.
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Model(text) => Some(text),
            Self::Null | Self::Bucket(_) | Self::Path(_) => None,
        }
    }

    /// Full name of a bucket; `None` otherwise.
    pub fn bucket(&self) -> Option<&str> {
        match self {
            Self::Bucket(text) => Some(text),
            Self::Null | Self::Model(_) | Self::Path(_) => None,
        }
    }

    /// Path in the file system; `None` for a model, a bucket and `null:`.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(text) => Some(Path::new(text)),
            Self::Null | Self::Model(_) | Self::Bucket(_) => None,
        }
    }

    pub const fn is_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }

    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub const fn is_path(&self) -> bool {
        matches!(self, Self::Path(_))
    }
}

/// The listed name of a model, which may be given as that of a target.
pub fn listed_name(model: &str) -> &str {
    model.strip_prefix(MODEL_PREFIX).unwrap_or(model)
}

impl From<String> for TargetName {
    fn from(text: String) -> Self {
        if text.starts_with(MODEL_PREFIX) {
            Self::Model(text)
        } else if text.starts_with(BUCKET_PREFIX) {
            Self::Bucket(text)
        } else if text == NULL {
            Self::Null
        } else {
            Self::Path(text)
        }
    }
}

impl From<&str> for TargetName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl FromStr for TargetName {
    type Err = UnnamedTarget;

    /// # Errors
    /// If it is empty, such as an empty variable of a script.
    fn from_str(text: &str) -> Result<Self, UnnamedTarget> {
        match text {
            "" => Err(UnnamedTarget),
            text => Ok(text.into()),
        }
    }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// As the path under which the system would look for it, whatever its kind.
impl AsRef<OsStr> for TargetName {
    fn as_ref(&self) -> &OsStr {
        self.as_str().as_ref()
    }
}

/// The name of a target is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("name a directory (`.` is this one), a file, a device or sim:NAME")]
pub struct UnnamedTarget;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_the_target_is_and_is_shown_as_typed() {
        let check = |typed: &str, [is_model, is_null, is_path]: [bool; 3]| {
            let target: TargetName = typed.parse().expect("a name");
            let found = [target.is_model(), target.is_null(), target.is_path()];
            assert_eq!(found, [is_model, is_null, is_path], "{typed}");
            assert_eq!(target.to_string(), typed);
            assert_eq!(target.model().is_some(), is_model, "{typed}");
            assert_eq!(target.path().is_some(), is_path, "{typed}");
        };
        check("sim:nvme?size=1GiB", [true, false, false]);
        check("sim:", [true, false, false]);
        check("null:", [false, true, false]);
        check("s3:https://host/bucket", [false, false, false]);
        for path in [
            ".",
            "/dev/nvme0n1",
            "./sim:x",
            "null:x",
            "Sim:nvme",
            "nvme",
            "./s3:x",
        ] {
            check(path, [false, false, true]);
        }
    }

    #[test]
    fn an_empty_name_is_refused_with_what_could_be_named() {
        let refused = "".parse::<TargetName>().map_err(|it| it.to_string());
        assert!(refused.is_err_and(|it| it.contains("name a directory")));
    }

    #[test]
    fn a_model_is_listed_without_its_prefix() {
        assert_eq!(listed_name("sim:nvme?size=1GiB"), "nvme?size=1GiB");
        assert_eq!(listed_name("nvme"), "nvme");
        assert_eq!(TargetName::of_model("nvme"), "sim:nvme".into());
    }
}
