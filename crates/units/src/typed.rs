//! Typed text in messages: its line, shortened, and what was probably meant.

use crate::printable::printable;

/// Maximum length of text quoted in a message.
const CHARS_MAX: usize = 60;
/// Longer words are not typing errors.
const WORD_CHARS_MAX: usize = 30;

/// The line of a byte of a text, counted from one; the last line if it is beyond the end.
pub fn line_at(text: &str, byte: usize) -> usize {
    let before = &text.as_bytes()[..byte.min(text.len())];
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

/// Something typed, for a message: short, on one line.
pub fn shortened(text: &str) -> String {
    let mut short: String = printable(text).chars().take(CHARS_MAX).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push_str("...");
    }
    short
}

/// The word of `known` that is spelled most like `typed`.
pub fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if typed.chars().count() > WORD_CHARS_MAX {
        return None;
    }
    let typed = typed.to_lowercase().replace('_', "-");
    let known = known.into_iter();
    let distances = known.map(|word| (edits(&typed, word), word));
    let (distance, word) = distances.min_by_key(|(distance, _)| *distance)?;
    // Two swapped letters are two edits.
    let is_near = distance <= (word.len() / 3).max(2) && distance + 1 < word.len();
    is_near.then_some(word)
}

/// Continuation of a message about an unknown word, if there is a similar one.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |known| format!(", did you mean {known:?}?"))
}

/// Characters to insert, remove or replace to make one word of the other (V. Levenshtein, 1966).
pub fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (removed, here) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = removed + 1;
        for (index, &there) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(here != there);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_nearly_known_is_found() {
        let check = |typed: &str, expected: Option<&str>| {
            let known = ["replicates", "budget", "target", "id"];
            assert_eq!(nearest(typed, known), expected, "{typed}");
        };
        check("replicats", Some("replicates"));
        check("Budgte", Some("budget"));
        check("tar_get", Some("target"));
        check("colour", None);
        // Almost nothing of a short word would be left.
        check("xd", None);
        check(&"budget".repeat(9), None);
    }

    #[test]
    fn a_place_has_its_line() {
        let check = |byte, expected| assert_eq!(line_at("a\nb\n", byte), expected, "{byte}");
        check(0, 1);
        check(1, 1);
        check(2, 2);
        check(99, 3);
    }
}
