//! Which targets a kind measures, and what it does with them. One place refuses the others.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use drivers::{AccessMode, Caching, Target, TargetOptions};
use engine::OnError;
use results::{Warning, WarningCode};
use units::{Bytes, TargetName};

use super::form::ValueForm;
use super::kind::settings;
use super::place::{MeasureError, ReplicateContext, Result};
use super::settings::Settings;

/// What a kind does with each sort of target.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    pub directory: TargetUse,
    /// A file or a block device that the user names.
    pub named: TargetUse,
    pub model: TargetUse,
    /// Whether several hosts measure together, each in a place of its own.
    pub on_hosts: bool,
    /// A bucket of an object store.
    pub bucket: TargetUse,
}

/// Why most kinds measure no bucket.
pub(super) const NO_BUCKET: &str = "does not measure object stores, which `objects` does";

/// What a kind does with a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetUse {
    /// It makes files of its own there, and removes them; a model stands for them.
    OwnFiles,
    /// It reads what is there.
    Read,
    /// It writes over what is there, once that is permitted.
    Overwritten,
    /// The one or the other, as its settings say.
    ReadOrOverwritten,
    /// It measures something else: this.
    Elsewhere(&'static str),
    /// It cannot be measured, for this reason.
    Refused(&'static str),
}

/// What may be done to a file or device that the user named.
#[derive(Clone, Debug, Default)]
pub struct WritePermission {
    /// Whether what is there may be lost.
    pub overwrite: bool,
    /// The name of the device whose known content may be lost, as typed by the user.
    pub confirmed: Option<String>,
    /// What was opened to be written over, from the first replicate to the last: nobody mounts it
    /// between them, and what an earlier one wrote needs no consent.
    pub held: Arc<OnceLock<Target>>,
}

settings! {
    /// what to do when an operation fails: stop, or count it and go on
    pub(super) const ERRORS = ValueForm::Words(&["stop", "count"]).or("stop");
}

/// What the setting [`ERRORS`] asks for.
pub(super) fn on_error(settings: &Settings<'_>) -> OnError {
    let choices = [("stop", OnError::Stop), ("count", OnError::Count)];
    settings.choice("errors", &choices)
}

impl Targets {
    /// Files of its own in a directory, a model, and what the user names.
    pub const fn and(named: TargetUse) -> Self {
        Self {
            directory: TargetUse::OwnFiles,
            named,
            model: TargetUse::OwnFiles,
            on_hosts: false,
            bucket: TargetUse::Refused(NO_BUCKET),
        }
    }

    /// The same, which several hosts measure together.
    #[must_use]
    pub const fn on_hosts(self) -> Self {
        Self {
            on_hosts: true,
            ..self
        }
    }

    /// Where only directories hold what is measured.
    pub const fn directories(named: &'static str, model: &'static str) -> Self {
        Self {
            directory: TargetUse::OwnFiles,
            named: TargetUse::Refused(named),
            model: TargetUse::Refused(model),
            on_hosts: false,
            bucket: TargetUse::Refused(NO_BUCKET),
        }
    }

    /// Where an object store alone is measured.
    pub const fn buckets(why: &'static str) -> Self {
        Self {
            directory: TargetUse::Refused(why),
            named: TargetUse::Refused(why),
            model: TargetUse::Refused(why),
            bucket: TargetUse::OwnFiles,
            on_hosts: false,
        }
    }

    /// Whether something is measured that the user permits to be written over.
    pub const fn are_overwritten(&self) -> bool {
        matches!(
            self.named,
            TargetUse::Overwritten | TargetUse::ReadOrOverwritten
        )
    }

    /// What is measured, in words.
    pub fn in_words(&self) -> String {
        let named = match self.named {
            TargetUse::Overwritten => "a file or device (with --overwrite)",
            TargetUse::ReadOrOverwritten => "a file or device (written with --overwrite)",
            _ => "a file or device",
        };
        let all = [
            (self.directory, "a directory"),
            (self.named, named),
            (self.model, "`sim:NAME`"),
            (self.bucket, "`s3:https://HOST/BUCKET`"),
        ];
        let taken = all.into_iter().filter(|(it, _)| it.is_measured());
        let mut words: Vec<&str> = taken.map(|(_, words)| words).collect();
        let last = words.pop().unwrap_or("nothing");
        match words.as_slice() {
            [] => last.into(),
            [first] => format!("{first} or {last}"),
            others => format!("{}, or {last}", others.join(", ")),
        }
    }

    /// Refuse a target that a kind does not measure, and a permission that it has no use for.
    ///
    /// # Errors
    /// In one sentence, which says what it measures; or nothing is there.
    pub(super) fn check(
        &self,
        kind: &str,
        target: &TargetName,
        permission: &WritePermission,
    ) -> Result<()> {
        let sort = TargetSort::of(target)?;
        let found = match sort {
            TargetSort::Directory => self.directory,
            TargetSort::Named => self.named,
            TargetSort::Model => self.model,
            TargetSort::Bucket => self.bucket,
        };
        let wrong = match found {
            TargetUse::Refused(why) => format!("{kind} {why}. Name {}", self.in_words()),
            _ if permission.overwrite && sort != TargetSort::Named => {
                "--overwrite applies to an existing file or device. Leave it out".into()
            }
            _ => return Ok(()),
        };
        Err(MeasureError::Usage(format!("{target}: {wrong}")))
    }
}

/// What a target is, as far as kinds of measurements differ in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetSort {
    Directory,
    Named,
    Model,
    Bucket,
}

