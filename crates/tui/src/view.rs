//! State of the display itself: capabilities of the terminal, and the open view.

use std::env;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use report::ascii;
use results::live::LiveCommand;

/// Characters that the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// ASCII only.
    Ascii,
    /// Unicode.
    #[default]
    Unicode,
}

/// Whether to use colours and bold text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Plain text.
    Plain,
    /// Colours and bold letters.
    #[default]
    Colors,
}

/// Appearance of the display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Characters that the terminal can show.
    pub charset: Charset,
    /// Whether to use colours and bold text.
    pub palette: Palette,
}

impl Look {
    /// From the environment: the character set of the locale, and `NO_COLOR`.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// As in POSIX, the first of the three variables that is set and not empty counts.
    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &&str| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(value);
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        Self {
            charset: if locale.contains("utf-8") || locale.contains("utf8") {
                Charset::Unicode
            } else {
                Charset::Ascii
            },
            palette: if value(&"NO_COLOR").is_some() {
                Palette::Plain
            } else {
                Palette::Colors
            },
        }
    }

    /// Removes what the terminal cannot show from a finished frame, so that drawing code need not
    /// care.
    pub(crate) fn apply(self, buffer: &mut Buffer) {
        for cell in &mut buffer.content {
            if self.charset == Charset::Ascii && !cell.symbol().is_ascii() {
                let plain = cell.symbol().chars().next().map_or(' ', ascii);
                cell.set_char(plain);
            }
            if self.palette == Palette::Plain {
                without_style(cell);
            }
        }
    }
}

fn without_style(cell: &mut Cell) {
    cell.fg = Color::Reset;
    cell.bg = Color::Reset;
    cell.modifier = Modifier::empty();
}

/// State of the display besides that of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewState {
    /// Name and version of the program.
    pub title: String,
    /// Its appearance.
    pub look: Look,
    /// Whether the curve replaces the tables if there is no space for both.
    pub shows_curve: bool,
    /// The workload whose curve is shown; `None` for the current one.
    pub curve_of: Option<usize>,
    /// The page of the warnings overlay.
    pub warnings_page: Option<usize>,
    /// Whether the help overlay is open.
    pub shows_help: bool,
    /// A key that the program has not handled yet.
    pub asked: Option<LiveCommand>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], charset: Charset, palette: Palette) {
        let look = Look::from_variables(|name| {
            let found = variables.iter().find(|variable| variable.0 == name);
            found.map(|variable| variable.1.to_owned())
        });
        assert_eq!(look, Look { charset, palette }, "{variables:?}");
    }

    #[test]
    fn the_first_locale_variable_that_is_set_counts() {
        check(&[], Charset::Ascii, Palette::Colors);
        check(
            &[("LANG", "de_DE.UTF-8")],
            Charset::Unicode,
            Palette::Colors,
        );
        check(&[("LC_CTYPE", "C.utf8")], Charset::Unicode, Palette::Colors);
        check(
            &[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")],
            Charset::Ascii,
            Palette::Colors,
        );
        check(
            &[("LC_ALL", ""), ("LANG", "en_US.UTF-8")],
            Charset::Unicode,
            Palette::Colors,
        );
    }

    #[test]
    fn no_color_counts_when_it_is_not_empty() {
        check(&[("NO_COLOR", "1")], Charset::Ascii, Palette::Plain);
        check(&[("NO_COLOR", "")], Charset::Ascii, Palette::Colors);
    }
}
