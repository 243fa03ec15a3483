//! Unchecked parameters of control threads, and their constraints.
//!
//! Parses nothing: definitions, classic parameter files and command lines all lead here, so that
//! each constraint has one message.
//!
//! Source: the RPT manual of 1995, "Constraints". It writes `ioOffset < blocksize - iosize` under
//! the heading that an operation fits within its block. Taken literally that forbids offset 0 for
//! an operation as large as its block, and the last place of every block; what fits is `ioOffset <=
//! blocksize - iosize`.

use std::ops::RangeInclusive;

use random::Zipf;
use thiserror::Error;

use crate::address::{Partition, Pattern, THETA_MIN};
use crate::control::{Placement, ThreadType};
use crate::mix::Gap;

/// The largest operation: 1 GiB.
pub const IO_BYTES_MAX: u64 = 1 << 30;

/// Maximum number of threads in a workload: simulated ones are all kept in memory.
pub const THREADS_MAX: u32 = 100_000;
/// Maximum number of I/Os summed in a message, since results are known only after a whole one.
pub const IOS_PER_MESSAGE_MAX: u32 = 1_000_000;

/// Maximum length of a name quoted in a message.
const QUOTED_CHARS_MAX: usize = 60;

/// Unchecked parameters of one type of control thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadParameters {
    /// Its name.
    pub name: String,
    /// Threads of this type created in a row before the next type's turn.
    pub count: i64,
    /// Its own data file, if a type may have one.
    pub data_file: Option<String>,
    /// How threads share the file.
    pub partition: Partition,
    pub block_bytes: i64,
    /// Bytes of an operation; zero for the whole block.
    pub io_bytes: i64,
    /// Offset of the single operation in a block; negative for packed operations.
    pub io_offset: i64,
    /// Shares into which the file is divided.
    pub threads_max: i64,
    /// Fixed share of a thread, if requested (classic programs only).
    pub control_thread: Option<i64>,
    /// Relative number of reads.
    pub reads: i64,
    /// Relative number of writes; zero reads and writes mean reads only.
    pub writes: i64,
    /// Order of positions.
    pub pattern: Pattern,
    /// Gaps of the program clock; `None` never waits.
    pub clock: Option<Gap>,
    /// Operations summed in one message.
    pub ios_per_message: i64,
}

/// A violated constraint.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{text}")]
pub struct ConstraintError {
    /// Both values, and what to do.
    text: String,
    /// Whether the number of shares is too large for any file.
    pub is_of_shares: bool,
}

impl ConstraintError {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_of_shares: false,
        }
    }
}

/// Checks all constraints on the types of a workload; `file_bytes` is the size of the file, if
/// known.
///
/// # Errors
/// All violations, by type, then those of the types together.
pub fn check_threads(
    types: &[ThreadParameters],
    file_bytes: Option<u64>,
) -> Result<Vec<ThreadType>, Vec<ConstraintError>> {
    let mut errors = Vec::new();
    if types.is_empty() {
        let text = "a workload without threads: define one type of thread at least";
        errors.push(ConstraintError::new(text));
    }
    let mut resolved = Vec::new();
    for parameters in types {
        let check = TypeCheck {
            kind: shortened(&parameters.name),
            parameters,
            errors: &mut errors,
        };
        resolved.extend(check.resolve(file_bytes));
    }
    check_alike(types, &mut errors);
    check_sizes(types, file_bytes, &mut errors);
    check_total(types, &mut errors);
    if errors.is_empty() {
        Ok(resolved)
    } else {
        Err(errors)
    }
}

/// Checks of a single type.
struct TypeCheck<'a> {
    kind: String,
    parameters: &'a ThreadParameters,
    errors: &'a mut Vec<ConstraintError>,
}

