//! The format of a log's line, used by both its writer and its parser: words, with `{}` for fields.

use std::fmt::{Display, Write as _};

/// Formats a line with these fields.
pub(crate) fn filled(form: &str, fields: &[&dyn Display]) -> String {
    let mut text = String::new();
    let mut fields = fields.iter();
    for (place, words) in form.split("{}").enumerate() {
        if place > 0 {
            let field = fields.next().expect("a field for each place of the form");
            let _ = write!(text, "{field}");
        }
        text.push_str(words);
    }
    text
}

/// Parses the fields of a line, with any number of blanks between its words. A field is one word,
/// except that one at the end takes the rest of the line.
pub(crate) fn fields<'a, const N: usize>(form: &str, line: &'a str) -> Option<[&'a str; N]> {
    let mut found = Vec::with_capacity(N);
    let mut rest = line.trim();
    let mut words = form.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let is_rest = word == "{}" && words.peek().is_none();
        let (here, behind) = match rest.split_once(char::is_whitespace) {
            Some((here, behind)) if !is_rest => (here, behind.trim_start()),
            _ => (rest, ""),
        };
        match word.split_once("{}") {
            Some((before, after)) => found.push(here.strip_prefix(before)?.strip_suffix(after)?),
            None if word == here => {}
            None => return None,
        }
        rest = behind;
    }
    found.try_into().ok().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "User {}, {} of {}MB: {}";

    #[test]
    fn what_is_written_is_read() {
        let line = filled(FORM, &[&7, &format!("{:3}", 4), &"30.1", &"a  reason"]);
        assert_eq!(line, "User 7,   4 of 30.1MB: a  reason");
        assert_eq!(fields(FORM, &line), Some(["7", "4", "30.1", "a  reason"]));
    }

    #[test]
    fn other_lines_have_no_fields() {
        for line in ["", "User 7", "User 7 4 of 30.1MB: x", "User 7, 4 in 1MB: x"] {
            assert_eq!(fields::<4>(FORM, line), None, "{line:?}");
        }
        assert_eq!(fields::<1>("{} Kbytes", "5 Kbytes more"), None);
    }
}
