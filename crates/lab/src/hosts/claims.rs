//! What each rank will do with files when it has several: agreed on before any is opened.

use results::{Access, TargetDescription};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::common_target::{CommonTarget, TargetReport};
use super::ranks::Ranks;
use crate::bench::BenchError;

/// A directory in which files are created, or an existing file or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetClaim {
    seen: TargetReport,
    /// Space needed for the created files, bytes.
    needs: u64,
    /// Available space, bytes.
    space: u64,
}

/// All targets of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostClaims {
    /// Its plan, the same on all ranks.
    pub plan: String,
    pub places: Vec<TargetClaim>,
}

impl TargetClaim {
    /// A target on which files of `needs` bytes are created within `space`.
    pub fn of(target: &TargetDescription, needs: u64, space: u64) -> Self {
        Self {
            seen: TargetReport::by_calls(target, Access::Buffered, space),
            needs,
            space,
        }
    }
}

impl Ranks {
    /// Checks that all ranks have the same plan, on their own files or shared ones as requested,
    /// with space for all. Otherwise none continues. Returns harmless differences. `unlike`
    /// describes a rank's plan that differs from that of the named one.
    ///
    /// # Errors
    /// If this does not hold, or a rank cannot continue.
    pub fn agree_on_claims(
        &self,
        own: Result<HostClaims, BenchError>,
        unlike: impl Fn(&str, (&str, &str)) -> String,
    ) -> Result<Vec<String>, BenchError> {
        self.agree(own, |all| judged(&all, self, unlike))
    }

    /// Checks that all ranks access their storage in the same way. Otherwise none continues.
    ///
    /// # Errors
    /// If they do not, or a rank could not open its storage.
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

fn judged(
    all: &[HostClaims],
    ranks: &Ranks,
    unlike: impl Fn(&str, (&str, &str)) -> String,
) -> Result<Vec<String>, BenchError> {
    let first = &all[0];
    let is_like_first =
        |it: &HostClaims| it.plan == first.plan && it.places.len() == first.places.len();
    if let Some((rank, other)) = (0..).zip(all).find(|(_, it)| !is_like_first(it)) {
        let why = unlike(&other.plan, (&first.plan, &ranks.name(0)));
        return Err(BenchError::Usage(format!("{}: {why}", ranks.name(rank))));
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
                    "{}: the ranks that share {} make files of up to {} there, and {} may be \
                     taken. Ask for less, or free some space",
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
    use crate::hosts::virtual_fleet::{HostClock, Latency, VirtualFleet};
    use results::environment::TargetKind;
    use units::Duration;

    use super::super::ranks::TargetSharing;
    use super::*;

    fn claims(plan: &str, path: &str, needs: u64) -> HostClaims {
        claims_on(true, plan, path, needs)
    }

    fn claims_on(remote: bool, plan: &str, path: &str, needs: u64) -> HostClaims {
        let target = TargetDescription {
            kind: TargetKind::Directory,
            remote,
            ..TargetDescription::simulated(path, path, None)
        };
        HostClaims {
            plan: plan.into(),
            places: vec![TargetClaim::of(&target, needs, 100)],
        }
    }

    fn judge(all: &[HostClaims]) -> Result<Vec<String>, String> {
        let latency = Latency {
            least: Duration::ZERO,
            more: Duration::ZERO,
        };
        let fleet = VirtualFleet::new(HostClock::default(), latency, 1);
        let ranks = Ranks::new(Box::new(fleet), TargetSharing::Separate);
        let unlike = |here: &str, (there, leader): (&str, &str)| {
            format!("{here} is planned here, and {there} on {leader}")
        };
        judged(all, &ranks, unlike).map_err(|error| error.to_string())
    }

    #[test]
    fn ranks_with_another_plan_are_named() {
        let same = [claims("as-is", "/a", 50), claims("as-is", "/a", 50)];
        assert_eq!(judge(&same), Ok(Vec::new()));
        let other = [claims("as-is", "/a", 1), claims("as-is, cold", "/a", 1)];
        assert_eq!(
            judge(&other).expect_err("another plan"),
            "rank 1: as-is, cold is planned here, and as-is on rank 0"
        );
    }

    #[test]
    fn files_of_all_ranks_must_fit_where_they_share_space() {
        let apart = ["/a", "/b"].map(|path| claims_on(false, "", path, 60));
        assert_eq!(judge(&apart), Ok(Vec::new()));
        assert_eq!(
            judge(&[claims("", "/a", 60), claims("", "/a", 60)]).expect_err("120 of 100"),
            "rank 0: the ranks that share /a make files of up to 120 B there, and 100 B may be \
             taken. Ask for less, or free some space"
        );
    }
}
