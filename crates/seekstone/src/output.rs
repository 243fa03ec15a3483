//! Writing to the terminal. A reader that has gone away (`| head`) ends the program quietly.

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use anyhow::Context as _;
use report::Style;

use crate::exit::Exit;

/// Print `text` and a line end to standard output.
///
/// # Errors
/// When standard output cannot be written, unless nobody reads it any more.
pub fn print(text: &str) -> anyhow::Result<Exit> {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(Exit::Done),
    }
}

/// Print a line to standard error; nobody can be told if that fails.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Write `text` to the file that the user named, in place of what it held; `-` is standard output.
///
/// # Errors
/// When the file cannot be written.
pub fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    if path == Path::new("-") {
        print(text.trim_end())?;
        return Ok(());
    }
    let in_context = || format!("{} cannot be written", path.display());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let mut file = options.open(path).with_context(in_context)?;
    let found = file.metadata().with_context(in_context)?;
    // The name was looked at before; since then it may have come to stand for storage.
    if found.file_type().is_block_device() {
        anyhow::bail!("{} is a block device, which is not written", path.display());
    }
    if found.is_file() {
        file.set_len(0).with_context(in_context)?;
    }
    file.write_all(text.as_bytes()).with_context(in_context)
}

/// How reports look on this terminal.
pub fn style(all: bool) -> Style {
    let stdout = std::io::stdout();
    let is_terminal = stdout.is_terminal();
    let columns = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    let is_utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_some_and(|locale| {
            locale
                .to_ascii_lowercase()
                .replace('-', "")
                .ends_with("utf8")
        });
    Style {
        width: if columns == 0 {
            100
        } else {
            columns.clamp(60, 120)
        },
        color: is_terminal && std::env::var_os("NO_COLOR").is_none(),
        unicode: is_utf8,
        all,
    }
}
