//! `seekstone transactions`: users who think and make transactions.

use std::path::Path;

use kinds::stage::Show;
use kinds::transactions::{
    Ramp, STANDARD_FILE, StandardTest, TransactionsRequest, UserLoad, UsersQuestion,
    measure_transactions,
};
use lab::bench::BenchError;
use lab::hosts::Ranks;
use lab::simulated::cpu_unit;
use procedure::{Preparation, SearchOptions};
use results::{Run, Setup};
use stats::Goal;
use units::{Bytes, Duration};
use workload::{CPU_UNIT_NS, Records, USERS_MAX, UserProfile, check_profiles, parse_profiles};

use crate::args::TransactionsArgs;
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::recorded_text;
use crate::commands::trial::{caching, warm_up_ends};
use crate::exit::UsageError;
use crate::output;

/// Shares are drawn as whole parts of this.
const MIX_PARTS: f64 = 10_000.0;
/// How large a file of profiles is at most, and what it is called.
const PROFILES: (Bytes, &str) = (Bytes::from_kib(64), "a file of user profiles");
/// Time for everything, and for each row of a standard test.
const BUDGET: Duration = Duration::from_secs(300);
const STANDARD_BUDGET: Duration = Duration::from_secs(3600);
/// Think times that a trial must last at least to have seen its users at work.
const THINKS_MIN: f64 = 3.0;

impl MeasuringCommand for TransactionsArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let by_clock = "--synchronise starts users by one host's clock. Leave it out, all ranks \
                        start at the same instant anyway";
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .refused_if(self.synchronise.map(|_| by_clock.into()))
            .reads(self.profiles.clone())
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let of_model = || cpu_unit(&self.target, &setup);
        let unit = self.cpu_unit.or_else(of_model);
        let unit = unit.unwrap_or(Duration::from_nanos(CPU_UNIT_NS));
        setup.resolve("cpu-unit", [unit.to_exact_string()]);
        let standard = self
            .standard
            .as_ref()
            .and_then(|section| StandardTest::find(section, unit, self.transactions));
        let (option, time) = match self.duration {
            Some(duration) => ("--duration", duration),
            None => ("--budget", budget(self)),
        };
        warm_up_ends(self.warm_up, option, time)?;
        let profiles = profiles(self, unit, &mut setup)?;
        let users = users(self, &profiles)?;
        if standard.is_none() {
            setup.resolve("users", [users.to_string()]);
        }
        setup.resolve("budget", [budget(self).to_exact_string()]);
        let question = match &standard {
            Some(test) => standard_loads(test, self),
            None => question(self, profiles, users),
        };
        if let Some(ranks) = &self.common.ranks {
            a_user_for_each(&question, ranks.share().ranks)?;
        }
        let mut bench = self
            .reach
            .bench(&self.target, "transactions", &self.common, setup)?;
        bench.size = self.size.or(standard.as_ref().map(|_| STANDARD_FILE));
        bench.storage.caching = caching(self.buffered || standard.is_some());
        let request = TransactionsRequest {
            bench,
            question,
            ramp: match self.ramp {
                _ if self.synchronise.is_some() => Ramp::Synchronised,
                Some(rate) => Ramp::PerSecond(rate.per_second()),
                // The document starts its tasks together.
                None if standard.is_some() => Ramp::Synchronised,
                None => Ramp::WithinASecond,
            },
            depth: self.depth,
            budget: budget(self),
            warm_up: self.warm_up,
            start_at: self.synchronise,
            sample_every: self.interval,
        };
        let bench = request.bench.clone();
        let measure = move |interrupt: &_, show: Show<'_>| {
            let leads = self.common.ranks.as_ref().is_none_or(Ranks::leads);
            if leads && !self.common.quiet {
                output::complain(&request.plan());
            }
            let mut measured = measure_transactions(&request, interrupt, show)?;
            let found = &mut measured.found;
            found.standard = standard.as_ref().map(|it| it.table(&found.loads));
            Ok::<Run, BenchError>(measured.into_run())
        };
        Ok(Ready::new(&self.common, &bench, measure))
    }
}

/// A rank without a user would measure nothing.
fn a_user_for_each(question: &UsersQuestion, ranks: u32) -> Result<(), UsageError> {
    let users = match question {
        UsersQuestion::Loads(loads) => loads.iter().map(|load| load.users).min(),
        UsersQuestion::Search { options, .. } => Some(options.users_first),
    };
    match users {
        Some(users) if users < ranks => Err(UsageError(format!(
            "--users {users}: each of {ranks} ranks needs at least one user. Use --users {ranks} \
             or more"
        ))),
        _ => Ok(()),
    }
}

