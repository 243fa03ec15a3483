//! Reading our own sources.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

/// A source file of ours.
pub struct Source {
    /// From the root of the workspace.
    pub path: PathBuf,
    /// The crate it belongs to.
    pub krate: String,
    /// What it holds.
    pub text: String,
}

impl Source {
    /// Whether it is part of the product, and not of its tests.
    pub fn is_product(&self) -> bool {
        let is_test = |part: &std::ffi::OsStr| part == "tests" || part == "benches";
        !self.path.components().any(|part| is_test(part.as_os_str()))
            && self.path.file_stem().is_none_or(|stem| stem != "tests")
    }

    /// Its lines up to the first module of unit tests, numbered from one.
    pub fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
    }
}

/// Cargo as from the command line. The variables with which it started this program are removed: a
/// build script that watches them would run again.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    let is_own = |name: &str| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"]
            .iter()
            .any(|it| name.starts_with(it))
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_own) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// Every Rust file below `crates` and `xtask`.
pub fn sources() -> Result<Vec<Source>> {
    let root = root();
    let mut found = Vec::new();
    for top in ["crates", "xtask"] {
        collect(&root, &root.join(top), &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).context("reading a source")?;
            let path = path.strip_prefix(root)?.to_owned();
            let mut parts = path
                .components()
                .map(|part| part.as_os_str().to_string_lossy());
            let first = parts.next().unwrap_or_default().into_owned();
            let krate = match first.as_str() {
                "crates" => parts.next().unwrap_or_default().into_owned(),
                _ => first,
            };
            found.push(Source { path, krate, text });
        }
    }
    Ok(())
}
