//! Profiles of users, and their errors.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use crate::mix::Gap;
use crate::users::USERS_MAX;

/// The document's unit of CPU work, in nanoseconds of a current processor.
///
/// The document says that 1 unit is one second of an 80486DX2/66, and that a Pentium Pro at 200 MHz
/// does it in 0.10 s (section 9.2, column "CP sec /tran"): a factor of 10. From there to a current
/// core the clock rate has grown by about 20, and the work per clock cycle by about 2, which makes
/// 400 in total: one unit is 2.5 ms. It is a convention that keeps runs comparable, not a
/// measurement of a 486.
pub const CPU_UNIT_NS: u64 = 2_500_000;

/// Maximum number of I/Os per transaction.
const IOS_MAX: u32 = 1_000_000;
/// Maximum I/O size.
const IO_BYTES_MAX: u32 = 1 << 30;
/// Maximum think time, and maximum CPU work per transaction.
const SPAN_MAX: Duration = Duration::from_secs(7 * 86_400);
/// Maximum number of profiles.
const PROFILES_MAX: usize = 64;

/// Whether all transactions have the same amount of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadFactor {
    /// All are equal.
    Constant,
    /// I/Os and CPU work are scaled by a random factor per transaction, exponential with mean 1: 5
    /// % are above 3.0.
    Exponential,
}

/// Records that users access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// The same in every run, determined by the user's number.
    Repeat,
    /// Different in each run, determined by its seed.
    New,
}

/// A user profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserProfile {
    /// Name in reports.
    pub name: String,
    /// Number of users with this profile, relative to the others.
    pub users: u32,
    /// Mean I/Os per transaction.
    pub ios: u32,
    /// Bytes of an I/O.
    pub io_size: u32,
    /// Weight of reads.
    pub reads: u32,
    /// Weight of writes.
    pub writes: u32,
    /// Think time: from the end of one transaction until the next is due.
    pub think: Gap,
    /// Mean CPU work per transaction, nanoseconds, spread evenly between its I/Os.
    pub cpu_ns: u64,
    /// Each user's own memory, which every transaction touches completely, bytes.
    pub memory: u64,
    /// Variation of work between transactions.
    pub load: LoadFactor,
    /// Records that are read and written.
    pub records: Records,
    /// Number of transactions after which a user leaves; `None` for no end.
    pub transactions: Option<u64>,
}

/// Said if there is no profile.
pub(crate) const NO_USERS: &str = "there are no users. Give at least one profile";

/// Why profiles are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ProfileError {
    text: String,
    /// Name of the invalid profile; empty if all are meant.
    pub profile: String,
}

impl ProfileError {
    fn of_all(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            profile: String::new(),
        }
    }

    fn of(profile: &UserProfile, text: &str) -> Self {
        Self {
            text: format!("profile {:?}{text}", profile.name),
            profile: profile.name.clone(),
        }
    }
}

/// Checks profiles.
///
/// # Errors
/// All errors at once.
pub fn check_profiles(profiles: &[UserProfile]) -> Result<(), Vec<ProfileError>> {
    let mut errors = Vec::new();
    if profiles.is_empty() {
        errors.push(ProfileError::of_all(NO_USERS));
    }
    let count = profiles.len();
    if count > PROFILES_MAX {
        let text = format!("{count} profiles are more than {PROFILES_MAX}");
        errors.push(ProfileError::of_all(text));
    }
    for (index, profile) in profiles.iter().enumerate() {
        errors.extend(check_profile(profile));
        let mut earlier = profiles[..index].iter();
        if earlier.any(|other| other.name == profile.name) {
            errors.push(ProfileError::of(profile, " is given twice"));
        }
    }
    let users: u64 = profiles.iter().map(|it| u64::from(it.users)).sum();
    if users > u64::from(USERS_MAX) {
        let text = format!("{users} users are more than {USERS_MAX}");
        errors.push(ProfileError::of_all(text));
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

fn check_profile(profile: &UserProfile) -> Vec<ProfileError> {
    let mut errors = Vec::new();
    let mut refuse = |text: &str| errors.push(ProfileError::of(profile, text));
    let mut within = |is_within: bool, what: &str, value: String, [low, high]: [String; 2]| {
        if !is_within {
            refuse(&format!(
                ": {what} {value} must lie between {low} and {high}"
            ));
        }
    };
    let numbers = [
        ("users", profile.users.into(), USERS_MAX.into()),
        ("I/Os per transaction", profile.ios.into(), IOS_MAX.into()),
        ("transactions", profile.transactions.unwrap_or(1), u64::MAX),
    ];
    for (what, value, high) in numbers {
        let range = [1, high].map(|it: u64| it.to_string());
        within((1..=high).contains(&value), what, value.to_string(), range);
    }
    let size = |bytes: u32| Bytes(u64::from(bytes)).to_string();
    let is_size = (1..=IO_BYTES_MAX).contains(&profile.io_size);
    let sizes = [1, IO_BYTES_MAX].map(size);
    within(is_size, "the I/O size", size(profile.io_size), sizes);
    let spans = || ["0".to_owned(), SPAN_MAX.to_string()];
    let think = profile.think.mean_ns;
    let is_span = (0.0..=SPAN_MAX.as_nanos() as f64).contains(&think);
    let typed = units::format_duration_ns(think);
    within(is_span, "the think time", typed, spans());
    let work = Duration::from_nanos(profile.cpu_ns);
    within(work <= SPAN_MAX, "the CPU work", work.to_string(), spans());
    if profile.reads == 0 && profile.writes == 0 {
        refuse(": reads:writes 0:0 leaves nothing to do");
    }
    errors
}
