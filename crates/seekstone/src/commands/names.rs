//! The names by which the documents call their programs: links to this one.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::Context as _;

use crate::exit::Exit;
use crate::output;

/// The programs of the documents.
const NAMES: [&str; 4] = ["rpt", "transact", "diskmbps", "diskrand"];

/// What was typed, with the command put in where this program was called by a link of its name.
pub fn typed(mut words: Vec<OsString>) -> Vec<OsString> {
    if let Some(name) = words.first().and_then(|word| known(word)) {
        words.insert(1, name.into());
    }
    words
}

/// The program of the documents by whose name this one was called.
pub fn known(word: &OsStr) -> Option<&'static str> {
    let name = Path::new(word).file_name()?;
    NAMES.into_iter().find(|known| name == *known)
}

/// Make a link of each name in a directory; nothing that is there is replaced.
///
/// # Errors
/// When a name is taken by something else, or no link can be made.
pub fn install(directory: &Path) -> anyhow::Result<Exit> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let is_ours = |link: &Path| std::fs::read_link(link).is_ok_and(|to| to == program);
    let links = NAMES.map(|name| directory.join(name));
    let is_taken = |link: &&std::path::PathBuf| link.symlink_metadata().is_ok() && !is_ours(link);
    let taken: Vec<String> = links
        .iter()
        .filter(is_taken)
        .map(|link| link.display().to_string())
        .collect();
    if !taken.is_empty() {
        refuse!(
            "{} exists and is no link to {}: nothing was made. Remove it, or name another \
             directory",
            taken.join(", "),
            program.display()
        );
    }
    for link in links.iter().filter(|link| !is_ours(link)) {
        symlink(&program, link).with_context(|| format!("cannot make {}", link.display()))?;
    }
    output::print(&format!(
        "{} in {} are now links to {}",
        NAMES.join(", "),
        directory.display(),
        program.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_a_documents_name_is_that_program() {
        let check = |words: &[&str], expected: &[&str]| {
            let words = words.iter().map(OsString::from).collect();
            assert_eq!(
                typed(words),
                expected.iter().map(OsString::from).collect::<Vec<_>>()
            );
        };
        check(
            &["/usr/bin/rpt", "-t", "rptq.rpt"],
            &["/usr/bin/rpt", "rpt", "-t", "rptq.rpt"],
        );
        check(&["diskmbps"], &["diskmbps", "diskmbps"]);
        check(&["seekstone", "rpt"], &["seekstone", "rpt"]);
        check(&["./scrpt", "x"], &["./scrpt", "x"]);
        check(&[], &[]);
    }
}
