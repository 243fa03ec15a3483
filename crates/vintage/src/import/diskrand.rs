//! A log of DISKRAND: written files, and users active together, are runs.

use procedure::{MeanPass, Replayed, Trial, UnitCounts, passes_measured, replay, transaction_load};
use results::{Access, Run, Setup, Status, Transactions, Warning, WarningCode};
use units::{Duration, Instant, TargetName, format_duration_ns};
use workload::{
    ClientSpec, Gap, GapShape, LoadFactor, Records, TargetId, UnitOfWork, UserProfile, UsersSpec,
};

use super::{ImportedLog, LogText, NoRuns, blank_run};
use crate::diskrand::{
    DiskRandLog, RECORD_BYTES, SampleTimes, UserSession, UserTimeline, WriteRun, doubts, groups,
};

/// The driver that executed the I/Os.
const DRIVER: &str = "unknown";
/// In shorter logs, the clock is too coarse for rates.
const LASTS_MIN: Duration = Duration::from_secs(10);
/// Maximum length of a log, seconds: a year.
const LASTS_MAX_S: f64 = 366.0 * 86_400.0;
/// Longer than any log.
const FOREVER: Duration = Duration::from_secs(1 << 33);

/// The runs of a log, or of both logs of a pair.
pub(super) fn read(
    log: LogText<'_>,
    pair: Option<[LogText<'_>; 2]>,
) -> Result<ImportedLog, NoRuns> {
    let read = |log: LogText<'_>| {
        DiskRandLog::read(log.text).map_err(|error| NoRuns::of(log.file, error.to_string()))
    };
    let mut found = read(log)?;
    let mut title = log.file.to_owned();
    let strange = found.strange.clone();
    if let Some([first, second]) = pair {
        found = read(first)?.with_transactions(read(second)?);
        title = format!("{} and {}", first.file, second.file);
    }
    let written = found.writes.iter();
    let mut runs: Vec<Run> = written.filter_map(|it| run_of_write(it, &title)).collect();
    for group in groups(&found) {
        runs.push(run_of_users(&group, &title)?);
    }
    if runs.is_empty() {
        let why = "it holds no pass and no transaction: those of 2logs are in Multi2.txt";
        return Err(NoRuns::of(log.file, why));
    }
    Ok(ImportedLog { runs, strange })
}

fn run_of_write(written: &WriteRun, title: &str) -> Option<Run> {
    let passes: Vec<MeanPass> = written
        .passes
        .iter()
        .map(|pass| MeanPass {
            operations: pass.records,
            seconds: pass.seconds,
        })
        .collect();
    let name = ("random-read", "random read 4 KiB, one at a time, by passes");
    let measurement = passes_measured(name, &passes, RECORD_BYTES as u64, DRIVER)?;
    let (megabytes, records) = written.size;
    let mut run = blank_run("diskrand", "the written file", written.started.as_deref());
    run.settings = Setup::new("diskrand", 0)
        .with("log", title)
        .with("mode", "Write")
        .with("size", &format!("{megabytes}MiB"));
    let seconds: f64 = passes.iter().map(|pass| pass.seconds).sum();
    let wrote = written.written.as_ref();
    run.elapsed_ns = ((seconds + wrote.map_or(0.0, |it| it.seconds)) * 1e9) as u64;
    run.measurements = vec![measurement];
    run.findings = written
        .written
        .iter()
        .map(|it| {
            let rate = megabytes as f64 / it.seconds.max(1e-9);
            format!(
                "File written: {megabytes} MB, {records} records, in {} s at {rate:.2} MB/s",
                it.seconds
            )
        })
        .collect();
    let log = DiskRandLog {
        writes: vec![written.clone()],
        ..DiskRandLog::default()
    };
    run.warnings.extend(warnings_of(&log));
    Some(run)
}

/// General warnings about such logs, and about this one.
fn warnings_of(log: &DiskRandLog) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if log.sessions.iter().all(|session| !is_model(session)) {
        warnings.push(Warning::info(
            WarningCode::ClassicCache,
            "The log does not say how much of what was read came from the page cache.",
        ));
    }
    warnings.extend(doubts(log));
    warnings
}

/// Whether the target was a model.
fn is_model(session: &UserSession) -> bool {
    let profile = session.profile.as_ref();
    profile.is_some_and(|profile| TargetName::from(profile.file.as_str()).is_model())
}

/// Common behaviour of several users.
#[derive(Clone, PartialEq)]
struct UserKind {
    ios: Option<u32>,
    think_s: f64,
    cpu_units: f64,
    varies: bool,
}

