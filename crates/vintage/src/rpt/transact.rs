//! The switches of `transact`, the program that each control thread runs.
//!
//! Source: the RPT manual of 1995, "Workload Definition".

use std::fmt::Write as _;

use units::Bytes;
use workload::{Gap, GapShape, IOS_PER_MESSAGE_MAX, Partition, Pattern, ThreadParameters};

use crate::fault::quoted;

/// Default data file.
pub const DATA_FILE: &str = "/data/raidtest.dat";
/// Name of the program.
pub const PROGRAM: &str = "transact";
/// The largest verbosity of `transact`.
const VERBOSE_MAX: i64 = 4;

/// All settings of the switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Transact {
    /// `-a`: 0 contiguous, 1 interleaved, 2 contentious.
    pub access_mode: i64,
    /// `-b`: bytes of a block.
    pub block_size: i64,
    /// `-B`: bytes of the data file.
    pub data_size: Option<u64>,
    /// `-c`: number of the control thread.
    pub control_thread: i64,
    /// `-C`: maximum possible number of control threads.
    pub control_threads: i64,
    /// `-i`: bytes from the beginning of a block to the I/O; packed below zero.
    pub io_offset: i64,
    /// `-I`: bytes of an I/O; zero is the block.
    pub io_size: i64,
    /// `-n`: I/Os in a message.
    pub nios: i64,
    /// `-r`: relative number of reads.
    pub reads: i64,
    /// `-w`: relative number of writes.
    pub writes: i64,
    /// `-s`: scale of the spatial distribution.
    pub spatial_scale: f64,
    /// `-S`: 0 sequential, 1 uniform, 2 hyperbolic, 3 exponential.
    pub spatial: i64,
    /// `-t`: mean I/Os per second.
    pub time_scale: f64,
    /// `-T`: 0 constant (no waiting), 1 uniform, 2 and 3 exponential.
    pub time: i64,
    /// `-f`: the data file.
    pub data_file: String,
    /// `-v`: 3 fine, 4 very fine detail.
    pub verbose: i64,
}

impl Default for Transact {
    fn default() -> Self {
        Self {
            access_mode: 0,
            block_size: 1,
            data_size: None,
            control_thread: 0,
            control_threads: 0,
            io_offset: -1,
            io_size: 0,
            nios: 100,
            reads: 0,
            writes: 0,
            spatial_scale: 1.0,
            spatial: 0,
            time_scale: 5.0,
            time: 0,
            data_file: DATA_FILE.into(),
            verbose: 0,
        }
    }
}

impl Transact {
    /// Applies the switch `flag` (such as `-b`).
    ///
    /// # Errors
    /// If there is no such switch, or the value is invalid.
    pub fn set(&mut self, flag: &str, value: &str) -> Result<(), String> {
        match flag {
            "-a" => self.access_mode = choice(value, 2)?,
            "-b" => self.block_size = bytes(value)?,
            "-B" => self.data_size = Some(data_size(value)?),
            "-c" => self.control_thread = whole(value)?,
            "-C" => self.control_threads = whole(value)?,
            "-i" => self.io_offset = bytes(value)?,
            "-I" => self.io_size = bytes(value)?,
            "-n" => self.nios = nios(value)?,
            "-r" => self.reads = whole(value)?,
            "-w" => self.writes = whole(value)?,
            "-s" => self.spatial_scale = number(value)?,
            "-S" => self.spatial = choice(value, 3)?,
            "-t" => self.time_scale = number(value)?,
            "-T" => self.time = choice(value, 3)?,
            "-f" => value.clone_into(&mut self.data_file),
            "-v" => self.verbose = choice(value, VERBOSE_MAX)?,
            _ => return Err(format!("{PROGRAM} has no switch {}", quoted(flag))),
        }
        Ok(())
    }

    /// The parameters of a type of `count` threads.
    ///
    /// # Errors
    /// If a sequential step is not an integer.
    pub fn parameters(&self, name: &str, count: i64) -> Result<ThreadParameters, String> {
        Ok(ThreadParameters {
            name: name.to_owned(),
            count,
            data_file: Some(self.data_file.clone()),
            partition: match self.access_mode {
                1 => Partition::Interleaved,
                2 => Partition::Contending,
                _ => Partition::Contiguous,
            },
            block_bytes: self.block_size,
            io_bytes: self.io_size,
            io_offset: self.io_offset,
            threads_max: self.control_threads,
            control_thread: Some(self.control_thread),
            reads: self.reads,
            writes: self.writes,
            pattern: self.pattern()?,
            clock: self.clock(),
            ios_per_message: self.nios,
        })
    }

    fn pattern(&self) -> Result<Pattern, String> {
        let scale = self.spatial_scale;
        Ok(match self.spatial {
            1 => Pattern::Uniform,
            2 => Pattern::Hyperbolic { alpha: scale },
            3 => Pattern::ExponentialSteps { mean: scale },
            _ if scale >= 1.0 && scale.fract() == 0.0 && scale < 9e15 => {
                Pattern::Sequential { step: scale as u64 }
            }
            _ => {
                return Err(format!(
                    "the sequential step -s is {scale}, and must be a whole number from 1 on"
                ));
            }
        })
    }

