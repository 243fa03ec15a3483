//! What a command writes: to the terminal here, to files in `output/file.rs`. Nothing that others
//! wrote steers the terminal: errors, notes, progress and reports all leave through here. A reader
//! that has gone away (`| head`) ends the program quietly; one that does not read keeps it only
//! until a signal comes.

mod file;
mod place;

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::Context as _;
use clap::ColorChoice;
use host::interrupt::Wait;
use report::{Style, TONES};
use units::printable_lines;

use crate::exit::Exit;

pub use file::{Filling, Output, OutputContent};
pub use place::{OutputLocation, place_of};

/// Print `text` and a line end to standard output.
///
/// # Errors
/// When standard output cannot be written, unless nobody reads it any more.
pub fn print(text: &str) -> anyhow::Result<Exit> {
    let text = shown(text, has_colour(std::io::stdout().is_terminal()));
    print_bytes(format!("{text}\n").as_bytes()).map(|()| Exit::Done)
}

/// Print what need not be text to standard output.
///
/// # Errors
/// When standard output cannot be written, unless nobody reads it any more.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let _wait = Wait::begin();
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}

/// Print a line to standard error; nobody can be told if that fails.
pub fn complain(text: &str) {
    let _wait = Wait::begin();
    let _ = writeln!(std::io::stderr(), "{}", printable_lines(text));
}

/// Print why a command failed, in one sentence. What every rank of a fleet knows, the one that
/// leads says.
pub fn failed(error: &anyhow::Error, leads: bool) -> Exit {
    let exit = Exit::of_error(error);
    if leads || ![Exit::Usage, Exit::Done].contains(&exit) {
        complain(&for_terminal(&format!("error: {error:#}")));
    }
    exit
}

/// Print what the parser of arguments has to say: help and version go to standard output.
pub fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        complain(text.trim_end());
        return Exit::Usage.into();
    }
    print(text.trim_end()).map_or(ExitCode::FAILURE, Into::into)
}

/// A text that a terminal shows and does not obey, but for the tones of our own reports.
fn shown(text: &str, has_colour: bool) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut safe = printable_lines(pieces.next().unwrap_or_default());
    for piece in pieces {
        let is_tone = has_colour && TONES.iter().any(|tone| piece.starts_with(tone));
        safe.push(if is_tone { '\u{1b}' } else { '?' });
        safe.push_str(&printable_lines(piece));
    }
    safe
}

/// What `--color` says; nothing before the command line was read.
static COLOUR: OnceLock<ColorChoice> = OnceLock::new();

/// Take what `--color` says for the whole invocation.
pub fn choose_colour(choice: ColorChoice) {
    let _ = COLOUR.set(choice);
}

fn has_colour(is_terminal: bool) -> bool {
    match COLOUR.get().copied().unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
            let is_refused = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
            // Open MPI gives each rank a terminal, whatever its own output is.
            let is_rank = crate::launcher::launched().is_some();
            is_terminal && !is_dumb && !is_refused && !is_rank
        }
    }
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
        color: has_colour(is_terminal),
        unicode: is_utf8,
        all,
    }
}

/// Columns of a list: those of the terminal. What other tools read has one line for each row.
pub fn list_width() -> usize {
    match std::io::stdout().is_terminal() {
        true => style(false).width,
        false => usize::MAX,
    }
}

/// Columns of the terminal at standard error but for some that are taken.
pub fn columns_of_terminal(taken: usize) -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    match columns {
        0 => usize::MAX,
        columns => columns.saturating_sub(taken),
    }
}

/// A message in lines that a terminal at standard error does not break inside words; elsewhere each
/// line stays one, as other tools read it.
pub fn for_terminal(text: &str) -> String {
    let stderr = std::io::stderr();
    let columns = rustix::termios::tcgetwinsize(&stderr).map_or(0, |size| usize::from(size.ws_col));
    match stderr.is_terminal() && columns > 0 {
        true => wrapped(text, columns),
        false => text.to_owned(),
    }
}

fn wrapped(text: &str, width: usize) -> String {
    let lines = text.lines().map(|line| {
        if line.chars().count() <= width {
            return line.to_owned();
        }
        let mut wrapped = String::new();
        let mut used = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                wrapped.push_str("\n  ");
                used = 2;
            } else if used > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(word);
            used += length;
        }
        wrapped
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{shown, wrapped};

    #[test]
    fn only_our_own_tones_steer_a_terminal() {
        let text = "\u{1b}[1mHead\u{1b}[0m\n\u{1b}]0;T\u{7} \u{1b}[2J \u{202e}";
        let toned = "\u{1b}[1mHead\u{1b}[0m\n?]0;T? ?[2J ?";
        assert_eq!(shown(text, true), toned);
        assert_eq!(shown(text, false), toned.replace('\u{1b}', "?"));
    }

    /// Bug: a line of 380 columns, broken inside words.
    #[test]
    fn long_messages_are_broken_between_words() {
        let check = |text: &str, expected: &str| assert_eq!(wrapped(text, 12), expected);
        check("error: it has a, b, c", "error: it\n  has a, b,\n  c");
        check("short\n  as it is", "short\n  as it is");
    }
}
