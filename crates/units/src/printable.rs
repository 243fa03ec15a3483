//! Text of others, such as names of files, as it may be shown: it steers no terminal and reads in
//! the order in which it stands.

/// What stands in the place of a character that is not shown.
const HIDDEN: char = '?';

/// Whether a terminal obeys the character, or shows it nowhere: control characters, those that turn
/// the direction of writing, and those without width.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
        )
}

/// The text on one line, with a `?` for each character that would be obeyed.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = |c: char| if is_obeyed(c) { HIDDEN } else { c };
    text.chars().map(shown).collect()
}

/// The same of a text of ours with text of others in it: its lines and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let is_ours = |c: char| matches!(c, '\n' | '\t');
    let shown = |c: char| {
        if is_obeyed(c) && !is_ours(c) {
            HIDDEN
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}

/// A text that begins with a capital letter, as a sentence does.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}]0;T\u{7}\u{9b}31m\u{202e}b\u{200b}\r\n\tc";
        assert_eq!(printable(hostile), "a?]0;T??31m?b????c");
        assert_eq!(printable_lines(hostile), "a?]0;T??31m?b??\n\tc");
        assert_eq!(printable("é 漢 µs"), "é 漢 µs");
    }
}
