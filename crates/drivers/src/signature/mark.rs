//! A mark, and where its format puts it.

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkPosition {
    /// So many bytes from the start.
    Start(u64),
    /// So many bytes before the end, after rounding the end down to a multiple of the second.
    End(u64, u64),
    /// At any of a number of places that follow a first one at equal distances.
    Each {
        first: &'static MarkPosition,
        step: u64,
        count: u64,
    },
}

impl MarkPosition {
    /// The offsets on a device of `size` bytes.
    pub(super) fn offsets(self, size: u64) -> Vec<u64> {
        match self {
            Self::Start(offset) => vec![offset],
            Self::End(back, unit) => (size / unit * unit).checked_sub(back).into_iter().collect(),
            Self::Each { first, step, count } => {
                let first = first.offsets(size).into_iter();
                first
                    .flat_map(|first| (0..count).map(move |number| first + number * step))
                    .collect()
            }
        }
    }
}

/// Bytes that say what a device carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignatureBytes {
    /// As a message says it.
    pub name: &'static str,
    /// The same in the words of `blkid -k`; empty where that does not know it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests compare the table with it")
    )]
    pub kinds: &'static [&'static str],
    pub bytes: &'static [u8],
    pub places: &'static [MarkPosition],
}

pub(super) const fn mark(
    name: &'static str,
    kinds: &'static [&'static str],
    bytes: &'static [u8],
    places: &'static [MarkPosition],
) -> SignatureBytes {
    SignatureBytes {
        name,
        kinds,
        bytes,
        places,
    }
}

pub(super) const fn at(offset: u64) -> MarkPosition {
    MarkPosition::Start(offset)
}

pub(super) const fn end(back: u64, unit: u64) -> MarkPosition {
    MarkPosition::End(back, unit)
}

pub(super) const fn each(first: &'static MarkPosition, step: u64, count: u64) -> MarkPosition {
    MarkPosition::Each { first, step, count }
}
