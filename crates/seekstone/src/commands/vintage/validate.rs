//! `seekstone devices validate`: simulated machines beside what was published of them.

use anyhow::Context as _;
use host::interrupt::Interrupt;
use results::Standing;
use validation::{ValidationError, validate as run};

use crate::args::ValidateArgs;
use crate::exit::{Exit, UsageError};
use crate::output::{self, Output};
use crate::progress::Progress;

/// Run every experiment, and show the tables.
///
/// # Errors
/// When no figure is known of the device, or an experiment cannot be run.
pub fn validate(args: &ValidateArgs) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let mut progress = Progress::new(args.quiet);
    let found = run(args.name.as_deref(), &interrupt, &mut |title, done, all| {
        progress.step(title, done, all);
    });
    progress.finish();
    let found = found.map_err(|error| match error {
        ValidationError::Unknown { .. } => UsageError(error.to_string()).into(),
        other => anyhow::Error::new(other),
    })?;
    if !args.json.as_ref().is_some_and(Output::is_stdout) {
        output::print(report::validation(&found, &output::style(true)).trim_end())?;
    }
    if let Some(path) = &args.json {
        path.write(&report::validation_json(&found).into())?;
    }
    if let Some(reason) = &found.stopped {
        output::complain(&format!(
            "error: {reason}. The tables that were done are above"
        ));
        return Ok(Exit::Failed);
    }
    let outside = found.count(Standing::Outside);
    if outside > 0 {
        let plural = if outside == 1 { "" } else { "s" };
        output::complain(&format!(
            "error: {outside} row{plural} outside of the bar. Look for OUTSIDE above"
        ));
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}
