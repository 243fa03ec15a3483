//! One workload of a plan, with its control threads.

use workload::{
    ConstraintError, ThreadParameters, ThreadType, WorkloadDefinition, advise, advise_on_durations,
    check_threads,
};

use crate::rpt::transact::command_line;

/// One workload, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its object's name.
    pub name: String,
    /// Threads of a batch workload; zero adds threads until the response time is reached.
    pub nthreads: u32,
    /// The file that its threads use.
    pub data_file: String,
    /// Required size of the file, if given.
    pub data_size: Option<u64>,
    /// Its types of thread as written, for constraints that depend on the file.
    pub parameters: Vec<ThreadParameters>,
    /// The checked types.
    pub types: Vec<ThreadType>,
    /// Flags and values of each type, in their order.
    pub pairs: Vec<Vec<(String, String)>>,
}

impl Workload {
    /// Whether the number of threads is fixed.
    pub const fn is_batch(&self) -> bool {
        self.nthreads > 0
    }

    /// The same in this program's form; violations are refused elsewhere.
    fn definition(&self) -> Option<WorkloadDefinition> {
        let threads = Some(self.nthreads);
        WorkloadDefinition::new(&self.name, &self.name, None, threads, &self.parameters).ok()
    }

    /// Warnings of the manual for a file of that size: conditions that make results doubtful.
    pub fn doubts(&self, file_bytes: u64, cache_bytes: Option<u64>) -> Vec<String> {
        let Some(definition) = self.definition() else {
            return Vec::new();
        };
        let all = advise(&definition, file_bytes, cache_bytes, None, None).into_iter();
        let doubts = all.filter(|advice| advice.is_doubt);
        doubts
            .map(|advice| format!("{}: {}", self.name, advice.text))
            .collect()
    }

    /// Place of the type of control thread `number`.
    pub fn type_of(&self, number: u32) -> usize {
        let cycle: u64 = self.types.iter().map(|kind| u64::from(kind.count)).sum();
        let mut left = u64::from(number) % cycle.max(1);
        for (place, kind) in self.types.iter().enumerate() {
            if left < u64::from(kind.count) {
                return place;
            }
            left -= u64::from(kind.count);
        }
        0
    }

    /// The command line of control thread `number`, as recorded in the run file.
    pub fn command_line(&self, number: u32) -> String {
        let number = number.to_string();
        let pairs = self.pairs[self.type_of(number.parse().unwrap_or(0))].iter();
        command_line(pairs.map(|(flag, value)| match flag.as_str() {
            "-c" => ("-c", number.as_str()),
            flag => (flag, value.as_str()),
        }))
    }

    /// Checks all constraints against the size of the data file.
    ///
    /// # Errors
    /// All violations.
    pub fn check_size(&self, file_bytes: u64) -> Result<(), Vec<ConstraintError>> {
        check_threads(&self.parameters, Some(file_bytes)).map(drop)
    }
}

/// The manual's warning about batch workloads whose messages differ much in bytes.
pub fn durations_differ(workloads: &[Workload]) -> Option<String> {
    let definitions: Vec<WorkloadDefinition> =
        workloads.iter().filter_map(Workload::definition).collect();
    advise_on_durations(&definitions).map(|advice| advice.text)
}
