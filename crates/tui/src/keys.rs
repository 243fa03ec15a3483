//! Decodes keys from the bytes of a terminal.
//!
//! Done here rather than by the terminal library, whose reader never returns once the terminal has
//! vanished, and blocks inside an incomplete sequence. Only letters are needed; sequences of
//! function keys and non-ASCII characters are skipped.

use results::live::LiveCommand;

/// Maximum length of a sequence; longer ones are not keys.
const SEQUENCE_MAX: usize = 32;

/// A key with a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScreenKey {
    Program(LiveCommand),
    /// Curve or tables.
    Curve,
    /// The curve of the workload before the one shown.
    PreviousCurve,
    /// The curve of the workload after the one shown.
    NextCurve,
    /// Warnings, and their next page.
    Warnings,
    /// Open or close the help.
    Help,
    /// Close the help or the warnings.
    Escape,
    /// Redraw everything.
    Redraw,
}

impl ScreenKey {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte.to_ascii_uppercase() {
            b'M' => Self::Program(LiveCommand::NextMode),
            b'Q' | b'X' | CTRL_C => Self::Program(LiveCommand::Quit),
            b'R' => Self::Program(LiveCommand::Restart),
            b'S' => Self::Program(LiveCommand::StartStop),
            b'T' => Self::Program(LiveCommand::NextWorkload),
            b'V' => Self::Program(LiveCommand::NextVerbosity),
            b'C' => Self::Curve,
            b'P' => Self::PreviousCurve,
            b'N' => Self::NextCurve,
            b'W' => Self::Warnings,
            b'H' | b'?' => Self::Help,
            CTRL_L => Self::Redraw,
            _ => return None,
        })
    }
}

const CTRL_C: u8 = 0x03;
const CTRL_L: u8 = 0x0c;
const ESCAPE: u8 = 0x1b;

/// State of the decoder within a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    Outside,
    /// After the escape character, which is itself a key if nothing follows.
    Escaped,
    /// In a control sequence of this length, which ends with a letter or one of `@`..`~`.
    Control(usize),
    /// One more character belongs to the sequence.
    Last,
}

/// Decodes keys, however the bytes are split.
#[derive(Debug, Default)]
pub(crate) struct KeyReader {
    place: EscapeState,
}

impl KeyReader {
    /// The keys in these bytes, including the rest of earlier ones.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<ScreenKey> {
        bytes.iter().filter_map(|&byte| self.step(byte)).collect()
    }

    /// No more bytes for the moment: an escape character was itself the key.
    pub(crate) fn pause(&mut self) -> Option<ScreenKey> {
        let was_escaped = self.place == EscapeState::Escaped;
        self.place = EscapeState::Outside;
        was_escaped.then_some(ScreenKey::Escape)
    }

    fn step(&mut self, byte: u8) -> Option<ScreenKey> {
        // Interrupting must work in any state.
        if byte == CTRL_C {
            self.place = EscapeState::Outside;
            return ScreenKey::of(byte);
        }
        match self.place {
            EscapeState::Outside if byte == ESCAPE => self.place = EscapeState::Escaped,
            EscapeState::Outside => return ScreenKey::of(byte),
            EscapeState::Escaped => match byte {
                b'[' => self.place = EscapeState::Control(0),
                b'O' => self.place = EscapeState::Last,
                ESCAPE => return Some(ScreenKey::Escape),
                // A letter with Alt is a different key.
                _ => self.place = EscapeState::Outside,
            },
            EscapeState::Control(length) => match byte {
                b'@'..=b'~' if length > 0 || byte != b'[' => self.place = EscapeState::Outside,
                _ if length >= SEQUENCE_MAX => self.place = EscapeState::Outside,
                _ => self.place = EscapeState::Control(length + 1),
            },
            EscapeState::Last => self.place = EscapeState::Outside,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[ScreenKey]) {
        assert_eq!(KeyReader::default().read(bytes), expected, "{bytes:?}");
        let mut reader = KeyReader::default();
        let one_by_one: Vec<ScreenKey> = bytes
            .iter()
            .flat_map(|&byte| reader.read(&[byte]))
            .collect();
        assert_eq!(one_by_one, expected, "{bytes:?} one by one");
    }

    #[test]
    fn every_key_in_both_cases() {
        for (letter, key) in [
            (b'm', ScreenKey::Program(LiveCommand::NextMode)),
            (b'q', ScreenKey::Program(LiveCommand::Quit)),
            (b'x', ScreenKey::Program(LiveCommand::Quit)),
            (b'r', ScreenKey::Program(LiveCommand::Restart)),
            (b's', ScreenKey::Program(LiveCommand::StartStop)),
            (b't', ScreenKey::Program(LiveCommand::NextWorkload)),
            (b'v', ScreenKey::Program(LiveCommand::NextVerbosity)),
            (b'c', ScreenKey::Curve),
            (b'p', ScreenKey::PreviousCurve),
            (b'n', ScreenKey::NextCurve),
            (b'w', ScreenKey::Warnings),
            (b'h', ScreenKey::Help),
        ] {
            check(&[letter], &[key]);
            check(&[letter.to_ascii_uppercase()], &[key]);
        }
        check(b"?", &[ScreenKey::Help]);
        check(b"\x0c", &[ScreenKey::Redraw]);
        check(b"\x03", &[ScreenKey::Program(LiveCommand::Quit)]);
    }

    #[test]
    fn other_keys_mean_nothing() {
        check(b"abdefgijkloduyz 0123456789\r\n\t\x1a", &[]);
        check(
            "für ö 終".as_bytes(),
            &[ScreenKey::Program(LiveCommand::Restart)],
        );
    }

    #[test]
    fn letters_inside_the_sequences_of_function_keys_are_no_keys() {
        check(b"\x1b[C\x1b[1;5C\x1b[15~\x1bOQ\x1bOS\x1bq", &[]);
        check(b"\x1b[[Cq", &[ScreenKey::Program(LiveCommand::Quit)]);
        check(b"\x1bOQs", &[ScreenKey::Program(LiveCommand::StartStop)]);
    }

    #[test]
    fn an_endless_sequence_ends() {
        let mut bytes = b"\x1b[".to_vec();
        bytes.extend([b'1'; SEQUENCE_MAX + 1]);
        bytes.push(b'q');
        check(&bytes, &[ScreenKey::Program(LiveCommand::Quit)]);
    }

    #[test]
    fn interrupting_works_inside_a_sequence() {
        check(b"\x1b[1\x03", &[ScreenKey::Program(LiveCommand::Quit)]);
    }

    #[test]
    fn the_escape_key_is_known_by_what_does_not_follow() {
        let mut reader = KeyReader::default();
        assert_eq!(reader.read(b"\x1b"), []);
        assert_eq!(reader.pause(), Some(ScreenKey::Escape));
        assert_eq!(reader.pause(), None);
        assert_eq!(reader.read(b"q"), [ScreenKey::Program(LiveCommand::Quit)]);
    }
}
