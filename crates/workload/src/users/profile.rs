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

/// Why a profile is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no profile.
    #[error("there are no users. Give at least one profile")]
    None,
    /// There are too many profiles.
    #[error("{count} profiles are more than {PROFILES_MAX}")]
    TooMany { count: usize },
    /// A number is out of range.
    #[error("profile {profile:?}: {what} {value} must lie between {low} and {high}")]
    Range {
        profile: String,
        /// Name of the number.
        what: &'static str,
        value: String,
        /// Minimum.
        low: String,
        /// Maximum.
        high: String,
    },
    /// There are too many users in total.
    #[error("{users} users are more than {USERS_MAX}")]
    TooManyUsers { users: u64 },
    /// Neither reads nor writes.
    #[error("profile {profile:?}: reads:writes 0:0 leaves nothing to do")]
    NoMix { profile: String },
    /// Two profiles have the same name.
    #[error("profile {profile:?} is given twice")]
    SameName {
        /// The name.
        profile: String,
    },
}

/// Checks profiles.
///
/// # Errors
/// All errors at once.
pub fn check_profiles(profiles: &[UserProfile]) -> Result<(), Vec<ProfileError>> {
    let mut errors = Vec::new();
    if profiles.is_empty() {
        errors.push(ProfileError::None);
    }
    if profiles.len() > PROFILES_MAX {
        let count = profiles.len();
        errors.push(ProfileError::TooMany { count });
    }
    for (index, profile) in profiles.iter().enumerate() {
        errors.extend(check_profile(profile));
        let mut earlier = profiles[..index].iter();
        if earlier.any(|other| other.name == profile.name) {
            let profile = profile.name.clone();
            errors.push(ProfileError::SameName { profile });
        }
    }
    let users: u64 = profiles
        .iter()
        .map(|profile| u64::from(profile.users))
        .sum();
    if users > u64::from(USERS_MAX) {
        errors.push(ProfileError::TooManyUsers { users });
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn check_profile(profile: &UserProfile) -> Vec<ProfileError> {
    let mut errors = Vec::new();
    let mut number = |what, value: u64, low: u64, high: u64| {
        if !(low..=high).contains(&value) {
            errors.push(ProfileError::Range {
                profile: profile.name.clone(),
                what,
                value: value.to_string(),
                low: low.to_string(),
                high: high.to_string(),
            });
        }
    };
    number("users", profile.users.into(), 1, USERS_MAX.into());
    number(
        "I/Os per transaction",
        profile.ios.into(),
        1,
        IOS_MAX.into(),
    );
    let all = profile.transactions.unwrap_or(1);
    number("transactions", all, 1, u64::MAX);
    let mut refuse = |what, value: String, low: String, high: String| {
        let profile = profile.name.clone();
        errors.push(ProfileError::Range {
            profile,
            what,
            value,
            low,
            high,
        });
    };
    if !(1..=IO_BYTES_MAX).contains(&profile.io_size) {
        let size = |bytes: u32| Bytes(u64::from(bytes)).to_string();
        let (low, high) = (size(1), size(IO_BYTES_MAX));
        refuse("the I/O size", size(profile.io_size), low, high);
    }
    let think = profile.think.mean_ns;
    if !(0.0..=SPAN_MAX.as_nanos() as f64).contains(&think) {
        let typed = units::format_duration_ns(think);
        refuse("the think time", typed, "0".into(), SPAN_MAX.to_string());
    }
    if profile.cpu_ns > SPAN_MAX.as_nanos() {
        let typed = Duration::from_nanos(profile.cpu_ns).to_string();
        refuse("the CPU work", typed, "0".into(), SPAN_MAX.to_string());
    }
    if profile.reads == 0 && profile.writes == 0 {
        let profile = profile.name.clone();
        errors.push(ProfileError::NoMix { profile });
    }
    errors
}