    fn clock(&self) -> Option<Gap> {
        let shape = match self.time {
            0 => return None,
            1 => GapShape::Uniform,
            _ => GapShape::Exponential,
        };
        Some(Gap {
            shape,
            mean_ns: 1e9 / self.time_scale,
        })
    }
}

/// A command line from flags and values, in the order given.
pub fn command_line<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut line = PROGRAM.to_owned();
    for (flag, value) in pairs {
        let is_plain = !value.is_empty() && !value.contains(char::is_whitespace);
        let _ = if is_plain {
            write!(line, " {flag} {value}")
        } else {
            write!(line, " {flag} \"{value}\"")
        };
    }
    line
}

/// A size of a data file in bytes.
///
/// # Errors
/// If it is not a size, or zero.
pub fn data_size(text: &str) -> Result<u64, String> {
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err("a data file of no bytes holds no data".into()),
        Ok(size) => Ok(size.0),
        Err(error) => Err(error.to_string()),
    }
}

fn bytes(text: &str) -> Result<i64, String> {
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number);
    }
    let size: Bytes = text.parse().map_err(|_| no_number(text))?;
    i64::try_from(size.0).map_err(|_| no_number(text))
}

/// A thread whose messages never end would never report.
fn nios(text: &str) -> Result<i64, String> {
    match whole(text)? {
        value if value > i64::from(IOS_PER_MESSAGE_MAX) => Err(format!(
            "is {value}, and must be {IOS_PER_MESSAGE_MAX} or less: a thread tells nothing before \
             that many I/Os are done"
        )),
        value => Ok(value),
    }
}

pub(crate) fn whole(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| no_number(text))
}

pub(crate) fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| no_number(text))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(no_number(text))
    }
}

pub(crate) fn choice(text: &str, most: i64) -> Result<i64, String> {
    let value = whole(text)?;
    if (0..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("is {value}, and must be 0 to {most}"))
    }
}

fn no_number(text: &str) -> String {
    format!("{} is not the number that is needed here", quoted(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Placement, check_threads};

    fn of(text: &str) -> Result<Transact, String> {
        let mut transact = Transact::default();
        let mut words = text.split_whitespace().skip(1);
        while let (Some(flag), Some(value)) = (words.next(), words.next()) {
            transact.set(flag, value)?;
        }
        Ok(transact)
    }

    #[test]
    fn the_manuals_transaction_thread_is_read() {
        let transact = of(
            "transact -f /data/raidtest.dat -a 1 -b 4096 -c 0 -C 50 -n 100 -r 2 -w 1 \
                           -S 2 -s 0.5 -T 2 -t 20.000000",
        )
        .expect("valid switches");
        let parameters = transact.parameters("T", 1).expect("valid values");
        let kinds = check_threads(&[parameters], Some(800 << 20)).expect("no constraint violated");
        let kind = &kinds[0];
        assert_eq!(
            (kind.partition, kind.block, kind.shares),
            (Partition::Interleaved, 4096, 50)
        );
        assert_eq!((kind.io_size, kind.placement), (4096, Placement::Packed));
        assert_eq!(kind.pattern, Pattern::Hyperbolic { alpha: 0.5 });
        assert_eq!(kind.clock.map(|gap| gap.mean_ns), Some(5e7));
        assert_eq!((kind.reads, kind.writes, kind.ios_per_message), (2, 1, 100));
    }

    #[test]
    fn the_manuals_batch_thread_never_waits() {
        let transact = of(
            "transact -f /data/raidtest.dat -a 0 -b 65536 -c 0 -C 5 -n 80 -r 4 -w 1 \
                           -S 0 -s 1 -T 0 -t 20.000000",
        )
        .expect("valid switches");
        let parameters = transact.parameters("B", 5).expect("valid values");
        assert_eq!(parameters.clock, None);
        assert_eq!(parameters.pattern, Pattern::Sequential { step: 1 });
    }

    #[test]
    fn without_reads_and_writes_it_reads() {
        let parameters = of("transact -C 1 -b 4096").and_then(|found| found.parameters("R", 1));
        let kinds = check_threads(&[parameters.expect("valid values")], None);
        let kinds = kinds.expect("no constraint violated");
        assert_eq!((kinds[0].reads, kinds[0].writes), (1, 0));
    }

    #[test]
    fn wrong_values_are_named() {
        let check = |text: &str, expected: &str| {
            let error = of(text)
                .and_then(|found| found.parameters("X", 1))
                .expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("t -a 3", "is 3, and must be 0 to 2");
        check("t -b 4x", "\"4x\" is not the number");
        check("t -x 1", "has no switch \"-x\"");
        check("t -s 0.5", "sequential step -s is 0.5");
        check("t -t nan", "\"nan\" is not the number");
        check("t -B 0", "no bytes");
    }

    #[test]
    fn a_command_line_keeps_order_and_spelling() {
        let line = command_line([("-f", "/data/a b"), ("-t", "20.000000")].into_iter());
        assert_eq!(line, "transact -f \"/data/a b\" -t 20.000000");
    }
}
