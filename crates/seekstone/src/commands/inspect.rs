//! `seekstone inspect`: what a target is, and what would mislead.

use anyhow::Context as _;

use crate::args::InspectArgs;
use crate::exit::Exit;
use crate::output;

/// Describe a target.
///
/// # Errors
/// When it cannot be looked at.
pub fn inspect(args: &InspectArgs) -> anyhow::Result<Exit> {
    let (target, cautions) = host::inspect::inspect(&args.target)?;
    let environment = host::environment::capture();
    if let Some(path) = &args.json {
        let document = serde_json::json!({
            "target": target,
            "environment": environment,
            "cautions": cautions,
        });
        let text = serde_json::to_string_pretty(&document).context("JSON")?;
        path.write(&format!("{text}\n"))?;
        if path.is_stdout() {
            return Ok(Exit::Done);
        }
    }
    let style = output::style(true);
    output::print(report::inspection(&target, &environment, &cautions, &style).trim_end())
}
