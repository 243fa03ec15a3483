//! What ranks mean to do with files of which each has several: agreed on before one is opened.

use results::{Access, TargetDescription};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::common_target::{CommonTarget, TargetReport};
use super::ranks::Ranks;
use crate::bench::BenchError;

/// A directory in which files are made, or a file or device that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetClaim {
    seen: TargetReport,
    /// What files that are made take there, bytes.
    needs: u64,
    /// What may be taken, bytes.
    space: u64,
}

/// All that a rank works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostClaims {
    /// What it means to do, as a number: the same on all ranks.
    pub plan: u64,
    pub places: Vec<TargetClaim>,
}

impl TargetClaim {
    /// A target on which files of so many bytes are made where so many may be.
    #[must_use]
    pub fn of(target: &TargetDescription, needs: u64, space: u64) -> Self {
        Self {
            seen: TargetReport::by_calls(target, Access::Buffered, space),
            needs,
            space,
        }
    }
}

impl Ranks {
    /// All ranks mean to do the same, on files of their own or shared as was asked for, with space
    /// for all; else none goes on. Returns how they differ where that is no mistake.
    ///
    /// # Errors
    /// When it is not so, or a rank cannot do it.
    pub fn agree_on_claims(
        &self,
        own: Result<HostClaims, BenchError>,
    ) -> Result<Vec<String>, BenchError> {
        self.agree(own, |all| judged(&all, self))
    }

    /// All ranks reach their storage in one way, or none goes on.
    ///
    /// # Errors
    /// When they do not, or a rank could not open its own.
    pub fn agree_on_access(&self, own: Result<Access, BenchError>) -> Result<(), BenchError> {
        self.agree(own, |all| {
            let other = (0..).zip(&all).find(|(_, access)| **access != all[0]);
            other.map_or(Ok(()), |(rank, access)| {
                Err(BenchError::Usage(format!(
                    "{}: the way to its files is {access:?}, and {:?} on {}. Measure the same on \
                     all hosts",
                    self.name(rank),
                    all[0],
                    self.name(0)
                )))
            })
        })
    }
}

fn judged(all: &[HostClaims], ranks: &Ranks) -> Result<Vec<String>, BenchError> {
    let first = &all[0];
    let is_like_first =
        |it: &HostClaims| it.plan == first.plan && it.places.len() == first.places.len();
    if let Some((rank, _)) = (0..).zip(all).find(|(_, it)| !is_like_first(it)) {
        return Err(BenchError::Usage(format!(
            "{}: its jobs come out otherwise than on {}. Give all hosts the same job file, and \
             files of one size or none",
            ranks.name(rank),
            ranks.name(0)
        )));
    }
    let mut differences = Vec::new();
    for at in 0..first.places.len() {
        let seen: Vec<TargetReport> = all.iter().map(|it| it.places[at].seen.clone()).collect();
        differences.extend(CommonTarget::of(&seen, ranks)?.differences);
    }
    for (rank, claims) in (0..).zip(all) {
        for place in &claims.places {
            let others = all.iter().flat_map(|it| &it.places);
            let sharing = others.filter(|it| it.seen.shares_space_with(&place.seen));
            let needs: u64 = sharing.map(|it| it.needs).sum();
            if needs > place.space && place.needs > 0 {
                return Err(BenchError::Usage(format!(
                    "{}: the ranks that share {} make files of {} there, and {} may be taken. Ask \
                     for less, or free some space",
                    ranks.name(rank),
                    place.seen.path(),
                    Bytes(needs),
                    Bytes(place.space)
                )));
            }
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use fleet::{HostClock, Latency, VirtualFleet};
    use results::environment::TargetKind;
    use units::Duration;

    use super::*;

    fn claims(plan: u64, path: &str, needs: u64) -> HostClaims {
        let target = TargetDescription {
            kind: TargetKind::Directory,
            remote: true,
            ..TargetDescription::simulated(path, path, None)
        };
        HostClaims {
            plan,
            places: vec![TargetClaim::of(&target, needs, 100)],
        }
    }

    fn judge(all: &[HostClaims]) -> Result<Vec<String>, String> {
        let latency = Latency {
            least: Duration::ZERO,
            more: Duration::ZERO,
        };
        let fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        let ranks = Ranks::new(Box::new(fleet), false);
        judged(all, &ranks).map_err(|error| error.to_string())
    }

    #[test]
    fn ranks_with_other_jobs_are_named() {
        let same = [claims(7, "/a", 50), claims(7, "/a", 50)];
        assert_eq!(judge(&same), Ok(Vec::new()));
        let error = judge(&[claims(7, "/a", 1), claims(8, "/a", 1)]).expect_err("another plan");
        assert!(
            error.starts_with("rank 1: its jobs come out otherwise than on rank 0"),
            "{error}"
        );
    }

    #[test]
    fn files_of_all_ranks_must_fit_where_they_share_space() {
        let error = judge(&[claims(7, "/a", 60), claims(7, "/a", 60)]).expect_err("120 of 100");
        assert!(
            error.starts_with(
                "rank 0: the ranks that share /a make files of 120 B there, and 100 B may be taken"
            ),
            "{error}"
        );
    }
}
