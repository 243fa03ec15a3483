//! The lines of a test or parameter file.
//!
//! Source: the RPT manual of 1995, "Test files". A semicolon starts a comment, unless it stands in
//! quotes.

/// Maximum size of a file: a classic one has a few thousand bytes.
pub const FILE_BYTES_MAX: usize = 1 << 18;

/// A value as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Quoted: literal.
    Quoted(&'a str),
    /// The name of a variable if there is one, else literal.
    Bare(&'a str),
}

/// Meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxLine<'a> {
    /// Empty: ends an object.
    Blank,
    /// Only a comment: does not end an object.
    Comment,
    /// `[Name]` or `"Name"`: starts an object.
    Object(&'a str),
    /// `Name=value`.
    Definition(&'a str, Value<'a>),
    /// `Name`.
    Invocation(&'a str),
}

/// Why bytes are not the text of a test or parameter file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    #[error("is no test or parameter file: those have {FILE_BYTES_MAX} bytes at most")]
    TooLarge,
    /// It has bytes that are not text.
    #[error(
        "is no text file (line {line} holds a byte 0x{byte:02x}). Name a test or parameter file"
    )]
    Binary {
        /// The line, counted from one.
        line: usize,
        byte: u8,
    },
}

/// Some editors write this before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file, without a byte order mark.
///
/// # Errors
/// If it is too large, not UTF-8, or holds control characters.
pub fn text_of(bytes: &[u8]) -> Result<&str, NotText> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(NotText::TooLarge);
    }
    let at = |place: usize| NotText::Binary {
        line: 1 + bytes[..place].iter().filter(|&&byte| byte == b'\n').count(),
        byte: bytes[place],
    };
    let is_wrong = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1f | 0x7f);
    if let Some(place) = bytes.iter().position(is_wrong) {
        return Err(at(place));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| at(error.valid_up_to()))?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// Parses one line.
///
/// # Errors
///
/// A description of the error.
pub(crate) fn read_line(line: &str) -> Result<SyntaxLine<'_>, &'static str> {
    let Some(text) = without_comment(line) else {
        return Err("a quote is opened and not closed");
    };
    let bare = text.trim();
    if bare.is_empty() {
        return Ok(if line.trim().is_empty() {
            SyntaxLine::Blank
        } else {
            SyntaxLine::Comment
        });
    }
    if let Some(rest) = bare.strip_prefix('[') {
        let name = rest
            .strip_suffix(']')
            .ok_or("a [ without its ] at the end")?;
        return Ok(SyntaxLine::Object(name_of(name)?));
    }
    match equals_of(bare) {
        Some(place) => {
            let name = name_of(unquoted(bare[..place].trim()).unwrap_or(&bare[..place]))?;
            Ok(SyntaxLine::Definition(
                name,
                value_of(bare[place + 1..].trim())?,
            ))
        }
        None => match unquoted(bare) {
            Some(name) => Ok(SyntaxLine::Object(name_of(name)?)),
            None => Ok(SyntaxLine::Invocation(name_of(bare)?)),
        },
    }
}

fn value_of(text: &str) -> Result<Value<'_>, &'static str> {
    if text.is_empty() {
        return Err("there is no value behind the =");
    }
    match unquoted(text) {
        Some(inner) => Ok(Value::Quoted(inner)),
        None if text.contains('"') => Err("quotes must enclose the whole value"),
        None => Ok(Value::Bare(text)),
    }
}

fn name_of(text: &str) -> Result<&str, &'static str> {
    let name = text.trim();
    if name.is_empty() {
        return Err("a name is missing");
    }
    let is_fit = |character: char| character.is_alphanumeric() || matches!(character, '_' | ' ');
    if name.chars().all(is_fit) {
        Ok(name)
    } else {
        Err("is no name: names have letters, digits and spaces")
    }
}

/// The text between two quotes that enclose all of `text`.
fn unquoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (text.len() >= 2 && !inner.contains('"')).then_some(inner)
}

/// The line up to its comment; `None` if a quote is not closed.
fn without_comment(line: &str) -> Option<&str> {
    let mut is_quoted = false;
    for (place, character) in line.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            ';' if !is_quoted => return Some(&line[..place]),
            _ => {}
        }
    }
    (!is_quoted).then_some(line)
}

fn equals_of(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    text.char_indices().find_map(|(place, character)| {
        is_quoted ^= character == '"';
        (character == '=' && !is_quoted).then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<SyntaxLine<'_>, &str>) {
        match (read_line(line), expected) {
            (Err(found), Err(part)) => assert!(found.contains(part), "{line}: {found}"),
            (found, expected) => assert_eq!(found, expected, "{line}"),
        }
    }

    #[test]
    fn every_kind_of_line_is_read() {
        check("", Ok(SyntaxLine::Blank));
        check("  \t", Ok(SyntaxLine::Blank));
        check("  ; only a comment", Ok(SyntaxLine::Comment));
        check(
            "[ThreadFlags] ; flags",
            Ok(SyntaxLine::Object("ThreadFlags")),
        );
        check("\"Thread Flags\"", Ok(SyntaxLine::Object("Thread Flags")));
        check("ParmFile", Ok(SyntaxLine::Invocation("ParmFile")));
        let bare = |name, value| Ok(SyntaxLine::Definition(name, Value::Bare(value)));
        check(" My Name = 5 ; five", bare("My Name", "5"));
        check("F=sim:mm1?mean=1ms", bare("F", "sim:mm1?mean=1ms"));
        let quoted = |name, value| Ok(SyntaxLine::Definition(name, Value::Quoted(value)));
        check("Thread=\" \"", quoted("Thread", " "));
        check("F=\"a;b=c\";d", quoted("F", "a;b=c"));
        check("\"F\"=1", bare("F", "1"));
    }

    #[test]
    fn broken_lines_are_refused() {
        check("Rsmax=", Err("no value"));
        check("=5", Err("name is missing"));
        check("[Flags", Err("without its ]"));
        check("[]", Err("name is missing"));
        check("F=\"abc", Err("not closed"));
        check("F=a\"b\"", Err("enclose the whole"));
        check("what?!", Err("is no name"));
    }

    /// Bug: with some editors, the first line of a file "is no name".
    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(text_of(b"\xef\xbb\xbfMode=0"), Ok("Mode=0"));
        assert_eq!(text_of(b"\xef\xbb\xbf"), Ok(""));
    }

    #[test]
    fn bytes_that_no_text_has_are_named_with_their_line() {
        assert_eq!(text_of(b"a=1\r\n\tb\n"), Ok("a=1\r\n\tb\n"));
        let binary = |line, byte| Err(NotText::Binary { line, byte });
        assert_eq!(text_of(b"a\nb\0c"), binary(2, 0));
        assert_eq!(text_of(b"\xff\xfe"), binary(1, 0xff));
        assert!(matches!(
            text_of(&vec![b'a'; 1 << 20]),
            Err(NotText::TooLarge)
        ));
    }
}
