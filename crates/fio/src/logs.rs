//! fio's logs: which files a job writes, and their content.

mod lines;

use units::Duration;

pub use lines::{JobLog, LoggedOp, TakeLine};

use crate::job::Job;
use crate::option::truth;
use crate::reader::Given;

/// Content of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogKind {
    /// From ready to issued, nanoseconds.
    Submission,
    /// From issued to completed, nanoseconds.
    Completion,
    /// Their sum, nanoseconds.
    Latency,
    /// KiB per second of a window; for a single operation, 1000 bytes per second.
    Bandwidth,
    /// Operations per second of a window; 1 for a single operation.
    Iops,
    /// Number of operations of a window in each class of completion latency.
    Histogram,
    /// Requests with file and time: `write_iolog`.
    Requests,
}

impl LogKind {
    /// The word in the file's name.
    const fn word(self) -> &'static str {
        match self {
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Latency => "lat",
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Histogram => "clat_hist",
            Self::Requests => "iolog",
        }
    }
}

/// Logged value of a window of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValue {
    #[default]
    Mean,
    Largest,
    /// Both, in this order.
    Both,
}

/// The logs of a job. An empty prefix means the job's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLogs {
    /// `write_bw_log`.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub iops: Option<String>,
    /// `write_lat_log`.
    pub latency: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `write_iolog`, which is the full name of the file.
    pub requests: Option<String>,
    /// Length of a window; zero logs every operation.
    pub window: Duration,
    /// Logged value of a window.
    pub value: WindowValue,
    /// Length of a histogram's window; zero for no histogram.
    pub histogram_window: Duration,
    /// Log2 of the number of histogram classes that are combined.
    pub coarseness: u32,
    /// Whether lines carry the offset.
    pub has_offset: bool,
    /// Whether priority is a hexadecimal number.
    pub has_priority: bool,
    /// Whether lines have the issue time.
    pub has_issue_time: bool,
    /// Whether times count from 1970.
    pub is_unix: bool,
    /// Whether each copy has its own files.
    pub is_per_job: bool,
    /// Whether the engine has a submission time to log, and not only an empty file.
    pub has_submission: bool,
    /// Whether requests have times at which they are due, from which no latency counts.
    pub has_rate: bool,
    /// Latencies that are omitted: submission, completion, and their sum.
    pub without: [bool; 3],
}

impl Default for JobLogs {
    fn default() -> Self {
        Self {
            bandwidth: None,
            iops: None,
            latency: None,
            histogram: None,
            requests: None,
            window: Duration::ZERO,
            value: WindowValue::Mean,
            histogram_window: Duration::ZERO,
            coarseness: 0,
            has_offset: false,
            has_priority: false,
            has_issue_time: false,
            is_unix: false,
            is_per_job: true,
            has_submission: true,
            has_rate: false,
            without: [false; 3],
        }
    }
}

/// A log file of a job's copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLogFile {
    /// Number of the copy over all jobs, from 0.
    pub copy: usize,
    /// Content.
    pub kind: LogKind,
    /// File name, possibly with a directory.
    pub name: String,
}

/// The log files of jobs, by copy. Without `per_job_logs`, several have the same name.
pub fn log_files(jobs: &[Job]) -> Vec<JobLogFile> {
    let copies = jobs
        .iter()
        .flat_map(|job| (0..job.copies).map(move |own| (job, own)));
    let files = copies.enumerate().flat_map(|(copy, (job, own))| {
        let kinds = job.reports.logs.kinds();
        let file = move |(kind, prefix): (LogKind, String)| JobLogFile {
            copy,
            kind,
            name: name_of(job, kind, &prefix, (own, copy + 1)),
        };
        kinds.into_iter().map(file)
    });
    files.collect()
}

fn name_of(job: &Job, kind: LogKind, prefix: &str, (copy, number): (u32, usize)) -> String {
    if kind == LogKind::Requests {
        return prefix.to_owned();
    }
    let prefix = match prefix {
        "" => job.name_of_copy(copy),
        prefix => prefix,
    };
    let word = kind.word();
    match job.reports.logs.is_per_job {
        true => format!("{prefix}_{word}.{number}.log"),
        false => format!("{prefix}_{word}.log"),
    }
}

impl JobLogs {
    fn kinds(&self) -> Vec<(LogKind, String)> {
        let [submission, completion, sum] = self.without.map(|is_without| !is_without);
        let all = [
            (LogKind::Submission, &self.latency, submission),
            (LogKind::Completion, &self.latency, completion),
            (LogKind::Latency, &self.latency, sum),
            (LogKind::Bandwidth, &self.bandwidth, true),
            (LogKind::Iops, &self.iops, true),
            (LogKind::Histogram, &self.histogram, true),
            (LogKind::Requests, &self.requests, true),
        ];
        let wanted = all.into_iter().filter(|(_, _, is_wanted)| *is_wanted);
        let named = wanted.filter_map(|(kind, prefix, _)| Some((kind, prefix.clone()?)));
        named.collect()
    }

    /// Those with lines: for synchronous engines fio leaves `slat` empty.
    fn kinds_with_lines(&self) -> Vec<LogKind> {
        let kinds = self.kinds().into_iter().map(|(kind, _)| kind);
        let has_lines = |kind: &LogKind| *kind != LogKind::Submission || self.has_submission;
        kinds.filter(has_lines).collect()
    }

    /// Applies an option about logs. Returns whether it was one.
    pub(crate) fn set(
        &mut self,
        given: &Given,
        number: impl Fn() -> Result<u64, String>,
    ) -> Result<bool, String> {
        let text = given.value.as_deref().unwrap_or_default();
        let is_set = || truth(if text.is_empty() { "1" } else { text });
        let millis = || Ok::<_, String>(Duration::from_millis(number()?));
        match given.option.name {
            "write_bw_log" => self.bandwidth = Some(text.to_owned()),
            "write_iops_log" => self.iops = Some(text.to_owned()),
            "write_lat_log" => self.latency = Some(text.to_owned()),
            "write_hist_log" => self.histogram = Some(text.to_owned()),
            "write_iolog" => self.requests = Some(text.to_owned()),
            "log_avg_msec" => self.window = millis()?,
            "log_hist_msec" => self.histogram_window = millis()?,
            "log_hist_coarseness" => self.coarseness = number()? as u32,
            "log_window_value" | "log_max_value" => {
                self.value = match text {
                    "avg" | "0" => WindowValue::Mean,
                    "both" => WindowValue::Both,
                    _ => WindowValue::Largest,
                }
            }
            "log_offset" => self.has_offset = is_set()?,
            "log_prio" => self.has_priority = is_set()?,
            "log_issue_time" => self.has_issue_time = is_set()?,
            "log_unix_epoch" | "log_alternate_epoch" => self.is_unix = is_set()?,
            "per_job_logs" => self.is_per_job = is_set()?,
            "disable_slat" => self.without[0] = is_set()?,
            "disable_clat" => self.without[1] = is_set()?,
            "disable_lat" => self.without[2] = is_set()?,
            "gtod_reduce" => self.without = [is_set()?; 3],
            _ => return Ok(false),
        }
        Ok(true)
    }
}
