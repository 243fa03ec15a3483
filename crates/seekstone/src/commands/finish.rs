//! What every measuring command does with its run: print it, archive it, write it in the forms
//! that were asked for.

use anyhow::Context as _;
use archive::Archive;
use host::interrupt::Wait;
use results::{Run, Status};

use crate::args::Common;
use crate::exit::Exit;
use crate::output;

/// The warning of a run that could not remove what it made.
const LEFT_BEHIND: &str = "left-behind";

/// Deliver a run; `text` is what the command prints of it.
///
/// # Errors
/// When the run cannot be printed, archived or written. Printing comes first, so that a full disk
/// costs nobody the numbers; and what fails does not keep the rest from being done.
pub fn deliver(
    run: &mut Run,
    archive: Option<Archive>,
    common: &Common,
    text: impl Fn(&Run) -> String,
) -> anyhow::Result<Exit> {
    let form_takes_stdout = common.outputs.asked().any(|(_, output)| output.is_stdout());
    // Nothing looks at the flag of signals any more.
    Wait::begin().to_the_end();
    let printed = if form_takes_stdout {
        Ok(Exit::Done)
    } else {
        output::print(text(run).trim_end())
    };
    let saved = save(run, archive).and_then(|id| match id {
        Some(id) if !form_takes_stdout => {
            output::print(&format!("\nSaved as run {id}: seekstone runs show {id}"))
        }
        _ => Ok(Exit::Done),
    });
    let run: &Run = run;
    let mut written = Ok(());
    for ((_, form), output) in common.outputs.asked() {
        written = written.and(output.write(&form(run)));
    }
    complain_of(run);
    printed.and(saved).and(written)?;
    Ok(Exit::of_run(run))
}

fn save(run: &mut Run, archive: Option<Archive>) -> anyhow::Result<Option<i64>> {
    archive
        .map(|mut archive| archive.save(run).context("the run could not be archived"))
        .transpose()
}

/// Why the run is a partial one, and what of ours is still there.
fn complain_of(run: &Run) {
    let left = run
        .warnings
        .iter()
        .find(|warning| warning.code == LEFT_BEHIND)
        .map_or(String::new(), |warning| format!("; {}", warning.text));
    match &run.status {
        Status::Partial { reason } => output::complain(&format!(
            "error: {reason}; what was measured before is above{left}"
        )),
        Status::Complete if left.is_empty() => {}
        Status::Complete => output::complain(&format!("warning{}", left.replacen(';', ":", 1))),
    }
}
