//! Results of programs run together, in the columns of the documents' tables.

use engine::Activity;

use super::{ProgramEnd, ProgramLaunch, ProgramOutput};
use crate::diskmbps::rates_mb_s;
use crate::diskrand::SampleTimes;

/// A line of a result table: users of one profile, or one program that moved data.
#[derive(Clone, Debug, PartialEq)]
pub struct TogetherRow {
    pub host: String,
    /// Description.
    pub what: String,
    /// Programs.
    pub tasks: usize,
    /// From the start of the first to the end of the last, seconds.
    pub elapsed_s: f64,
    /// CPU utilisation of the host in that time, in 0..=1.
    pub cpu_share: Option<f64>,
    /// The same of the server, if the host is a client.
    pub server_cpu_share: Option<f64>,
    pub figures: TogetherFigures,
}

/// Figures of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum TogetherFigures {
    /// For users, with all response times in seconds.
    Users {
        transactions: u64,
        /// Transactions per second.
        per_second: f64,
        times: SampleTimes,
    },
    /// For a program that transferred data: MB of 1048576 bytes per second.
    Transfer {
        /// While writing, if it did.
        written: Option<f64>,
        /// Over its read passes.
        read: Option<f64>,
    },
}

/// Lines of programs that ran concurrently: users of a host and profile together, each other
/// program alone. Programs that a batch waited for only prepare, and have none.
pub fn rows(ended: &[ProgramEnd]) -> Vec<TogetherRow> {
    let mut groups: Vec<(String, String, Vec<&ProgramEnd>)> = Vec::new();
    for program in ended
        .iter()
        .filter(|it| it.launch == ProgramLaunch::Started)
    {
        let what = match &program.result {
            Ok(ProgramOutput::User { arguments, .. }) => profile(arguments),
            Ok(ProgramOutput::Passes(_)) => program.words.clone(),
            _ => continue,
        };
        let group = groups
            .iter_mut()
            .find(|(host, known, _)| *host == program.host && *known == what);
        match group {
            Some((.., members)) => members.push(program),
            None => groups.push((program.host.clone(), what, vec![program])),
        }
    }
    let rows = groups.into_iter();
    rows.map(|(host, what, members)| row(host, what, &members))
        .collect()
}

fn profile(arguments: &crate::diskrand::ReadArguments) -> String {
    let mut text = format!("{} I/Os", arguments.ios);
    if arguments.cpu_units > 0.0 {
        text.push_str(&format!(", {} CP", arguments.cpu_units));
    }
    text.push_str(&format!(", think {} s", arguments.think_s));
    text
}

fn row(host: String, what: String, members: &[&ProgramEnd]) -> TogetherRow {
    let first = members.iter().min_by_key(|it| it.begun);
    let last = members.iter().max_by_key(|it| it.ended);
    let ends = first.zip(last);
    let elapsed_s = ends.map_or(0.0, |(first, last)| {
        last.ended.since(first.begun).as_secs_f64()
    });
    let of_host = ends.and_then(|(first, last)| busy_share(&first.activity[0], &last.activity[1]));
    let of_server = ends.and_then(|(first, last)| {
        busy_share(&first.of_server.as_ref()?[0], &last.of_server.as_ref()?[1])
    });
    TogetherRow {
        host,
        what,
        tasks: members.len(),
        elapsed_s,
        cpu_share: of_host,
        server_cpu_share: of_server,
        figures: figures(members, elapsed_s),
    }
}

/// CPU utilisation of a host between two readings.
fn busy_share(before: &Activity, after: &Activity) -> Option<f64> {
    let done = after.since(before);
    let (busy, there) = (done.cpu_busy_ns?, done.cpu_there_ns?);
    (there > 0).then(|| busy as f64 / there as f64)
}

fn figures(members: &[&ProgramEnd], elapsed_s: f64) -> TogetherFigures {
    if let Some(Ok(ProgramOutput::Passes(passes))) = members.first().map(|it| &it.result) {
        let [written, read] = rates_mb_s(passes);
        return TogetherFigures::Transfer { written, read };
    }
    let mut times = Vec::new();
    let mut transactions = 0;
    for member in members {
        if let Ok(ProgramOutput::User { summary, .. }) = &member.result {
            times.extend_from_slice(summary.times_s());
            transactions += summary.done();
        }
    }
    TogetherFigures::Users {
        transactions,
        per_second: transactions as f64 / elapsed_s.max(1e-9),
        times: SampleTimes::of(&times),
    }
}

/// The rows of [`rows`] in the columns of the documents' tables.
pub fn together_table(ended: &[ProgramEnd]) -> String {
    let rows = rows(ended);
    let is_of_users = |row: &&TogetherRow| matches!(row.figures, TogetherFigures::Users { .. });
    let (users, transfers): (Vec<_>, Vec<_>) = rows.iter().partition(is_of_users);
    let mut text = String::new();
    if !users.is_empty() {
        text.push_str(&format!(
            "{:<12} {:>5} {:>12} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8}  {}\n",
            "Host",
            "Tasks",
            "Transactions",
            "Elap secs",
            "TPS",
            "CPU %Ut",
            "Min",
            "Avg",
            "95%",
            "Max",
            "Profile"
        ));
    }
    users.iter().for_each(|row| text.push_str(&user_line(row)));
    if !transfers.is_empty() {
        text.push_str(&format!(
            "{:<12} {:>9} {:>7} {:>12} {:>12}  {}\n",
            "Host", "Elap secs", "CPU %Ut", "Written MB/s", "Read MB/s", "Program"
        ));
    }
    transfers
        .iter()
        .for_each(|row| text.push_str(&transfer_line(row)));
    if rows.is_empty() {
        text.push_str("No program ran next to others: its figures are in its log\n");
    }
    text.trim_end().to_owned()
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.0}", 100.0 * share))
}

fn user_line(row: &TogetherRow) -> String {
    let TogetherFigures::Users {
        transactions,
        per_second,
        times:
            SampleTimes {
                min,
                mean,
                high,
                max,
            },
    } = row.figures
    else {
        return String::new();
    };
    format!(
        "{:<12} {:>5} {transactions:>12} {:>9.0} {per_second:>7.2} {:>7} {min:>8.2} {mean:>8.2} \
         {high:>8.2} {max:>8.2}  {}\n",
        row.host,
        row.tasks,
        row.elapsed_s,
        share(row.cpu_share),
        row.what
    )
}

fn transfer_line(row: &TogetherRow) -> String {
    let TogetherFigures::Transfer { written, read } = row.figures else {
        return String::new();
    };
    let rate = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.2}"));
    format!(
        "{:<12} {:>9.1} {:>7} {:>12} {:>12}  {}\n",
        row.host,
        row.elapsed_s,
        share(row.cpu_share),
        rate(written),
        rate(read),
        row.what
    )
}