/// Time for everything; for a standard test, for each row, whose users leave by themselves.
fn budget(args: &TransactionsArgs) -> Duration {
    args.budget.unwrap_or(if args.standard.is_some() {
        STANDARD_BUDGET
    } else {
        BUDGET
    })
}

/// The loads of a standard test; the file is read once before, as the document does.
fn standard_loads(test: &StandardTest, args: &TransactionsArgs) -> UsersQuestion {
    let loads = test.loads.iter().enumerate();
    let loads = loads.map(|(index, load)| UserLoad {
        name: format!("transactions-{}-{}", test.section, index + 1),
        users: load.users,
        profiles: load.profiles.clone(),
        goal: None,
        duration_max: budget(args),
        preparation: if index == 0 {
            Preparation::FillCache
        } else {
            Preparation::None
        },
        before: test.before.clone(),
    });
    UsersQuestion::Loads(loads.collect())
}

fn question(args: &TransactionsArgs, profiles: Vec<UserProfile>, users: u32) -> UsersQuestion {
    if let Some(limit) = args.limit.filter(|_| args.find_users) {
        return UsersQuestion::Search {
            profiles,
            options: SearchOptions {
                share: args.percentile,
                limit_ns: limit.as_nanos(),
                users_first: users,
                users_max: args.users_max,
            },
            precision: args.precision,
        };
    }
    let is_counted = profiles
        .iter()
        .all(|profile| profile.transactions.is_some());
    let (goal, duration_max) = match args.duration {
        Some(duration) => (None, duration),
        None if is_counted => (None, budget(args)),
        None => {
            let think = profiles.iter().map(|profile| profile.think.mean_ns);
            let least = (think.fold(0.0, f64::max) * THINKS_MIN) as u64;
            let mut goal = Goal::result(args.precision);
            goal.duration_min_ns = goal.duration_min_ns.max(least);
            goal.duration_min_ns = goal.duration_min_ns.min(budget(args).as_nanos() / 10);
            goal.duration_min_ns += args.warm_up.map_or(0, Duration::as_nanos);
            (Some(goal), budget(args))
        }
    };
    UsersQuestion::Loads(vec![UserLoad {
        name: "transactions".into(),
        users,
        profiles,
        goal,
        duration_max,
        preparation: Preparation::None,
        before: None,
    }])
}

/// How many users there are, or where a search begins.
fn users(args: &TransactionsArgs, profiles: &[UserProfile]) -> Result<u32, UsageError> {
    let in_file: u32 = profiles.iter().map(|profile| profile.users).sum();
    let users = match args.users {
        Some(users) => users,
        None if args.profiles.is_some() => in_file,
        None => 1,
    };
    if args.find_users && users > args.users_max {
        refuse!("--users {users} is above --users-max {}", args.users_max);
    }
    Ok(users.min(USERS_MAX))
}

fn profiles(
    args: &TransactionsArgs,
    unit: Duration,
    setup: &mut Setup,
) -> anyhow::Result<Vec<UserProfile>> {
    if let Some(path) = &args.profiles {
        return from_file(path, unit, setup);
    }
    let io_size = u32::try_from(args.io.as_u64()).unwrap_or(u32::MAX);
    let writes = (args.writes * MIX_PARTS).round() as u32;
    let profiles = vec![UserProfile {
        name: "user".into(),
        users: 1,
        ios: args.ios,
        io_size,
        reads: MIX_PARTS as u32 - writes,
        writes,
        think: args.think,
        cpu_ns: args.cpu.nanos(unit),
        memory: args.memory.as_u64(),
        load: args.load_factor,
        records: if args.new_records {
            Records::New
        } else {
            Records::Repeat
        },
        transactions: args.transactions,
    }];
    check_profiles(&profiles).map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        UsageError(texts.join("; "))
    })?;
    Ok(profiles)
}

fn from_file(path: &Path, unit: Duration, setup: &mut Setup) -> anyhow::Result<Vec<UserProfile>> {
    let text = recorded_text(path, PROFILES, setup)?;
    let profiles = parse_profiles(&text, &path.to_string_lossy(), unit);
    Ok(profiles.map_err(UsageError::of)?)
}
