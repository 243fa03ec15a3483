//! Block sizes: one, a range, or a weighted split.

use crate::number::{KbBase, size};

/// A size with its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    pub bytes: u64,
    /// Weight among the other sizes.
    pub weight: u64,
}

/// The sizes of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSizes {
    /// At least one, ascending unless written otherwise.
    pub sizes: Vec<SizeShare>,
}

/// Maximum number of sizes per direction.
const SIZES_MAX: usize = 4096;
/// Minimum block of a split: a smaller number was probably meant as a percentage.
const SECTOR: u64 = 512;
/// Maximum size of a trim, bytes.
const BYTES_MAX: u64 = u32::MAX as u64;
/// Maximum size of a read or write, bytes, since they need memory.
pub(crate) const MOVED_MAX: u64 = 1 << 30;

impl BlockSizes {
    /// One size.
    pub fn fixed(bytes: u64) -> Self {
        let sizes = vec![SizeShare { bytes, weight: 1 }];
        Self { sizes }
    }

    /// All multiples of the smallest size up to the largest, equally likely; the rest above the
    /// last goes to the largest.
    ///
    /// # Errors
    /// If a size is unsupported, the first exceeds the second, or there are too many.
    pub fn between(least: u64, most: u64) -> Result<Self, String> {
        let (least, most) = (checked(least)?, checked(most)?);
        if least > most {
            return Err("the first size is above the second".into());
        }
        let count = (most / least) as usize;
        if count > SIZES_MAX {
            return Err(format!("more than {SIZES_MAX} sizes"));
        }
        let multiples = (1..=count as u64).map(|number| SizeShare {
            bytes: number * least,
            weight: least,
        });
        let rest = SizeShare {
            bytes: most,
            weight: most % least,
        };
        let rest = Some(rest).filter(|it| it.weight > 0);
        Ok(Self {
            sizes: multiples.chain(rest).collect(),
        })
    }

    /// The smallest.
    pub fn least(&self) -> u64 {
        let bytes = self.sizes.iter().map(|size| size.bytes);
        bytes.min().unwrap_or(1)
    }

    /// The largest.
    pub fn most(&self) -> u64 {
        let bytes = self.sizes.iter().map(|size| size.bytes);
        bytes.max().unwrap_or(1)
    }

    /// Whether there is more than one.
    pub fn vary(&self) -> bool {
        self.sizes.len() > 1
    }
}

fn checked(bytes: u64) -> Result<u64, String> {
    match bytes {
        0 => Err("a block has at least one byte".into()),
        bytes if bytes > BYTES_MAX => Err(format!(
            "{bytes} bytes in one request: at most 1g, and less than 4g in a trim"
        )),
        bytes => Ok(bytes),
    }
}

