//! Runs users with transactions: from a target's name to a [`Run`].

use procedure::{
    Ending, MAIN_DIRECT, Preparation, SearchOptions, Trial, UnitCounts, transaction_load,
    usual_interval, warm_up_left_out,
};
use results::{Run, Setup, Status, Transactions, Warning, WarningCode};
use stats::Goal;
use units::{Bytes, Duration, format_counted, format_duration_ns};
use workload::{ClientSpec, LoadFactor, TargetId, UserProfile, UsersSpec};

use super::plan::few_ios;
use super::start::StartAt;
use crate::depth::DEPTH_MAX;
use crate::session::{self, MeasurementPlan, Result, Session};
use crate::stage::{RunPlan, Show};
use host::interrupt::Interrupt;
use host::limits::{Excess, LimitError};
use lab::bench::{BenchError, BenchRequest};
use lab::client_machine::ClientMachine;
use lab::hosts::Ranks;
use lab::laboratory::{LaboratoryError, Outcome};

/// Open files of a run.
const FILES_NEEDED: u64 = 16;

/// How users start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ramp {
    /// All within a second.
    WithinASecond,
    /// So many in each second.
    PerSecond(f64),
    /// All at the same instant.
    Synchronised,
}

impl Ramp {
    fn per_second(self, users: u32) -> Option<f64> {
        match self {
            Self::WithinASecond => Some(f64::from(users)),
            Self::PerSecond(rate) => Some(rate),
            Self::Synchronised => None,
        }
    }
}

/// One number of users, with what they do.
#[derive(Clone, Debug)]
pub struct UserLoad {
    /// Name of the measurement.
    pub name: String,
    pub users: u32,
    /// What they do.
    pub profiles: Vec<UserProfile>,
    /// When the answer is good enough; `None` runs until they have finished or time is up.
    pub goal: Option<Goal>,
    /// When to stop in any case.
    pub duration_max: Duration,
    /// What is done to the page cache before.
    pub preparation: Preparation,
    /// What one user does before, unmeasured, so that a model's file cache holds what it held.
    pub before: Option<UserProfile>,
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub enum UsersQuestion {
    /// Those loads, one after the other.
    Loads(Vec<UserLoad>),
    /// How many users meet a limit.
    Search {
        /// What they do.
        profiles: Vec<UserProfile>,
        /// Which limit.
        options: SearchOptions,
        /// How precise the fresh trials shall be.
        precision: f64,
    },
}

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct TransactionsRequest {
    /// What is measured, and what may be done to it.
    pub bench: BenchRequest,
    /// What is to be measured.
    pub question: UsersQuestion,
    /// How users start.
    pub ramp: Ramp,
    /// Requests that may be outstanding; one for each user when absent.
    pub depth: Option<u32>,
    /// Time for everything.
    pub budget: Duration,
    /// What every load leaves out at its start, whatever it looks like; a rule finds it when
    /// absent.
    pub warm_up: Option<Duration>,
    /// When users start; at once when absent.
    pub start_at: Option<StartAt>,
    /// Length of the intervals that the machine's work is noted by; chosen when absent.
    pub sample_every: Option<Duration>,
}

impl TransactionsRequest {
    /// All profiles that are asked for.
    fn profiles(&self) -> Vec<&UserProfile> {
        match &self.question {
            UsersQuestion::Loads(loads) => loads.iter().flat_map(|load| &load.profiles).collect(),
            UsersQuestion::Search { profiles, .. } => profiles.iter().collect(),
        }
    }

