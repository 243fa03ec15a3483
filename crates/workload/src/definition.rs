//! Workload definitions: a name, the types of control threads, and their number.
//!
//! A definition is TOML that a user prints, copies and edits; seven are built in. This module holds
//! definitions and turns them into specifications; it opens no file.
//!
//! Source: the RPT manual of 1995, "Test files" and "The standard workloads".

use crate::address::Partition;
use crate::content::Content;
use crate::control::{ControlSpec, Placement, ThreadType};
use crate::mix::Gap;
use crate::op::TargetId;
use crate::threads::{ConstraintError, ThreadParameters, check_threads};
use toml_reader::TomlFaults;

mod built_in;
mod content;
mod keys;
mod notation;
mod profiles;
mod reader;
mod values;
mod writer;

pub use built_in::BUILT_IN_WORKLOADS;
pub use profiles::parse_profiles;

units::words! {
    /// How the number of threads is determined.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WorkloadGroup {
        /// Threads are added until response-time levels are reached.
        Transaction = "transaction",
        /// A fixed number of threads runs.
        Batch = "batch",
    }
}

/// A workload that meets all constraints which do not depend on the file.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadDefinition {
    /// The name to type.
    pub name: String,
    /// Title in reports.
    pub title: String,
    /// How the number of threads is determined.
    pub group: WorkloadGroup,
    /// The fixed number of threads; `None` if they are added one by one.
    pub threads: Option<u32>,
    /// Content of writes.
    pub content: Content,
    /// At least one; all divide the file in the same way.
    types: Vec<ThreadType>,
}

impl WorkloadDefinition {
    /// A definition of these types. Without a group, it is batch when the number of threads is
    /// fixed and one of them never waits. Zero or no threads mean a variable number.
    ///
    /// # Errors
    /// All violated constraints.
    pub fn new(
        name: &str,
        title: &str,
        group: Option<WorkloadGroup>,
        threads: Option<u32>,
        types: &[ThreadParameters],
    ) -> Result<Self, Vec<ConstraintError>> {
        let types = check_threads(types, None)?;
        let threads = threads.filter(|&count| count > 0);
        let is_batch = threads.is_some() && types.iter().any(ThreadType::is_batch);
        let group = group.unwrap_or(if is_batch {
            WorkloadGroup::Batch
        } else {
            WorkloadGroup::Transaction
        });
        Ok(Self {
            name: name.to_owned(),
            title: title.to_owned(),
            group,
            threads,
            content: Content::default(),
            types,
        })
    }

    /// Parses a definition; `file_name` is for messages only.
    ///
    /// # Errors
    /// All mistakes that can be found at once, with their lines.
    // fuzzed: workload
    pub fn parse(text: &str, file_name: &str) -> Result<Self, TomlFaults> {
        reader::read(text, file_name)
    }

    /// A built-in workload by its name, or by its number from 1 to 7.
    pub fn built_in(name: &str) -> Option<Self> {
        built_in::find(name).map(|(name, text)| Self::parse_built_in(name, text))
    }

    /// The built-in workloads in the order of the document.
    pub fn all_built_in() -> Vec<Self> {
        BUILT_IN_WORKLOADS
            .map(|(name, text)| Self::parse_built_in(name, text))
            .into()
    }

    /// The commented text of a built-in workload, to print, copy and edit.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        built_in::find(name).map(|(_, text)| text)
    }

    fn parse_built_in(name: &str, text: &str) -> Self {
        match Self::parse(text, name) {
            Ok(definition) => definition,
            Err(error) => panic!("a built-in workload is wrong: {error}"),
        }
    }

    /// The types in order of creation, at least one.
    pub fn types(&self) -> &[ThreadType] {
        &self.types
    }

    /// How threads share the file.
    pub fn partition(&self) -> Partition {
        self.types[0].partition
    }

    /// Bytes of a block.
    pub fn block(&self) -> u64 {
        self.types[0].block
    }

    /// Shares into which the file is divided.
    pub fn shares(&self) -> u32 {
        self.types[0].shares
    }

    /// The specification on `len` bytes of a target. `iops_per_client` replaces the mean rate of
    /// every type with a clock.
    ///
    /// # Errors
    /// If the target is too small or the rate is invalid.
    pub fn spec(
        &self,
        target: TargetId,
        len: u64,
        iops_per_client: Option<f64>,
    ) -> Result<ControlSpec, Vec<ConstraintError>> {
        let parameters: Vec<_> = self
            .types
            .iter()
            .map(|kind| {
                let mut parameters = unresolved(kind);
                if let (Some(clock), Some(rate)) = (&mut parameters.clock, iops_per_client) {
                    *clock = with_rate(*clock, rate);
                }
                parameters
            })
            .collect();
        Ok(ControlSpec {
            target,
            len,
            types: check_threads(&parameters, Some(len))?,
            content: self.content.clone().settled(),
        })
    }

    /// The same with this rate for every client that waits.
    pub fn at_rate(&self, iops_per_client: Option<f64>) -> Self {
        let mut same = self.clone();
        if let Some(rate) = iops_per_client {
            let clocks = same.types.iter_mut().filter_map(|kind| kind.clock.as_mut());
            clocks.for_each(|clock| *clock = with_rate(*clock, rate));
        }
        same
    }

    /// The definition as TOML, which [`WorkloadDefinition::parse`] parses to the same.
    pub fn to_toml(&self) -> String {
        writer::write(self)
    }
}

/// The same shape with another mean rate.
fn with_rate(clock: Gap, rate: f64) -> Gap {
    Gap {
        shape: clock.shape,
        mean_ns: 1e9 / rate,
    }
}

/// Parameters that resolve to this checked type.
fn unresolved(kind: &ThreadType) -> ThreadParameters {
    ThreadParameters {
        name: kind.name.clone(),
        count: i64::from(kind.count),
        data_file: None,
        partition: kind.partition,
        block_bytes: kind.block.cast_signed(),
        io_bytes: i64::from(kind.io_size),
        io_offset: match kind.placement {
            Placement::Packed => -1,
            Placement::Offset(offset) => offset.cast_signed(),
        },
        threads_max: i64::from(kind.shares),
        control_thread: None,
        reads: i64::from(kind.reads),
        writes: i64::from(kind.writes),
        pattern: kind.pattern,
        clock: kind.clock,
        ios_per_message: i64::from(kind.ios_per_message),
    }
}
