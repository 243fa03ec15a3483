//! The envelope of a message: what kind it is, and of which round.

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LetterKind {
    /// Part of a round in which all ranks take part.
    Round = 1,
    /// Sent between rounds, or while one is waited for.
    Note = 2,
    /// Asks for the receiver's clock.
    Ask = 3,
    /// Tells the sender's clock.
    Answer = 4,
    /// Says that the sender is alive.
    Alive = 5,
}

impl LetterKind {
    const ALL: [Self; 5] = [
        Self::Round,
        Self::Note,
        Self::Ask,
        Self::Answer,
        Self::Alive,
    ];
}

/// A message with its envelope: one byte of kind, four of number, the rest is the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub kind: LetterKind,
    /// The number of its round, or of a question.
    pub number: u32,
    /// What it says.
    pub body: Vec<u8>,
}

/// Bytes of an envelope.
const ENVELOPE: usize = 5;

impl Letter {
    /// The letter as it travels.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(ENVELOPE + self.body.len());
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(&self.number.to_le_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// The letter that travelled; `None` where the bytes are no letter.
    // fuzzed: wire
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        let (number, body) = rest.split_first_chunk::<4>()?;
        let kind = LetterKind::ALL.into_iter().find(|it| *it as u8 == kind)?;
        Some(Self {
            kind,
            number: u32::from_le_bytes(*number),
            body: body.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_comes_back_as_it_was_and_nothing_else_is_one() {
        for kind in LetterKind::ALL {
            for body in [vec![], vec![0], vec![255; 1000]] {
                let letter = Letter {
                    kind,
                    number: 0x0102_0304,
                    body,
                };
                let bytes = letter.to_bytes();
                assert_eq!(Letter::from_bytes(&bytes), Some(letter));
                for len in 0..ENVELOPE {
                    assert_eq!(Letter::from_bytes(&bytes[..len]), None, "{len} bytes");
                }
            }
        }
        for kind in (0..=u8::MAX).filter(|kind| !(1..=5).contains(kind)) {
            assert_eq!(Letter::from_bytes(&[kind, 0, 0, 0, 0]), None, "kind {kind}");
        }
    }
}
