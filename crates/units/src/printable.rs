//! Makes text from outside, such as file names, safe to display: it cannot control the terminal,
//! and is read in its written order.

/// Replacement for hidden characters.
const HIDDEN: char = '?';

/// Whether a terminal interprets or hides the character: control characters, changes of writing
/// direction, and zero-width ones.
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

/// The text on one line, with `?` for each such character.
pub fn printable(text: &str) -> String {
    let shown = |c: char| if is_obeyed(c) { HIDDEN } else { c };
    text.chars().map(shown).collect()
}

/// The same for our own text with outside text in it, whose lines and tabs are kept.
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

/// The text with a capital first letter, like a sentence.
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