impl TypeCheck<'_> {
    fn resolve(mut self, file_bytes: Option<u64>) -> Option<ThreadType> {
        let written = self.parameters;
        let errors_before = self.errors.len();
        let most = u32::MAX;
        let count = self.counted("number of threads", written.count, 1..=THREADS_MAX);
        let shares = self.counted("maximum of threads", written.threads_max, 1..=most);
        let reads = self.counted("number of reads", written.reads, 0..=most);
        let writes = self.counted("number of writes", written.writes, 0..=most);
        let ios_per_message = self.counted(
            "number of I/Os per message",
            written.ios_per_message,
            1..=IOS_PER_MESSAGE_MAX,
        );
        let block = self.at_least("block size", written.block_bytes, 1);
        let io = self.at_least("I/O size", written.io_bytes, 0);
        let places = match (block, io) {
            (Some(block), Some(io)) => self.places(block, if io == 0 { block } else { io }),
            _ => None,
        };
        self.check_control_thread();
        self.check_pattern();
        self.check_clock();
        let kind = ThreadType {
            name: written.name.clone(),
            count: count?,
            partition: written.partition,
            block: block?,
            shares: shares?,
            io_size: places?.0,
            placement: places?.1,
            reads: if (reads?, writes?) == (0, 0) {
                1
            } else {
                reads?
            },
            writes: writes?,
            pattern: written.pattern,
            clock: written.clock,
            ios_per_message: ios_per_message?,
        };
        self.check_ranks(&kind, file_bytes);
        (self.errors.len() == errors_before).then_some(kind)
    }

    fn complain(&mut self, text: &str) {
        let text = format!("type {:?}: {text}", self.kind);
        self.errors.push(ConstraintError::new(text));
    }

    fn at_least(&mut self, what: &str, value: i64, min: i64) -> Option<u64> {
        if value >= min {
            return u64::try_from(value).ok();
        }
        self.complain(&format!("the {what} is {value}, and must be {min} or more"));
        None
    }

    fn counted(&mut self, what: &str, value: i64, range: RangeInclusive<u32>) -> Option<u32> {
        let wide = self.at_least(what, value, i64::from(*range.start()))?;
        let narrow = u32::try_from(wide).ok().filter(|it| range.contains(it));
        if narrow.is_none() {
            let most = range.end();
            self.complain(&format!(
                "the {what} is {value}, and must be {most} or less"
            ));
        }
        narrow
    }

    /// Size and placement of the operations in a block.
    fn places(&mut self, block: u64, io: u64) -> Option<(u32, Placement)> {
        let errors_before = self.errors.len();
        if io > block {
            self.complain(&format!(
                "the I/O size {io} does not fit into the block of {block} bytes. Make the block \
                 larger or the I/O smaller"
            ));
        }
        if io > IO_BYTES_MAX {
            self.complain(&format!(
                "the I/O size is {io}, and must be {IO_BYTES_MAX} or less"
            ));
        }
        let placement = match u64::try_from(self.parameters.io_offset) {
            Err(_) => {
                if io <= block && !block.is_multiple_of(io) {
                    self.complain(&format!(
                        "the block of {block} bytes is no multiple of the I/O size {io}. I/Os \
                         cannot be packed. Choose an I/O size that divides the block, or a fixed \
                         offset"
                    ));
                }
                Placement::Packed
            }
            Ok(offset) => {
                if io <= block && offset > block - io {
                    self.complain(&format!(
                        "an I/O of {io} bytes at offset {offset} ends beyond the block of {block} \
                         bytes. Make the offset {} or less, or the I/O smaller",
                        block - io
                    ));
                }
                Placement::Offset(offset)
            }
        };
        let is_right = self.errors.len() == errors_before;
        let size = u32::try_from(io).ok().filter(|_| is_right);
        Some((size?, placement))
    }

    fn check_control_thread(&mut self) {
        let shares = self.parameters.threads_max;
        let Some(thread) = self.parameters.control_thread else {
            return;
        };
        // Contending threads share one area, whatever their number.
        let has_share = self.parameters.partition != Partition::Contending;
        let is_number = self.at_least("control thread", thread, 0).is_some();
        if is_number && has_share && shares > 0 && thread >= shares {
            self.complain(&format!(
                "control thread {thread} does not exist when the file has {shares} shares, \
                 counted from 0. Choose a smaller number or a larger maximum of threads"
            ));
        }
    }

    fn check_pattern(&mut self) {
        let positive = |value: f64| value > 0.0;
        let bounds = "above zero and finite";
        match self.parameters.pattern {
            Pattern::Uniform | Pattern::Zoned { .. } => {}
            Pattern::Sequential { step } => {
                if step == 0 {
                    self.bounded("sequential step", 0.0, |step| step >= 1.0, "1 or more");
                }
            }
            Pattern::Hyperbolic { alpha } => self.bounded("alpha", alpha, positive, bounds),
            Pattern::Zipf { theta } => {
                let is_allowed = |theta| theta >= THETA_MIN;
                self.bounded("theta", theta, is_allowed, "0.001 or more and finite");
            }
            Pattern::ExponentialSteps { mean } => {
                let bounds = "1 or more and finite";
                self.bounded("mean step", mean, |mean| mean >= 1.0, bounds);
            }
        }
    }

    fn check_clock(&mut self) {
        if let Some(gap) = self.parameters.clock {
            let rate = 1e9 / gap.mean_ns;
            let is_usable = |rate: f64| rate > 0.0 && gap.mean_ns.is_finite();
            let bounds = "above zero and finite";
            self.bounded("rate of I/Os per second", rate, is_usable, bounds);
        }
    }

    fn bounded(&mut self, what: &str, value: f64, is_allowed: impl Fn(f64) -> bool, bounds: &str) {
        if !(value.is_finite() && is_allowed(value)) {
            self.complain(&format!("the {what} is {value}, and must be {bounds}"));
        }
    }

    /// Zipf's law cannot rank more positions than doubles can distinguish.
    fn check_ranks(&mut self, kind: &ThreadType, file_bytes: Option<u64>) {
        let (Pattern::Zipf { .. }, Some(bytes)) = (kind.pattern, file_bytes) else {
            return;
        };
        let shares = match kind.partition {
            Partition::Contending => 1,
            Partition::Contiguous | Partition::Interleaved => u64::from(kind.shares),
        };
        let ranks = (bytes / kind.block / shares).saturating_mul(kind.places_in_block());
        let is_allowed = |_| ranks <= Zipf::RANKS_MAX;
        let what = "number of places that Zipf's law ranks";
        self.bounded(what, ranks as f64, is_allowed, "2^40 or less");
    }
}

