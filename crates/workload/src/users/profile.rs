//! What users of one kind do, and what is wrong with a kind that nobody could be of.

use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use crate::mix::Gap;
use crate::users::USERS_MAX;

/// The document's unit of processor work, in nanoseconds of a present processor.
///
/// The document says that 1 unit is one second of an 80486DX2/66, and that a Pentium Pro at
/// 200 MHz does it in 0.10 s (section 9.2, column "CP sec /tran"): a factor of 10. From there to a
/// present core the clock rate has grown by about 20, and the work done in a clock period by about
/// 2, which makes 400 in all: one unit is 2.5 ms. It is a convention that keeps runs comparable
/// with each other, not a measurement of a 486.
pub const CPU_UNIT_NS: u64 = 2_500_000;

/// The most I/Os of one transaction.
const IOS_MAX: u32 = 1_000_000;
/// The longest I/O.
const IO_BYTES_MAX: u32 = 1 << 30;
/// The longest think time, and the most processor work of one transaction.
const SPAN_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The most profiles.
const PROFILES_MAX: usize = 64;

/// Whether all transactions ask for the same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadFactor {
    /// Each is like the other.
    Constant,
    /// I/Os and processor work are scaled by a factor that is drawn for each transaction, negative
    /// exponential with mean 1: 5 % are above 3.0.
    Exponential,
}

/// Which records users read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// Those of every other run: a user's number alone says which.
    Repeat,
    /// Others in each run, as its seed says.
    New,
}

/// What users of one kind do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserProfile {
    /// What reports call it.
    pub name: String,
    /// How many users are of this kind, in proportion to the other kinds.
    pub users: u32,
    /// I/Os of one transaction, on average.
    pub ios: u32,
    /// Bytes of an I/O.
    pub io_size: u32,
    /// Weight of reads.
    pub reads: u32,
    /// Weight of writes.
    pub writes: u32,
    /// From the end of one transaction to the instant at which the next is due.
    pub think: Gap,
    /// Processor work of one transaction, on average, nanoseconds; spread evenly between its I/Os.
    pub cpu_ns: u64,
    /// Memory of each user's own, all of which every transaction touches, bytes.
    pub memory: u64,
    /// How the work of transactions varies.
    pub load: LoadFactor,
    /// Which records are read and written.
    pub records: Records,
    /// Transactions after which a user leaves; `None` for no end.
    pub transactions: Option<u64>,
}

/// Why nobody could be a user of that kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is no profile at all.
    #[error("there are no users. Give at least one profile")]
    None,
    /// There are more profiles than are told apart.
    #[error("{count} profiles are more than {PROFILES_MAX}")]
    TooMany { count: usize },
    /// A number is out of range.
    #[error("profile {profile:?}: {what} {value} must lie between {low} and {high}")]
    Range {
        profile: String,
        /// Which number.
        what: &'static str,
        value: String,
        /// The least.
        low: String,
        /// The most.
        high: String,
    },
    /// All users together are too many.
    #[error("{users} users are more than {USERS_MAX}")]
    TooManyUsers { users: u64 },
    /// Neither reads nor writes.
    #[error("profile {profile:?}: reads:writes 0:0 leaves nothing to do")]
    NoMix { profile: String },
    /// Two profiles have one name.
    #[error("profile {profile:?} is given twice")]
    SameName {
        /// Which name.
        profile: String,
    },
}

/// Say what is wrong with profiles.
///
/// # Errors
/// Everything that is wrong, at once.
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
