//! What users are going to do, reckoned before they start as section 0.1 of the DISKRAND document
//! does: "for a first approximation of the running time, ignore the loading".

use results::{Measurement, Warning, WarningCode};
use units::{Bytes, Duration, format_count, format_counted, format_duration_ns};

use super::run::{TransactionsRequest, UserLoad, UsersQuestion, spec};

/// "Performance measurement should be based on transactions involving at least 1000 disk I/Os."
const IOS_MIN: u64 = 1000;

/// What a load comes to where storage and processors take no time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reckoning {
    /// Transactions and I/Os of all users; `None` where users make as many as they can.
    counted: Option<(f64, f64)>,
    /// The time of the user who takes the longest, seconds.
    least_s: f64,
    /// Transactions and I/Os per second; infinite of users who neither think nor compute.
    per_second: (f64, f64),
}

impl Reckoning {
    fn of(load: &UserLoad) -> Option<Self> {
        let users = spec(&load.profiles, None).ok()?;
        let counts = users.count_by_profile(load.users);
        let is_counted = load.profiles.iter().all(|it| it.transactions.is_some());
        let mut found = Self {
            counted: is_counted.then_some((0.0, 0.0)),
            ..Self::default()
        };
        for (profile, count) in load.profiles.iter().zip(counts) {
            let (users, ios) = (f64::from(count), f64::from(profile.ios));
            let each_s = (profile.think.mean_ns + profile.cpu_ns as f64) / 1e9;
            found.per_second.0 += users / each_s;
            found.per_second.1 += users * ios / each_s;
            if let (Some(counted), Some(made)) = (&mut found.counted, profile.transactions) {
                counted.0 += users * made as f64;
                counted.1 += users * made as f64 * ios;
                found.least_s = found.least_s.max(made as f64 * each_s);
            }
        }
        Some(found)
    }

    /// "At most 0.800 transactions/s and 16.0 I/Os/s", where users think or compute.
    fn rates(&self) -> String {
        let (transactions, ios) = self.per_second;
        if !ios.is_finite() {
            return "As fast as the storage answers".into();
        }
        format!(
            "At most {} transactions/s and {} I/Os/s",
            format_count(transactions),
            format_count(ios)
        )
    }
}

impl TransactionsRequest {
    /// What is going to be done, in a sentence.
    pub fn plan(&self) -> String {
        let loads = match &self.question {
            UsersQuestion::Search { options, .. } => {
                return format!(
                    "plan: numbers of users from {} to {} are tried, for at most {}",
                    options.users_first, options.users_max, self.budget
                );
            }
            UsersQuestion::Loads(loads) => loads,
        };
        let found: Vec<Reckoning> = loads.iter().filter_map(Reckoning::of).collect();
        match (loads.as_slice(), found.as_slice()) {
            ([load], [one]) => self.plan_of(load, one),
            _ => rows(&found),
        }
    }

    fn plan_of(&self, load: &UserLoad, found: &Reckoning) -> String {
        let users = format_counted(load.users.into(), "user");
        let rates = found.rates();
        let Some((transactions, ios)) = found.counted else {
            let length = match load.goal {
                None => format!("for {}", load.duration_max),
                Some(goal) => format!(
                    "until the mean is known to {} %, {} at the longest",
                    goal.precision * 100.0,
                    load.duration_max
                ),
            };
            return format!("plan: {users} {length}. {rates}");
        };
        let size = load.profiles.first().map_or(0, |it| it.io_size.into());
        format!(
            "plan: {users}, {} transactions, {} I/Os of {}. {} at least. {rates}",
            format_count(transactions),
            format_count(ios),
            Bytes(size),
            seconds(found.least_s)
        )
    }
}

/// The rows of a standard test.
fn rows(found: &[Reckoning]) -> String {
    let counted = found.iter().filter_map(|it| it.counted);
    let (transactions, ios) = counted.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let least_s: f64 = found.iter().map(|it| it.least_s).sum();
    format!(
        "plan: {}, {} transactions, {} I/Os. {} at least, one row after the other",
        format_counted(found.len() as u64, "row"),
        format_count(transactions),
        format_count(ios),
        seconds(least_s)
    )
}

fn seconds(seconds: f64) -> String {
    format_duration_ns(Duration::from_secs_f64(seconds).as_nanos() as f64)
}

/// Too few I/Os for what the document calls accurate.
pub(super) fn few_ios(load: &UserLoad, title: &str, measured: &Measurement) -> Option<Warning> {
    let ios: u64 = measured.kinds.iter().map(|kind| kind.count).sum();
    let reckoned = Reckoning::of(load).and_then(|it| it.counted);
    let made = load.profiles.iter().filter_map(|it| it.transactions).max();
    let advice = match (reckoned, made) {
        (Some((_, ios)), Some(made)) if ios > 0.0 => {
            let wanted = (made as f64 * IOS_MIN as f64 / ios).ceil();
            format!("Use --transactions {wanted} or more.")
        }
        _ => "Run longer, or with more users.".into(),
    };
    (ios < IOS_MIN && !measured.is_all_failed()).then(|| {
        let text =
            format!("{title}: only {ios} I/Os. The DISKRAND document asks for at least {IOS_MIN}.");
        Warning::info(WarningCode::FewIos, text).advise(&advice)
    })
}

#[cfg(test)]
mod tests {
    use procedure::Preparation;
    use workload::{Gap, GapShape, LoadFactor, Records, UserProfile};

    use super::*;

    fn load(transactions: Option<u64>, think_s: u64) -> UserLoad {
        UserLoad {
            name: "transactions".into(),
            users: 4,
            profiles: vec![UserProfile {
                name: "user".into(),
                users: 1,
                ios: 20,
                io_size: 4096,
                reads: 1,
                writes: 0,
                think: Gap::new(GapShape::Exponential, Duration::from_secs(think_s)),
                cpu_ns: 0,
                memory: 0,
                load: LoadFactor::Constant,
                records: Records::Repeat,
                transactions,
            }],
            goal: None,
            duration_max: Duration::from_secs(300),
            preparation: Preparation::None,
            before: None,
        }
    }

    /// "50 transactions x 5 = 250 seconds, total 200 transactions at 200/250 = 0.8 transactions per
    /// second, total of 4 x 50 x 20 = 4000 I/Os in 250 seconds or 16 I/Os per second."
    #[test]
    fn the_documents_first_approximation() {
        let found = Reckoning::of(&load(Some(50), 5)).expect("a load");
        let expected = Reckoning {
            counted: Some((200.0, 4000.0)),
            least_s: 250.0,
            per_second: (0.8, 16.0),
        };
        assert_eq!(found, expected);
        let rates = "At most 0.800 transactions/s and 16 I/Os/s";
        assert_eq!(found.rates(), rates);
    }

    #[test]
    fn users_who_never_think_are_as_fast_as_the_storage() {
        let found = Reckoning::of(&load(None, 0)).expect("a load");
        assert_eq!(found.counted, None);
        assert_eq!(found.rates(), "As fast as the storage answers");
    }
}