impl UserKind {
    fn of(session: &UserSession) -> Self {
        let profile = session.profile.as_ref();
        let transactions = &session.transactions;
        let thought: u64 = transactions.iter().map(|it| u64::from(it.think_s)).sum();
        Self {
            ios: profile.map(|profile| profile.ios),
            think_s: profile.map_or(thought as f64 / transactions.len() as f64, |profile| {
                f64::from(profile.think_s)
            }),
            cpu_units: profile.map_or(0.0, |profile| profile.cpu_units),
            varies: transactions.iter().any(|it| it.load > 0.0),
        }
    }

    fn name(&self) -> String {
        let Some(ios) = self.ios else {
            return format!("unknown, think {:.3} s", self.think_s);
        };
        let varies = if self.varies { ", loads vary" } else { "" };
        let Self {
            think_s, cpu_units, ..
        } = self;
        format!("{ios} I/Os, CP {cpu_units}, think {think_s} s{varies}")
    }

    fn profile(&self, users: u32) -> UserProfile {
        UserProfile {
            name: self.name(),
            users,
            ios: self.ios.unwrap_or(1),
            io_size: RECORD_BYTES as u32,
            reads: 1,
            writes: 0,
            think: Gap::new(GapShape::Uniform, Duration::from_secs_f64(self.think_s)),
            // The length of a unit on that machine is unknown.
            cpu_ns: 0,
            memory: 0,
            load: if self.varies {
                LoadFactor::Exponential
            } else {
                LoadFactor::Constant
            },
            records: Records::Repeat,
            // Users leave: the laws for a constant number do not apply.
            transactions: Some(1),
        }
    }
}

fn run_of_users(group: &[UserTimeline<'_>], title: &str) -> Result<Run, NoRuns> {
    let wrong = |error: String| NoRuns::of(title, error);
    let (kinds, of_user) = kinds_of(group);
    let profiles = kinds.iter().enumerate().map(|(place, kind)| {
        let users = of_user.iter().filter(|&&it| it as usize == place).count();
        kind.profile(users as u32)
    });
    let spec = UsersSpec::new(TargetId::NONE, 0, None, profiles.collect()).map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        wrong(texts.join("; "))
    })?;
    let began = group
        .iter()
        .map(UserTimeline::began_s)
        .fold(f64::INFINITY, f64::min);
    let ended = group.iter().map(UserTimeline::ended_s).fold(0.0, f64::max);
    if ended - began > LASTS_MAX_S {
        let why = "users who were at work together have times that lie more than a year apart";
        return Err(wrong(why.into()));
    }
    let access = if is_model(group[0].session) {
        Access::Simulated
    } else {
        Access::Buffered
    };
    let trial = trial_of(&spec, group.len() as u32, &kinds, access);
    let units = group.iter().zip(&of_user).enumerate();
    let units = units
        .flat_map(|(user, (one, &kind))| units_of(one, user as u32, kind, began))
        .collect();
    let found = replay(&trial, units, DRIVER).map_err(|error| wrong(error.to_string()))?;
    let first = group[0].session;
    let profile = first.profile.as_ref();
    let file = profile.map_or("unknown", |profile| &profile.file);
    let mut run = blank_run("diskrand", file, first.started.as_deref());
    let users: Vec<String> = group
        .iter()
        .map(|one| one.session.user.to_string())
        .collect();
    run.settings = Setup::new("diskrand", profile.map_or(0, |profile| profile.seed))
        .with("log", title)
        .with("mode", "Read")
        .with("file", file)
        .with("users", &users.join(","));
    run.elapsed_ns = found.elapsed.as_nanos();
    run.findings = vec![sample(group)];
    run.status = status_of(group);
    let log = DiskRandLog {
        sessions: group.iter().map(|one| one.session.clone()).collect(),
        ..DiskRandLog::default()
    };
    run.warnings.extend(warnings_of(&log));
    run.warnings.extend(too_short(found.elapsed));
    put_load(&mut run, &spec, found, reads_of(group));
    Ok(run)
}

/// The distinct kinds of users, and the kind of each user.
fn kinds_of(group: &[UserTimeline<'_>]) -> (Vec<UserKind>, Vec<u32>) {
    let mut kinds: Vec<UserKind> = Vec::new();
    let of_user = group.iter().map(|one| {
        let kind = UserKind::of(one.session);
        let known = kinds.iter().position(|it| *it == kind);
        known.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        }) as u32
    });
    let of_user = of_user.collect();
    (kinds, of_user)
}