/// The three parts of a triplet: the last value applies to the rest; one left out between commas is
/// `None`.
pub(crate) fn triplet(text: &str) -> Result<[Option<&str>; 3], String> {
    let parts: Vec<&str> = text.split(',').collect();
    let part = |at: usize| {
        let text = parts.get(at).or(parts.last()).copied();
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    match parts.len() > 3 {
        true => Err(format!(
            "{text}: at most three values, for reads, writes and trims"
        )),
        false => Ok([part(0), part(1), part(2)]),
    }
}

/// The two sizes of `bs=4k-16k`, which is not a range: the first is for reads, the second for
/// everything else.
pub(crate) fn pair_of_sizes(text: &str) -> Option<(&str, &str)> {
    let (first, second) = text.split_once(['-', ':'])?;
    let is_one = |it: &str| !it.is_empty() && !it.contains([',', '-', ':']);
    (is_one(first) && is_one(second)).then_some((first, second))
}

/// `bs=`.
pub(crate) fn fixed(text: &str, base: KbBase) -> Result<[Option<BlockSizes>; 3], String> {
    let read = |part: &str| Ok::<_, String>(BlockSizes::fixed(checked(size(part, base)?)?));
    if let Some((first, second)) = pair_of_sizes(text) {
        let second = read(second)?;
        return Ok([Some(read(first)?), Some(second.clone()), Some(second)]);
    }
    if text.contains(['-', ':']) {
        return Err(format!(
            "{text}: fio takes these sizes for reads, writes and trims. Write commas between \
             them, or bsrange=4k-16k for a range"
        ));
    }
    each(text, &read)
}

/// `bsrange=`. As in fio: all multiples of the smallest size, equally likely; the rest above the
/// last goes to the largest.
pub(crate) fn range(text: &str, base: KbBase) -> Result<[Option<BlockSizes>; 3], String> {
    each(text, &|part| {
        let (least, most) = part
            .split_once(['-', ':'])
            .ok_or_else(|| format!("{part}: a range is written 4k-16k"))?;
        let least = size(least.trim(), base)?;
        let most = size(most.trim(), base)?;
        BlockSizes::between(least, most).map_err(|why| format!("{part}: {why}"))
    })
}

/// `bssplit=`: sizes with percentages. As in fio, all are rounded down to multiples of the
/// smallest.
pub(crate) fn split(text: &str, base: KbBase) -> Result<[Option<BlockSizes>; 3], String> {
    each(text, &|part| {
        let entries: Vec<(u64, Option<u64>)> = part
            .split(':')
            .map(|entry| entry_of_split(entry, base))
            .collect::<Result<_, _>>()?;
        let given: u64 = entries.iter().filter_map(|(_, percent)| *percent).sum();
        let open = entries.iter().filter(|(_, percent)| percent.is_none());
        let open = open.count() as u64;
        if given > 100 || (open == 0 && given != 100) {
            return Err(format!(
                "{part}: the percentages add up to {given}, not to 100"
            ));
        }
        // In units of 1/100 of the number of sizes that share the rest.
        let parts = open.max(1);
        let sizes = entries.into_iter().map(|(bytes, percent)| SizeShare {
            bytes,
            weight: percent.map_or(100 - given, |percent| percent * parts),
        });
        let mut sizes: Vec<SizeShare> = sizes.filter(|size| size.weight > 0).collect();
        let least = sizes.iter().map(|size| size.bytes).min().unwrap_or(1);
        for size in &mut sizes {
            size.bytes -= size.bytes % least;
        }
        match sizes.len() {
            1..=SIZES_MAX => Ok(BlockSizes { sizes }),
            _ => Err(format!("{part}: give 1 to {SIZES_MAX} sizes")),
        }
    })
}

fn entry_of_split(entry: &str, base: KbBase) -> Result<(u64, Option<u64>), String> {
    let (bytes, percent) = match entry.split_once('/') {
        Some((bytes, percent)) => (bytes, percent),
        None => (entry, ""),
    };
    if entry.contains(',') || bytes.is_empty() {
        return Err(format!("{entry:?}: a split is written 4k/60:64k/40"));
    }
    let bytes = checked(size(bytes.trim(), base)?)?;
    if bytes < SECTOR && percent.is_empty() {
        return Err(format!(
            "fio takes {entry} for a size of {bytes} bytes. A split is written 4k/60:64k/40"
        ));
    }
    let percent = match percent.trim().trim_end_matches('%') {
        "" => None,
        text => match text.parse::<u64>() {
            Ok(percent) if percent <= 100 => Some(percent),
            _ => return Err(format!("{entry}: {text:?} is no percentage from 0 to 100")),
        },
    };
    Ok((bytes, percent))
}

fn each(
    text: &str,
    read: &dyn Fn(&str) -> Result<BlockSizes, String>,
) -> Result<[Option<BlockSizes>; 3], String> {
    let [one, two, three] = triplet(text)?;
    let read = |part: Option<&str>| part.map(read).transpose();
    Ok([read(one)?, read(two)?, read(three)?])
}