/// All types divide the file in the same way.
fn check_alike(types: &[ThreadParameters], errors: &mut Vec<ConstraintError>) {
    let Some((first, others)) = types.split_first() else {
        return;
    };
    let facts = |kind: &ThreadParameters| {
        let file = kind
            .data_file
            .as_deref()
            .map_or("the default".to_owned(), quoted);
        [
            ("data file", file),
            ("access mode", mode(kind.partition).to_owned()),
            ("block size", kind.block_bytes.to_string()),
            ("maximum of threads", kind.threads_max.to_string()),
        ]
    };
    for other in others {
        for ((what, value), (_, value_first)) in facts(other).into_iter().zip(facts(first)) {
            let is_same = if what == "data file" {
                other.data_file == first.data_file
            } else {
                value == value_first
            };
            if !is_same {
                errors.push(ConstraintError::new(format!(
                    "type {}: the {what} {value} differs from the {value_first} of type {}. All \
                     threads of a workload divide one file alike. Give both types the same {what}",
                    quoted(&other.name),
                    quoted(&first.name)
                )));
            }
        }
    }
}

/// Each share has a block, and the last one can be addressed.
fn check_sizes(
    types: &[ThreadParameters],
    file_bytes: Option<u64>,
    errors: &mut Vec<ConstraintError>,
) {
    for kind in types {
        let sizes = (
            u64::try_from(kind.block_bytes),
            u64::try_from(kind.threads_max),
        );
        let (Ok(block @ 1..), Ok(threads @ 1..)) = sizes else {
            continue;
        };
        let shares = match kind.partition {
            Partition::Contending => 1,
            Partition::Contiguous | Partition::Interleaved => threads,
        };
        let needed = u128::from(block) * u128::from(shares);
        let error = match file_bytes {
            Some(file) if u128::from(file) < needed => ConstraintError::new(format!(
                "the file of {file} bytes is too small: {shares} shares with one block of {block} \
                 bytes each need {needed}. Use a larger file, smaller blocks or fewer shares"
            )),
            None if needed > i64::MAX as u128 => ConstraintError {
                text: format!(
                    "{shares} shares with blocks of {block} bytes are {needed} bytes. A file has \
                     2^63 - 1 at most. Use smaller blocks or fewer shares"
                ),
                is_of_shares: true,
            },
            _ => continue,
        };
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
}

/// All of them are held in memory at once.
fn check_total(types: &[ThreadParameters], errors: &mut Vec<ConstraintError>) {
    let counts = types.iter().map(|kind| i128::from(kind.count));
    let is_each_countable = counts.clone().all(|count| count <= i128::from(THREADS_MAX));
    let count: i128 = counts.sum();
    if is_each_countable && count > i128::from(THREADS_MAX) {
        errors.push(ConstraintError::new(format!(
            "all types together have {count} threads, and {THREADS_MAX} is the most: use fewer"
        )));
    }
}

/// The name of a partition.
pub(crate) const fn mode(partition: Partition) -> &'static str {
    match partition {
        Partition::Contiguous => "contiguous",
        Partition::Interleaved => "interleaved",
        Partition::Contending => "contentious",
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}

/// The start of a text of any length; messages stay on one line.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= QUOTED_CHARS_MAX {
        return text.to_owned();
    }
    text.chars()
        .take(QUOTED_CHARS_MAX)
        .chain("...".chars())
        .collect()
}