    /// Each load whose size is known before, as profiles and users.
    fn known_loads(&self) -> Vec<(&[UserProfile], u32)> {
        match &self.question {
            UsersQuestion::Loads(loads) => loads
                .iter()
                .map(|load| (load.profiles.as_slice(), load.users))
                .collect(),
            UsersQuestion::Search {
                profiles, options, ..
            } => vec![(profiles, options.users_first)],
        }
    }
}

/// What users saw, and the run of their trials, which lacks it.
#[derive(Debug)]
pub struct UsersMeasured {
    pub found: Transactions,
    run: Run,
}

impl UsersMeasured {
    /// The run with what users saw.
    pub fn into_run(mut self) -> Run {
        self.found.move_series(&mut self.run.measurements);
        let tables = self.found.tables(&self.run.measurements);
        Run { tables, ..self.run }
    }
}

/// Measure transactions.
///
/// # Errors
/// When nothing could be measured. What was measured before something went wrong is a partial run.
pub fn measure_transactions(
    request: &TransactionsRequest,
    interrupt: &Interrupt,
    show: Show<'_>,
) -> Result<UsersMeasured> {
    let cpus = refuse_too_much(request)?;
    session::run(&request.bench, interrupt, show, |session| {
        if request.profiles().iter().any(|profile| profile.writes > 0) {
            session.refuse_writes()?;
        }
        let left_out = |warm_up| warm_up_left_out(warm_up, "load");
        session.warnings.extend(request.warm_up.map(left_out));
        Ok(UsersPlan {
            request,
            cpus: session.bench.ranks().map_or(cpus, Ranks::processors),
            found: Transactions::default(),
        })
    })
}

/// Refuse what cannot be, before anything is made; returns the number of processors.
fn refuse_too_much(request: &TransactionsRequest) -> Result<u32> {
    let target = &request.bench.target;
    if target.is_null() {
        let text = format!("{target} has no users. Name a directory, a file or a model");
        return Err(BenchError::Usage(text));
    }
    let machine = ClientMachine::of(target, &request.bench.setup)?;
    for (profiles, users) in request.known_loads() {
        let memory = spec(profiles, None)?.memory_bytes(users);
        let checked = machine.check_budget(FILES_NEEDED, memory);
        checked.map_err(|error| too_much(error, users, memory))?;
    }
    if request.start_at.is_some_and(|it| it != StartAt::NOW) && !machine.keeps_our_time() {
        return Err(BenchError::Usage(format!(
            "{}: a model's time is virtual, and no instant of ours is one of it. Use \
             --synchronise alone",
            request.bench.target
        )));
    }
    Ok(machine.processors())
}

/// What users ask for in the words of the command line; the limit's own advice is for depth and
/// block size, which they do not have.
fn too_much(error: LimitError, users: u32, memory: u64) -> BenchError {
    let is_memory = |excess: &Excess| matches!(excess, Excess::Memory { .. });
    let Some(Excess::Memory { allowed_bytes, .. }) = error.excesses.iter().find(|it| is_memory(it))
    else {
        return LaboratoryError::from(error).into();
    };
    BenchError::Refused(format!(
        "{} take {} of memory (--memory), and only {} is available: use less memory, or \
         fewer users",
        format_counted(users.into(), "user"),
        Bytes(memory),
        Bytes(*allowed_bytes)
    ))
}

/// Users of those profiles, on a target that is not known yet.
pub(super) fn spec(profiles: &[UserProfile], ramp_per_second: Option<f64>) -> Result<UsersSpec> {
    UsersSpec::new(TargetId::NONE, 0, ramp_per_second, profiles.to_vec()).map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        BenchError::Usage(texts.join("; "))
    })
}

pub(super) struct UsersPlan<'a> {
    pub(super) request: &'a TransactionsRequest,
    cpus: u32,
    pub(super) found: Transactions,
}

impl MeasurementPlan for UsersPlan<'_> {
    type Outcome = UsersMeasured;

    fn plan(&self, session: &Session<'_>) -> RunPlan {
        let (name, time) = match &self.request.question {
            UsersQuestion::Loads(loads) => {
                let times = loads.iter().map(|it| it.duration_max);
                ("users", times.fold(Duration::ZERO, |sum, time| sum + time))
            }
            UsersQuestion::Search { .. } => ("search", self.request.budget),
        };
        session.filled_plan(self.shared_budget(), (name, Some(time)))
    }

    fn carry_out(&mut self, session: &mut Session<'_>) -> Result<()> {
        session.fill(self.shared_budget())?;
        let filling = session.spent;
        if let Some(start_at) = self.request.start_at {
            let late = start_at.wait(session.interrupt, session.show)?;
            session.warnings.extend(late);
        }
        match &self.request.question {
            UsersQuestion::Loads(loads) => {
                for (salt, load) in loads.iter().enumerate() {
                    let load = UserLoad {
                        duration_max: load.duration_max.saturating_sub(filling),
                        ..load.clone()
                    };
                    self.measure_load(session, &load, salt as u64)?;
                }
                Ok(())
            }
            UsersQuestion::Search {
                profiles,
                options,
                precision,
            } => self.search(session, profiles, *options, *precision),
        }
    }

    fn resolve(&self, setup: &mut Setup, _: &Status) {
        if let UsersQuestion::Loads(loads) = &self.request.question
            && let [load] = loads.as_slice()
        {
            setup.resolve("depth", [self.depth(load.users).to_string()]);
        }
    }

    fn complete(self, run: Run) -> UsersMeasured {
        let found = self.found;
        UsersMeasured { found, run }
    }
}

