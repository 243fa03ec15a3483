//! Storage that does not answer: what is said of it, and how it is left.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use drivers::{TargetError, TargetTable};
use procedure::TrialError;
use results::{Warning, WarningCode};
use units::format_counted;

use super::{StorageLaboratory, TargetLocation};
use crate::workers::GivenUp;

/// How long closing and removing files may take on storage that did not answer before.
const CLEAN_UP_MAX: Duration = Duration::from_secs(2);
/// Targets that are named.
const TARGETS_MAX: usize = 3;

impl StorageLaboratory {
    /// Keep what was given up, for the report; it fails a trial that nobody has stopped.
    pub(super) fn note_hang(
        &mut self,
        title: &str,
        given_up: Option<&GivenUp>,
    ) -> Option<TrialError> {
        let given_up = given_up?;
        let unanswered = given_up.unanswered;
        let operations = format_counted(unanswered.operations, "operation");
        let hung: Vec<String> = given_up.threads.iter().map(ToString::to_string).collect();
        let hung = match hung.is_empty() {
            true => "the requests are in io_uring, and no thread waits for them".to_owned(),
            false => hung.join("; "),
        };
        let warning = Warning::warn(
            WarningCode::Hung,
            format!(
                "{title}: {operations} on {} given up, without an answer for {} ({hung}). The \
                 longest latency counts how long they waited, and no mean does.",
                self.names(),
                unanswered.span
            ),
        );
        self.hung = Some(warning.advise("Look at the kernel's log for errors of the device."));
        (!unanswered.is_stopping).then_some(TrialError::Hung {
            operations,
            span: unanswered.span,
            limit: self.settings.hang_limit,
        })
    }

    /// The targets, and the device of the first.
    fn names(&self) -> String {
        let targets = self.table.targets().iter();
        let mut paths: Vec<String> = targets.map(|it| it.path().display().to_string()).collect();
        paths.dedup();
        if paths.len() > TARGETS_MAX {
            paths.truncate(TARGETS_MAX);
            paths.push("...".into());
        }
        let device = self.settings.device.iter();
        let device: String = device.map(|name| format!(" (device {name})")).collect();
        format!("{}{device}", paths.join(", "))
    }
}

/// Close the targets and remove what was made, if the storage lets us in time: else a thread is
/// left with it.
pub(super) fn clean_up_in_time(
    place: TargetLocation,
    table: Arc<TargetTable>,
) -> Result<(), TargetError> {
    let paths = place.directories().iter();
    let paths: Vec<_> = paths.map(|it| it.path().to_owned()).collect();
    let (sender, receiver) = channel();
    let hung = |error| {
        let path = paths.first().cloned().unwrap_or_default();
        TargetError::io("remove", &path, error)
    };
    Builder::new()
        .name("clean-up".into())
        .spawn(move || {
            let _ = sender.send(place.clean_up(table));
        })
        .map_err(hung)?;
    match receiver.recv_timeout(CLEAN_UP_MAX) {
        Ok(cleaned) => cleaned,
        // Nothing of ours is left where there is no directory.
        Err(_) if paths.is_empty() => Ok(()),
        Err(_) => Err(hung(std::io::Error::other("the storage does not answer"))),
    }
}
