//! What every measuring command does with its run: print it, archive it, write it in the forms
//! that were asked for.

use anyhow::Context as _;
use archive::Archive;
use host::interrupt::Wait;
use results::{Run, Status, Warning, WarningCode};
use units::capitalised;

use crate::args::Common;
use crate::commands::runs::show;
use crate::commands::setup::show_command;
use crate::exit::Exit;
use crate::output;

/// The warning of a run that could not remove what it made.
const LEFT_BEHIND: WarningCode = WarningCode::LeftBehind;

/// Shows a run; told whether standard output is free, or takes a form that was asked for.
type ShowRun<'a> = Box<dyn FnOnce(&Run, bool) -> anyhow::Result<()> + 'a>;
/// What is left to do with a run.
type AfterRun<'a> = Box<dyn FnOnce(&Run) -> anyhow::Result<()> + 'a>;

/// What a command does with its run, besides what all do.
pub struct Delivery<'a> {
    pub show: ShowRun<'a>,
    /// Whether a program reads what is shown: then nothing else goes to standard output.
    pub is_for_programs: bool,
    /// Once the run is archived, or is not to be.
    pub after: AfterRun<'a>,
    /// How the program ends that has such a run.
    pub exit: fn(&Run) -> Exit,
}

impl<'a> Delivery<'a> {
    /// The report is printed, in full if `all`, and nothing is left to do.
    pub fn report(all: bool) -> Self {
        Self {
            show: Box::new(move |run, is_free| match is_free {
                true => output::print(show(run, all).trim_end()).map(drop),
                false => Ok(()),
            }),
            is_for_programs: false,
            after: Box::new(|_| Ok(())),
            exit: Exit::of_run,
        }
    }

    /// With something left to do.
    pub fn and_after(self, after: impl FnOnce(&Run) -> anyhow::Result<()> + 'a) -> Self {
        Self {
            after: Box::new(after),
            ..self
        }
    }
}

/// Deliver a run.
///
/// # Errors
/// When the run cannot be printed, archived or written. Printing comes first, so that a full disk
/// costs nobody the numbers; and what fails does not keep the rest from being done.
pub fn deliver(
    run: &mut Run,
    archive: Option<Archive>,
    common: &Common,
    delivery: Delivery<'_>,
) -> anyhow::Result<Exit> {
    let is_free = !common.outputs.have_stdout();
    // Nothing looks at the flag of signals any more.
    Wait::begin().to_the_end();
    let Delivery {
        show,
        is_for_programs,
        after,
        exit,
    } = delivery;
    let shown = show(run, is_free);
    let saved = save(run, archive).and_then(|saved_as| match (saved_as, is_for_programs) {
        (Some(saved_as), true) if !common.quiet => {
            output::complain(&saved_as);
            Ok(())
        }
        (Some(saved_as), false) if is_free => output::print(&format!("\n{saved_as}")).map(drop),
        _ => Ok(()),
    });
    let run: &Run = run;
    let mut written = Ok(());
    for (form, output) in common.outputs.asked() {
        written = written.and(form.write(run).and_then(|content| output.write(&content)));
    }
    complain_of(run);
    let after = after(run);
    shown.and(saved).and(written).and(after)?;
    Ok(exit(run))
}

/// Archive the run, and tell how it is shown.
fn save(run: &mut Run, archive: Option<Archive>) -> anyhow::Result<Option<String>> {
    let Some(mut archive) = archive else {
        return Ok(None);
    };
    let id = archive.save(run).context("the run could not be archived")?;
    let show = show_command(id, archive.path(), "");
    Ok(Some(format!("Saved as run {id}: {show}")))
}

/// Why the run is a partial one, and what of ours is still there.
fn complain_of(run: &Run) {
    let left = run
        .warnings
        .iter()
        .find(|warning| warning.code == LEFT_BEHIND)
        .map(Warning::text);
    match (&run.status, left) {
        (Status::Partial { reason }, left) => output::complain(&format!(
            "error: {reason}. What was measured before is above{}",
            left.map_or_else(String::new, |left| format!(". {}", capitalised(&left)))
        )),
        (Status::Complete, None) => {}
        (Status::Complete, Some(left)) => output::complain(&format!("warning: {left}")),
    }
}
