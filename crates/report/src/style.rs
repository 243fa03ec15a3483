//! How a page may look: its width, and what the terminal understands.

/// Narrower pages cannot hold a number and its interval beside a title.
const WIDTH_MIN: usize = 40;

/// What the reader's screen can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the page. Less than 40 counts as 40.
    pub width: usize,
    /// Whether escape sequences may colour the text.
    pub color: bool,
    /// Whether lines and points may use characters beyond ASCII.
    pub unicode: bool,
    /// Whether notes are shown without a limit.
    pub all: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 100,
            color: false,
            unicode: true,
            all: false,
        }
    }
}

impl Style {
    /// The width that pages are laid out for.
    pub(crate) fn columns(&self) -> usize {
        self.width.max(WIDTH_MIN)
    }

    /// The text in this tone, if colours are wanted.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        match tone.escape() {
            Some(code) if self.color && !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// What follows an escape in reports with colour: the tones of this file, and their end.
pub const TONES: &[&str] = &["[1m", "[2m", "[33m", "[31m", "[0m"];

/// What a piece of text is to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Running text.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Less important than the rest.
    Quiet,
    /// To be taken with care.
    Doubtful,
    /// Not to be used.
    Bad,
}

impl Tone {
    const fn escape(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Quiet => Some("2"),
            Self::Doubtful => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}
