//! What every measuring command does with its run: print it, archive it, write it as JSON.

use anyhow::Context as _;
use archive::Archive;
use results::{Run, Status};

use crate::args::Common;
use crate::exit::Exit;
use crate::output;

/// Deliver a run; `text` is what the command prints of it.
///
/// # Errors
/// When the run cannot be printed, archived or written. Printing comes first, so that a full disk
/// costs nobody the numbers.
pub fn deliver(
    run: &mut Run,
    archive: Option<Archive>,
    common: &Common,
    text: impl Fn(&Run) -> String,
) -> anyhow::Result<Exit> {
    let json_takes_stdout = common
        .json
        .as_deref()
        .is_some_and(|path| path.as_os_str() == "-");
    if !json_takes_stdout {
        output::print(text(run).trim_end())?;
    }
    if let Some(mut archive) = archive {
        let id = archive.save(run).context("the run could not be archived")?;
        if !json_takes_stdout {
            output::print(&format!("\nSaved as run {id}: seekstone runs show {id}"))?;
        }
    }
    if let Some(path) = &common.json {
        output::write_file(path, &report::json(run))?;
    }
    if let Status::Partial { reason } = &run.status {
        output::complain(&format!(
            "error: {reason}; what was measured before is above"
        ));
    }
    Ok(Exit::of_run(run))
}
