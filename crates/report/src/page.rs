//! A page under construction: lines that never run past its width.

use std::fmt::Display;

use crate::style::{Style, Tone};
use crate::table::TextTable;
use units::printable;

/// Columns before the text of a section.
const INDENT: usize = 2;
/// Lines up to which a screen has room for what explains its figures, before its warnings and its
/// answer.
const EXPLAINED: usize = 15;
/// Columns of the label of a fact.
const LABEL: usize = 18;

/// Lines that were laid out for one width.
pub(crate) struct TextPage<'a> {
    pub style: &'a Style,
    text: String,
}

impl<'a> TextPage<'a> {
    pub fn new(style: &'a Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    /// One line, cut off at the width.
    pub fn line(&mut self, tone: Tone, text: &str) {
        let text = clip(&printable(text), self.style.columns(), self.style);
        self.text.push_str(&self.style.paint(tone, text.trim_end()));
        self.text.push('\n');
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A heading at the left margin.
    pub fn heading(&mut self, text: &str) {
        for line in wrap(text, self.style.columns()) {
            self.line(Tone::Strong, &line);
        }
    }

    /// Text in the section's indentation, wrapped.
    pub fn paragraph(&mut self, tone: Tone, text: &str) {
        for line in wrap(text, self.style.columns() - INDENT) {
            self.line(tone, &format!("{:INDENT$}{line}", ""));
        }
    }

    /// A list item; following lines are indented under its text.
    pub fn item(&mut self, tone: Tone, mark: &str, text: &str) {
        // The label of an imported run may be longer than a line.
        let columns = self.style.columns();
        let mark = clip(&printable(mark), columns / 2, self.style);
        let indent = INDENT + mark.chars().count() + 1;
        for (index, line) in wrap(text, columns - indent).iter().enumerate() {
            if index > 0 {
                self.line(Tone::Plain, &format!("{:indent$}{line}", ""));
                continue;
            }
            let line = clip(&printable(line), columns - indent, self.style);
            let mark = self.style.paint(tone, &mark);
            self.text
                .push_str(&format!("{:INDENT$}{mark} {line}\n", ""));
        }
    }

    /// A labelled fact; following lines are indented under its text.
    pub fn fact(&mut self, label: &str, text: &str) {
        if !text.is_empty() {
            self.item(Tone::Quiet, &format!("{label:LABEL$}"), text);
        }
    }

    /// A fact, where it is known.
    pub fn known(&mut self, label: &str, fact: Option<impl Display>) {
        self.fact(label, &fact.map_or_else(String::new, |it| it.to_string()));
    }

    /// A table in the section's indentation.
    pub fn table(&mut self, table: &TextTable) {
        for (tone, line) in table.render(self.style.columns() - INDENT) {
            self.line(tone, &format!("{:INDENT$}{line}", ""));
        }
    }

    /// Whether no column of a table is left out.
    pub fn fits(&self, table: &TextTable) -> bool {
        table.left_out(self.style.columns() - INDENT).is_empty()
    }

    /// A table that names the columns which the width leaves out.
    pub fn whole_table(&mut self, table: &TextTable) {
        self.table(table);
        let left = table.left_out(self.style.columns() - INDENT);
        if !left.is_empty() {
            let left = left.join(", ");
            let text = format!("A wider terminal also shows: {left}.");
            self.paragraph(Tone::Quiet, &text);
        }
    }

    /// A table that keeps the section's indentation for signs of its own.
    pub fn flush_table(&mut self, table: &TextTable) {
        for (tone, line) in table.render(self.style.columns()) {
            self.line(tone, &line);
        }
    }

    /// Lines so far.
    pub fn lines(&self) -> usize {
        self.text.matches('\n').count()
    }

    /// Lines that were laid out apart.
    pub fn append(&mut self, other: &Self) {
        self.text.push_str(&other.text);
    }

    /// What `write` adds, unless the page then has more lines than `most`: then nothing.
    pub fn within(&mut self, most: usize, write: impl FnOnce(&mut Self)) -> bool {
        let before = self.text.len();
        write(self);
        let fits = self.lines() <= most;
        if !fits {
            self.text.truncate(before);
        }
        fits
    }

    /// What explains the figures, unless a screen has no room for it and not everything is asked
    /// for.
    pub fn where_room_is_left(&mut self, write: impl FnOnce(&mut Self)) {
        let most = if self.style.all {
            usize::MAX
        } else {
            EXPLAINED
        };
        self.within(most, write);
    }

    /// The finished page, ending in a line break.
    pub fn finish(self) -> String {
        self.text
    }
}

/// The first `width` characters, with a sign where something was cut off.
pub(crate) fn clip(text: &str, width: usize, style: &Style) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let sign = if style.unicode { "…" } else { "..." };
    let kept = width.saturating_sub(sign.chars().count());
    text.chars()
        .take(kept)
        .chain(sign.chars())
        .take(width)
        .collect()
}

/// The text in lines of at most `width` characters, broken between words, and inside a word only
/// where it alone is longer than a line. There is always at least one line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        if used > 0 && used + 1 + rest.len() > width {
            lines.push(String::new());
            used = 0;
        }
        while rest.len() > width {
            let tail = rest.split_off(width);
            lines.last_mut().expect("never empty").extend(rest);
            lines.push(String::new());
            rest = tail;
        }
        let line = lines.last_mut().expect("never empty");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        used += rest.len();
        line.extend(rest);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_long_ones_broken() {
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrap("a abcdefgh b", 3), ["a", "abc", "def", "gh", "b"]);
        assert_eq!(wrap("abcdef", 3), ["abc", "def"]);
    }

    #[test]
    fn a_cut_is_marked() {
        let ascii = Style {
            unicode: false,
            ..Style::default()
        };
        assert_eq!(clip("abcdefgh", 6, &ascii), "abc...");
        assert_eq!(clip("abcdefgh", 6, &Style::default()), "abcde…");
        assert_eq!(clip("abcdef", 6, &ascii), "abcdef");
        assert_eq!(clip("abcdef", 2, &ascii), "..");
    }

    #[test]
    fn names_cannot_drive_the_terminal() {
        let style = Style::default();
        let mut page = TextPage::new(&style);
        page.line(Tone::Plain, "a\x1b[2Jb");
        page.item(Tone::Plain, "-", "c\x07d");
        assert_eq!(page.finish(), "a?[2Jb\n  - c?d\n");
    }
}
