//! The marks of `marks.txt`, and where formats put them.

use std::sync::LazyLock;

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MarkPosition {
    /// Bytes from the start; where negative, from the end.
    first: i64,
    /// The end is rounded down to a multiple of this.
    unit: u64,
    /// How far apart the places are, and how many there are.
    row: (u64, u64),
}

impl MarkPosition {
    /// The offsets on a device of `size` bytes.
    pub(super) fn offsets(self, size: u64) -> Vec<u64> {
        let away = self.first.unsigned_abs();
        let first = match self.first < 0 {
            true => (size / self.unit * self.unit).checked_sub(away),
            false => Some(away),
        };
        let (step, count) = self.row;
        let first = first.into_iter();
        first
            .flat_map(|first| (0..count).map(move |number| first + number * step))
            .collect()
    }

    fn of(text: &str) -> Option<Self> {
        let (place, row) = text.split_once(':').unwrap_or((text, "0*1"));
        let (first, unit) = place.split_once('/').unwrap_or((place, "1"));
        let (step, count) = row.split_once('*')?;
        Some(Self {
            first: sum_of(first)?,
            unit: sum_of(unit)?.unsigned_abs(),
            row: (sum_of(step)?.unsigned_abs(), count.parse().ok()?),
        })
    }
}

/// Bytes that say what a device carries.
#[derive(Clone, Debug)]
pub(super) struct SignatureBytes {
    /// As a message says it.
    pub name: &'static str,
    /// The same in the words of `blkid -k`; empty where that does not know it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests compare the table with it")
    )]
    pub kinds: &'static str,
    pub bytes: Vec<u8>,
    pub places: Vec<MarkPosition>,
}

/// Every mark that is known.
pub(super) fn marks() -> impl Iterator<Item = &'static SignatureBytes> {
    static MARKS: LazyLock<Vec<SignatureBytes>> = LazyLock::new(|| {
        let text: &'static str = include_str!("marks.txt").replace("\n    ", " ").leak();
        let rows = text
            .lines()
            .filter(|it| !it.is_empty() && !it.starts_with('#'));
        rows.flat_map(|row| marks_of(row).unwrap_or_else(|| panic!("marks.txt: {row}")))
            .collect()
    });
    MARKS.iter()
}

fn marks_of(row: &'static str) -> Option<Vec<SignatureBytes>> {
    let columns: Vec<&str> = row.split('|').map(str::trim).collect();
    let [name, kinds, bytes, places] = columns.try_into().ok()?;
    let places = places.split(", ").map(MarkPosition::of);
    let places: Vec<MarkPosition> = places.collect::<Option<_>>()?;
    let marks = alternatives(bytes)?
        .into_iter()
        .map(|bytes| SignatureBytes {
            name,
            kinds,
            bytes,
            places: places.clone(),
        });
    Some(marks.collect())
}

/// What a blank separates: text in quotes, and bytes as hexadecimal digits.
fn alternatives(text: &str) -> Option<Vec<Vec<u8>>> {
    let mut found = vec![Vec::new()];
    for (number, part) in text.split('"').enumerate() {
        if number % 2 == 1 {
            found.last_mut()?.extend_from_slice(part.as_bytes());
            continue;
        }
        for (number, digits) in part.split(' ').enumerate() {
            if number > 0 {
                found.push(Vec::new());
            }
            for at in (0..digits.len()).step_by(2) {
                let byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
                found.last_mut()?.push(byte);
            }
        }
    }
    found.iter().all(|bytes| !bytes.is_empty()).then_some(found)
}

/// A sum of bytes, sectors, KiB, MiB and GiB, such as `-4K+28`.
fn sum_of(text: &str) -> Option<i64> {
    let text = text.replace('-', "+-");
    let parts = text.split('+').filter(|part| !part.is_empty());
    let bytes = parts.map(|part| {
        let units = [("s", 512), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)];
        let mut known = units.into_iter();
        let known = known.find_map(|(unit, bytes)| Some((part.strip_suffix(unit)?, bytes)));
        let (count, bytes) = known.unwrap_or((part, 1));
        Some(count.parse::<i64>().ok()? * bytes)
    });
    bytes.sum()
}
