//! `cargo xtask tables`: writes what `seekstone devices validate` says into
//! docs/evidence/device-tables.md.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::source::{cargo, root};

const DOCUMENT: &str = "docs/evidence/device-tables.md";
const BEGIN: &str = "<!-- tables: begin -->\n```text\n";
const END: &str = "```\n<!-- tables: end -->\n";

/// Run the command, and put its words into the document.
pub fn tables() -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--locked", "-p", "seekstone"]);
    command.args(["--", "devices", "validate"]);
    let output = command.output()?;
    // A row that misses its bar ends the command with 1, and stands in the document all the same.
    if output.stdout.is_empty() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let tables = String::from_utf8(output.stdout).context("the tables are no text")?;
    let path = root().join(DOCUMENT);
    let document = fs::read_to_string(&path)?;
    let parts = document
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| format!("{DOCUMENT} lacks the marks"))?;
    fs::write(&path, format!("{before}{BEGIN}{tables}{END}{after}"))?;
    Ok(())
}
