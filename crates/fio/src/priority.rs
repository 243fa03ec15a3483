//! I/O priorities of a job's requests: `cmdprio_percentage`, `cmdprio_bssplit` and related options.

use crate::number::{KbBase, size};

/// Default class of prioritised requests: real time.
const CLASS: u16 = 1;
/// Number of classes and levels in Linux.
const CLASS_MAX: u16 = 3;
const LEVEL_MAX: u16 = 7;

/// A share of requests of one size with its own priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrioritySplit {
    pub bytes: u64,
    pub percent: u32,
    /// Class and level; the direction's default if absent.
    pub priority: Option<(u16, u16)>,
}

/// Priorities of reads, or of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectionPriority {
    /// Percentage of prioritised requests.
    pub percent: u32,
    /// The class, and the level within it.
    pub class: u16,
    pub level: u16,
    /// The same by size, which takes precedence over `percent`.
    pub split: Vec<PrioritySplit>,
}

impl Default for DirectionPriority {
    fn default() -> Self {
        Self {
            percent: 0,
            class: CLASS,
            level: 0,
            split: Vec::new(),
        }
    }
}

/// Priorities of reads and of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPriorities(pub [DirectionPriority; 2]);

impl JobPriorities {
    /// Whether requests have different priorities.
    pub fn are_any(&self) -> bool {
        let mut each = self.0.iter();
        each.any(|it| it.percent > 0 || it.split.iter().any(|it| it.percent > 0))
    }

    /// Applies an option about priorities. Returns whether it was one.
    pub(crate) fn set(&mut self, name: &str, text: &str, base: KbBase) -> Result<bool, String> {
        if name == "cmdprio_bssplit" {
            for (own, part) in self
                .0
                .iter_mut()
                .zip(both(text, &|part| split(part, base))?)
            {
                own.split = part;
            }
            return Ok(true);
        }
        let most = match name {
            "cmdprio_percentage" => 100,
            "cmdprio_class" => CLASS_MAX,
            "cmdprio" => LEVEL_MAX,
            _ => return Ok(false),
        };
        let values = both(text, &|part| number(part, most))?;
        for (own, value) in self.0.iter_mut().zip(values) {
            match name {
                "cmdprio_percentage" => own.percent = value.into(),
                "cmdprio_class" => own.class = value,
                _ => own.level = value,
            }
        }
        Ok(true)
    }
}

/// The values for reads and for writes; a single one applies to both.
fn both<T: Clone>(text: &str, read: &dyn Fn(&str) -> Result<T, String>) -> Result<[T; 2], String> {
    let (reads, writes) = text.split_once(',').unwrap_or((text, text));
    Ok([read(reads)?, read(writes)?])
}

fn number(text: &str, most: u16) -> Result<u16, String> {
    let read: Option<u16> = text.trim().parse().ok();
    let read = read.filter(|it| *it <= most);
    read.ok_or_else(|| format!("{text:?} is no number from 0 to {most}"))
}

/// Sizes with percentages, each with an optional class and level: `64k/25/1/1:64k/75/3/2:1m/0`.
fn split(text: &str, base: KbBase) -> Result<Vec<PrioritySplit>, String> {
    let entry = |text: &str| {
        let parts: Vec<&str> = text.split('/').collect();
        let priority = match parts[..] {
            [_, _] => None,
            [_, _, class, level] => Some((number(class, CLASS_MAX)?, number(level, LEVEL_MAX)?)),
            _ => {
                return Err(format!(
                    "{text:?} is not SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL"
                ));
            }
        };
        Ok(PrioritySplit {
            bytes: size(parts[0], base)?,
            percent: number(parts[1], 100)?.into(),
            priority,
        })
    };
    let entries: Vec<PrioritySplit> = text.split(':').map(entry).collect::<Result<_, _>>()?;
    let of = |bytes: u64| entries.iter().filter(move |it| it.bytes == bytes);
    let is_over = |it: &&PrioritySplit| of(it.bytes).map(|it| it.percent).sum::<u32>() > 100;
    match entries.iter().find(is_over) {
        Some(over) => Err(format!(
            "the percentages of {} bytes exceed 100",
            over.bytes
        )),
        None => Ok(entries),
    }
}