impl UsersPlan<'_> {
    /// The time that the test file has a share of.
    fn shared_budget(&self) -> Option<Duration> {
        let is_timed = self.request.bench.setup.is_given("duration");
        match &self.request.question {
            UsersQuestion::Loads(loads) if is_timed || loads.len() > 1 => None,
            _ => Some(self.request.budget),
        }
    }

    /// Measure a load that is a result.
    fn measure_load(
        &mut self,
        session: &mut Session<'_>,
        load: &UserLoad,
        salt: u64,
    ) -> Result<()> {
        self.set_up(session, load)?;
        let trial = self.trial(session, load, salt)?;
        let mut outcome = measure(session, &trial)?;
        let is_cut = trial.goal.is_none() && outcome.ending == Ending::Budget;
        if is_cut && load.profiles.iter().any(|it| it.transactions.is_some()) {
            outcome.measurement.warnings.push(Warning::warn(
                WarningCode::NotFinished,
                format!(
                    "{}: stopped by its time limit before all users had made their transactions.",
                    trial.title
                ),
            ).advise("Allow more time with --budget."));
        }
        let warnings = few_ios(load, &trial.title, &outcome.measurement);
        outcome.measurement.warnings.extend(warnings);
        self.keep(session, &trial, &mut outcome);
        let rows = session.bench.take_rows();
        session.measurements.extend(rows);
        session.go_on(&trial, outcome.failure)
    }

    /// What keeps data in memory and is no page cache is filled by reading.
    fn set_up(&self, session: &mut Session<'_>, load: &UserLoad) -> Result<()> {
        let has_page_cache = session.facts.has_page_cache;
        let Some(profile) = load.before.clone().filter(|_| !has_page_cache) else {
            return Ok(());
        };
        let before = UserLoad {
            name: "transactions-set-up".into(),
            users: 1,
            profiles: vec![profile],
            before: None,
            ..load.clone()
        };
        let trial = self.trial(session, &before, u64::MAX)?;
        let outcome = measure(session, &trial)?;
        session.go_on(&trial, outcome.failure)
    }

    pub(super) fn keep(&mut self, session: &mut Session<'_>, trial: &Trial, outcome: &mut Outcome) {
        let ClientSpec::Users(users) = &trial.spec else {
            unreachable!("only users are measured here");
        };
        let counts = UnitCounts {
            units: &outcome.units,
            elapsed: outcome.elapsed,
            processors: self.cpus,
            series: outcome.series.as_ref(),
            model_cpu_ns: outcome.model_cpu_ns,
        };
        let (load, doubts) = transaction_load(users, &outcome.measurement, &counts);
        outcome.measurement.warnings.extend(doubts);
        self.found.ramp_per_second = users.ramp_per_second;
        self.found.loads.push(load);
        session.measurements.push(outcome.measurement.clone());
    }

    pub(super) fn trial(&self, session: &Session<'_>, load: &UserLoad, salt: u64) -> Result<Trial> {
        let ramp = self.request.ramp.per_second(load.users);
        let users = spec(&load.profiles, ramp)?.on(MAIN_DIRECT, session.size.0);
        let depth = self.depth(load.users);
        let interval = self.request.sample_every;
        let interval = interval.unwrap_or_else(|| usual_interval(load.duration_max));
        let (name, access) = (load.name.as_str(), session.facts.access);
        Ok(Trial {
            title: title(&load.profiles, load.users),
            clients: load.users,
            depth,
            preparation: load.preparation,
            goal: load.goal,
            duration_max: load.duration_max,
            salt,
            sample_every: Some(interval),
            warm_up: self.request.warm_up,
            ..Trial::new(name, ClientSpec::Users(users), access)
        })
    }

    /// How many requests may be outstanding.
    fn depth(&self, users: u32) -> u32 {
        self.request.depth.unwrap_or(users.min(DEPTH_MAX))
    }
}

pub(super) fn measure(session: &mut Session<'_>, trial: &Trial) -> Result<Outcome> {
    let begun = session.now();
    let outcome = session.measure_alone(trial)?;
    // With what was outstanding at its end.
    let took = session.now().since(begun);
    session.spent += took;
    Ok(outcome)
}

/// What is done, in words.
fn title(profiles: &[UserProfile], users: u32) -> String {
    let users = format_counted(users.into(), "user");
    let [one] = profiles else {
        return format!("{users} of {} profiles", profiles.len());
    };
    let ios = if one.ios == 1 { "I/O" } else { "I/Os" };
    let size = Bytes(u64::from(one.io_size));
    let mut text = format!("{users}, {} {ios} of {size}", one.ios);
    if one.writes > 0 {
        let all = f64::from(one.reads) + f64::from(one.writes);
        let share = f64::from(one.writes) / all * 100.0;
        text.push_str(&format!(" ({share:.0} % writes)"));
    }
    if one.cpu_ns > 0 {
        text.push_str(&format!(", CPU {}", format_duration_ns(one.cpu_ns as f64)));
    }
    if one.load == LoadFactor::Exponential {
        text.push_str(", loads exponential");
    }
    if one.think.mean_ns > 0.0 {
        text.push_str(&format!(
            ", think {}",
            format_duration_ns(one.think.mean_ns)
        ));
    }
    text
}
