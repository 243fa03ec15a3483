//! fio's jobs on several hosts: what is refused there, and the rows of the report, as
//! `fio --client` has them.

use fio::Job;
use fio::output::{ClientHost, JobReport, Usage};
use kinds::fio_jobs::{HostTimes, JobTimes};
use serde_json::Value;

use crate::args::FioArgs;
use crate::exit::UsageError;

/// Options that many hosts give no answer to.
///
/// # Errors
/// When there is one of them.
pub fn check_hosts(args: &FioArgs, jobs: &[Job]) -> Result<(), UsageError> {
    let any = |of: fn(&Job) -> bool| jobs.iter().any(of);
    let has_logs = |job: &Job| {
        let logs = &job.reports.logs;
        let names = [&logs.bandwidth, &logs.iops, &logs.latency, &logs.histogram];
        names.into_iter().any(Option::is_some)
    };
    let reads_back = "reads back on one host";
    let follows = "follows what one host does";
    let asked = [
        (any(|job| job.verify.is_on), "verify", reads_back),
        (args.verify_state.is_some(), "--verify-state", reads_back),
        (any(|job| job.steady.is_on()), "steadystate", follows),
        (
            any(|job| job.ends_all),
            "exitall without time_based",
            follows,
        ),
        (args.keep_files, "--keep-files", "leaves files of one host"),
        (any(has_logs), "a log (write_..._log)", follows),
        (args.status_interval.is_some(), "--status-interval", follows),
    ];
    match asked.into_iter().find(|(is_asked, ..)| *is_asked) {
        None => Ok(()),
        Some((_, what, why)) => Err(UsageError(format!(
            "{what} {why}. Leave it out, or start one rank"
        ))),
    }
}

/// The rows of each host, then their sums; `of` makes reports of rows.
pub fn client_reports(
    rows: &[JobTimes],
    hosts: &[HostTimes],
    of: impl Fn(&[JobTimes]) -> Vec<JobReport>,
) -> Vec<JobReport> {
    let mut reports = Vec::new();
    for host in hosts {
        let client = ClientHost {
            title: format!("rank {} on {}", host.rank, host.host),
            name: host.host.clone(),
        };
        for mut report in of(&host.rows) {
            report.client = Some(client.clone());
            if let Some(Value::Object(own)) = &mut report.own {
                own.insert("rank".into(), host.rank.into());
            }
            reports.push(report);
        }
    }
    let of_hosts: Vec<Usage> = reports.iter().map(|it| it.usage).collect();
    let mut sums = rows.to_vec();
    for sum in &mut sums {
        sum.row.copies *= hosts.len() as u32;
    }
    for (at, mut sum) in of(&sums).into_iter().enumerate() {
        sum.usage = together(of_hosts.iter().skip(at).step_by(rows.len().max(1)));
        sum.name = match rows {
            [_] => ALL_CLIENTS.into(),
            _ => format!("{ALL_CLIENTS}: {}", sum.name),
        };
        reports.push(sum);
    }
    reports
}

/// Times of processors are shares of what ran there: hosts have their mean. Faults add up.
fn together<'a>(hosts: impl Iterator<Item = &'a Usage>) -> Usage {
    let (mut sum, mut count) = (Usage::default(), 0.0_f64);
    for one in hosts {
        sum.user_percent += one.user_percent;
        sum.system_percent += one.system_percent;
        sum.major_faults += one.major_faults;
        sum.minor_faults += one.minor_faults;
        count += 1.0;
    }
    sum.user_percent /= count.max(1.0);
    sum.system_percent /= count.max(1.0);
    sum
}

/// fio's name of the sum.
const ALL_CLIENTS: &str = "All clients";