impl TargetSort {
    fn of(target: &TargetName) -> Result<Self> {
        if target.is_model() {
            return Ok(Self::Model);
        }
        if target.bucket().is_some() {
            return Ok(Self::Bucket);
        }
        let path = Path::new(target);
        let found = path.metadata().map_err(MeasureError::io("look at", path))?;
        Ok(match found.is_dir() {
            true => Self::Directory,
            false => Self::Named,
        })
    }
}

impl TargetUse {
    const fn is_measured(self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// Uses of a file that is written over which could not be looked at.
pub(super) fn unseen_uses(target: &Target) -> Vec<Warning> {
    let path = target.path().display();
    let text = |what| format!("{path} may be in use: {what}.");
    let unseen = target.unseen().iter();
    unseen
        .map(|what| Warning::warn(WarningCode::Access, text(what)))
        .collect()
}

impl ReplicateContext {
    /// Whether the target is a file or device that the user named, and no directory.
    pub fn is_named(&self) -> bool {
        TargetSort::of(&self.target).is_ok_and(|it| it == TargetSort::Named)
    }

    /// Refuse to write to a file or device where that is not permitted.
    ///
    /// # Errors
    /// When it is not.
    pub fn refuse_unpermitted(&self, kind: &str) -> Result<()> {
        if self.permission.overwrite {
            return Ok(());
        }
        Err(MeasureError::Usage(format!(
            "{}: {kind} would overwrite what is there. Only `seekstone {kind}` does, with \
             --overwrite, and all data on it may be lost",
            self.target
        )))
    }

    /// Open the file or device that the user named, of which `len` bytes are used.
    ///
    /// # Errors
    /// When it is too small, must not be used that way, or the system refuses.
    pub fn open_named(
        &self,
        kind: &str,
        (access, caching): (AccessMode, Caching),
        len: Bytes,
    ) -> Result<Target> {
        if access == AccessMode::Overwrite {
            self.refuse_unpermitted(kind)?;
        }
        let options = TargetOptions {
            access,
            caching,
            signature_confirmed: self.permission.confirmed.clone(),
        };
        let path = Path::new(&self.target);
        let target = match (access, self.permission.held.get()) {
            (AccessMode::ReadOnly, _) => Target::open(path, &options)?,
            (AccessMode::Overwrite, Some(held)) => held.open_again(caching)?,
            (AccessMode::Overwrite, None) => {
                let target = Target::open(path, &options)?;
                let again = target.open_again(caching)?;
                // Replicates come one after the other.
                let _ = self.permission.held.set(target);
                again
            }
        };
        if target.size() >= len.0 {
            return Ok(target);
        }
        Err(MeasureError::Usage(format!(
            "{} holds {}, and {kind} uses {len} of it: set a smaller size",
            self.target,
            Bytes(target.size())
        )))
    }
}
