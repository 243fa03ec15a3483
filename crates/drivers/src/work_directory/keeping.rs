//! Files that a run leaves to its user on purpose.

use std::ffi::OsStr;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::WorkDirectory;
use crate::guard::identity;
use crate::guard::kept::mark_kept;
use crate::guard::removal::move_without_replacing;
use crate::target_error::TargetError;

impl WorkDirectory {
    /// Whether this run created the file `name`, and still has it.
    pub fn has_made(&self, name: &str) -> bool {
        self.state().created.contains_key(name)
    }

    /// Leave the file `name`, which this run created, to the user, as `own` next to this directory,
    /// where nothing has that name. Whether a later run can tell that it is ours.
    ///
    /// # Errors
    /// When it was not created here, something has that name, or the system refuses: it stays here.
    pub fn keep(&self, name: &str, own: &OsStr) -> Result<bool, TargetError> {
        let path = self.path.with_file_name(own);
        let in_context = |error| TargetError::io("create", &path, error);
        let mut state = self.state();
        let Some(made) = state.created.get(name) else {
            return Err(in_context(Errno::NOENT.into()));
        };
        let file = self.open_at(name, OFlags::RDWR);
        let file = file.map_err(|error| in_context(error.into()))?;
        identity::require(&file, made).map_err(in_context)?;
        let is_marked = mark_kept(&file).is_ok();
        move_without_replacing((&self.directory, name), (&self.parent, own))
            .map_err(|error| in_context(error.into()))?;
        state.created.remove(name);
        Ok(is_marked)
    }
}
