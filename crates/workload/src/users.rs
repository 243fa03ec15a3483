//! Users who think, and then perform a transaction: I/Os with CPU work in between.
//!
//! Source: the document of DISKRAND (1997), sections 1, 4, 9 and 10. A user has a separate random
//! stream for each purpose, so that a changed think time does not change records and loads. The
//! load factor of a transaction scales its I/Os and CPU work equally, as in the document's `Yread`.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::op::TargetId;

mod profile;
mod user;

pub(crate) use profile::NO_USERS;
pub use profile::{CPU_UNIT_NS, LoadFactor, ProfileError, Records, UserProfile, check_profiles};
pub use user::UserClient;

/// Maximum number of users in a trial.
pub const USERS_MAX: u32 = 100_000;

/// Parameters of a number of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UsersForm", into = "UsersForm")]
pub struct UsersSpec {
    /// File or device.
    pub target: TargetId,
    /// Bytes used of it.
    pub len: u64,
    /// Users started per second; `None` starts all at once.
    pub ramp_per_second: Option<f64>,
    profiles: Arc<[UserProfile]>,
    /// The profile of each user, repeated for more users; never empty.
    order: Arc<[u16]>,
}

/// [`UsersSpec`] without derived fields.
#[derive(Serialize, Deserialize)]
struct UsersForm {
    target: TargetId,
    len: u64,
    ramp_per_second: Option<f64>,
    profiles: Vec<UserProfile>,
}

impl From<UsersSpec> for UsersForm {
    fn from(spec: UsersSpec) -> Self {
        Self {
            target: spec.target,
            len: spec.len,
            ramp_per_second: spec.ramp_per_second,
            profiles: spec.profiles.to_vec(),
        }
    }
}

impl TryFrom<UsersForm> for UsersSpec {
    type Error = String;

    fn try_from(form: UsersForm) -> Result<Self, String> {
        let spec = Self::new(form.target, form.len, form.ramp_per_second, form.profiles);
        spec.map_err(|errors| {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            texts.join("; ")
        })
    }
}

impl UsersSpec {
    /// Users with those profiles on `len` bytes of a target.
    ///
    /// # Errors
    /// All errors in the profiles.
    pub fn new(
        target: TargetId,
        len: u64,
        ramp_per_second: Option<f64>,
        profiles: Vec<UserProfile>,
    ) -> Result<Self, Vec<ProfileError>> {
        check_profiles(&profiles)?;
        let weights: Vec<u32> = profiles.iter().map(|profile| profile.users).collect();
        Ok(Self {
            target,
            len,
            ramp_per_second,
            order: spread(&weights).into(),
            profiles: profiles.into(),
        })
    }

    /// The profiles; one at least.
    pub fn profiles(&self) -> &[UserProfile] {
        &self.profiles
    }

    pub(crate) fn shared_profiles(&self) -> Arc<[UserProfile]> {
        Arc::clone(&self.profiles)
    }

    /// The number of the profile of user `user`, counted from zero.
    pub fn profile_of(&self, user: u32) -> u32 {
        u32::from(self.order[user as usize % self.order.len()])
    }

    /// How many of `users` users have each profile.
    pub fn count_by_profile(&self, users: u32) -> Vec<u32> {
        let mut counts = vec![0; self.profiles.len()];
        for user in 0..users {
            counts[self.profile_of(user) as usize] += 1;
        }
        counts
    }

    /// Memory of `users` users in total, bytes.
    pub fn memory_bytes(&self, users: u32) -> u64 {
        let counts = self.count_by_profile(users);
        let each = counts.iter().zip(self.profiles());
        each.fold(0, |sum: u64, (&count, profile)| {
            sum.saturating_add(u64::from(count).saturating_mul(profile.memory))
        })
    }

    /// Whether a user does CPU work or touches memory.
    pub fn computes(&self) -> bool {
        let mut profiles = self.profiles().iter();
        profiles.any(|profile| profile.cpu_ns > 0 || profile.memory > 0)
    }

    /// The same with other users: more or fewer, on another number of bytes.
    pub fn on(&self, target: TargetId, len: u64) -> Self {
        Self {
            target,
            len,
            ..self.clone()
        }
    }
}

/// Profile numbers in proportion to their weights, spread as evenly as possible, so that any number
/// of users has a fair share of each. Method: smooth weighted round-robin: all gain their weight,
/// the largest has its turn and pays the sum.
fn spread(weights: &[u32]) -> Vec<u16> {
    let divisor = weights
        .iter()
        .fold(0, |sum, &weight| gcd(sum, weight))
        .max(1);
    let weights: Vec<i64> = weights
        .iter()
        .map(|&weight| i64::from(weight / divisor))
        .collect();
    let sum: i64 = weights.iter().sum();
    let mut credits = vec![0_i64; weights.len()];
    let mut order = Vec::with_capacity(sum as usize);
    for _ in 0..sum {
        for (credit, weight) in credits.iter_mut().zip(&weights) {
            *credit += weight;
        }
        let richest = (0..credits.len())
            .rev()
            .max_by_key(|&place| credits[place])
            .unwrap_or(0);
        credits[richest] -= sum;
        order.push(richest as u16);
    }
    order
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_spread_in_their_proportion() {
        assert_eq!(spread(&[1]), [0]);
        assert_eq!(spread(&[100_000]), [0]);
        assert_eq!(spread(&[30_000, 10_000]), [0, 0, 1, 0]);
        let order = spread(&[30, 2]);
        let heavy = order.iter().filter(|&&kind| kind == 1).count();
        assert_eq!((order.len(), heavy), (16, 1), "{order:?}");
    }
}