/// Adds the users' times to the run. Unknown values are NaN.
fn put_load(run: &mut Run, spec: &UsersSpec, mut found: Replayed, reads: Option<f64>) {
    let counts = UnitCounts {
        units: &found.units,
        elapsed: found.elapsed,
        processors: 1,
        series: None,
        model_cpu_ns: None,
    };
    let (mut load, _) = transaction_load(spec, &found.measurement, &counts);
    let seconds = found.elapsed.as_secs_f64().max(1e-9);
    load.reads_per_second = reads.unwrap_or(f64::NAN) / seconds;
    load.storage_queue = f64::NAN;
    let bytes = reads.unwrap_or(f64::NAN) * RECORD_BYTES as f64;
    load.all.bytes_each = bytes / load.all.transactions.max(1) as f64;
    found.measurement.bytes_all = bytes as u64;
    found.measurement.effective_depth = f64::NAN;
    run.measurements = vec![found.measurement];
    let found = Transactions {
        ramp_per_second: None,
        loads: vec![load],
        search: None,
        standard: None,
    };
    run.tables = found.tables(&run.measurements);
}

/// Users who start within one second cannot be ordered in it.
fn too_short(elapsed: Duration) -> Option<Warning> {
    (elapsed < LASTS_MIN).then(|| {
        Warning::warn(
            WarningCode::ClassicShort,
            format!(
                "The clock of the log shows whole seconds, and its transactions take {} in all: \
                 rates and elapsed time are the sums of think and response times, without what \
                 passed between.",
                format_duration_ns(elapsed.as_nanos() as f64)
            ),
        )
        .advise("Do not quote them; make more transactions.")
    })
}

fn trial_of(spec: &UsersSpec, users: u32, kinds: &[UserKind], access: Access) -> Trial {
    let plural = if users == 1 { "" } else { "s" };
    let what = match kinds {
        [one] => one.name(),
        several => format!("of {} kinds", several.len()),
    };
    Trial {
        title: format!("{users} user{plural}, {what}"),
        clients: users,
        depth: users,
        duration_max: FOREVER,
        ..Trial::new("transactions", ClientSpec::Users(spec.clone()), access)
    }
}

/// One user's transactions, from the start of the group.
fn units_of(one: &UserTimeline<'_>, user: u32, kind: u32, began_s: f64) -> Vec<(u32, UnitOfWork)> {
    let at = |seconds: f64| Instant::START + Duration::from_secs_f64(seconds.max(0.0));
    let transactions = one.session.transactions.iter().zip(&one.ends_s);
    transactions
        .map(|(transaction, end_s)| {
            let due = at(end_s - transaction.response_s - began_s);
            let unit = UnitOfWork {
                kind,
                due,
                started: due,
                completed: at(end_s - began_s),
                lateness: Duration::ZERO,
                bytes: 0,
            };
            (user, unit)
        })
        .collect()
}

/// I/Os of all transactions, if the log states how many each makes.
fn reads_of(group: &[UserTimeline<'_>]) -> Option<f64> {
    let mut sum = 0.0;
    for one in group {
        let ios = f64::from(one.session.profile.as_ref()?.ios);
        let loads = one.session.transactions.iter().map(|it| it.load);
        let varies = one.session.transactions.iter().any(|it| it.load > 0.0);
        sum += loads
            .map(|load| if varies { ios * load } else { ios })
            .sum::<f64>();
    }
    Some(sum)
}

/// The document's figures, which are those of the sample.
fn sample(group: &[UserTimeline<'_>]) -> String {
    let transactions = group.iter().flat_map(|one| &one.session.transactions);
    let times: Vec<f64> = transactions.map(|it| it.response_s).collect();
    let SampleTimes {
        min,
        mean,
        high,
        max,
    } = SampleTimes::of(&times);
    let [least, mean, high, most] =
        [min, mean, high, max].map(|seconds| format_duration_ns(1e9 * seconds));
    format!(
        "Response times of this log, as the document's tables have them: min {least}, avg {mean}, \
         95% {high}, max {most}"
    )
}

fn status_of(group: &[UserTimeline<'_>]) -> Status {
    let reasons: Vec<String> = group
        .iter()
        .filter_map(|one| {
            let session = one.session;
            let done = session.transactions.len() as u64;
            let wanted = session.profile.as_ref()?.transactions;
            (done < wanted).then(|| {
                let why = session.stopped.as_ref();
                let why = why.map_or("the log ends there", |it| it.reason.as_str());
                format!(
                    "user {} made {done} of {wanted} transactions: {why}",
                    session.user
                )
            })
        })
        .collect();
    match reasons.as_slice() {
        [] => Status::Complete,
        reasons => Status::Partial {
            reason: reasons.join("; "),
        },
    }
}
