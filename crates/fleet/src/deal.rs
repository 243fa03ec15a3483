//! Which clients a rank carries out.

/// One rank's share of the clients of a trial: numbers are dealt in turn, so that a client's
/// number, and with it its operations, does not depend on how many ranks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientShare {
    /// Which rank, from 0.
    pub rank: u32,
    /// How many there are, at least 1.
    pub ranks: u32,
}

impl ClientShare {
    /// All clients are on one host.
    pub const WHOLE: Self = Self { rank: 0, ranks: 1 };

    /// How many of `total` clients this rank has.
    pub const fn count(self, total: u32) -> u32 {
        let (each, rest) = (total / self.ranks, total % self.ranks);
        each + if self.rank < rest { 1 } else { 0 }
    }

    /// The number of this rank's client `index`.
    pub const fn client(self, index: u32) -> u32 {
        self.rank + index * self.ranks
    }

    /// This rank's part of `total` requests that may be outstanding, dealt as its clients are; at
    /// least one for a rank that has clients.
    pub fn depth(self, total: u32, clients: u32) -> u32 {
        let least = self.count(clients).min(1);
        self.count(total).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_dealt_once_whatever_the_number_of_ranks() {
        for ranks in 1..40 {
            for total in 0..100 {
                let mut dealt: Vec<u32> = (0..ranks)
                    .map(|rank| ClientShare { rank, ranks })
                    .flat_map(|it| (0..it.count(total)).map(move |index| it.client(index)))
                    .collect();
                dealt.sort_unstable();
                assert_eq!(dealt, (0..total).collect::<Vec<_>>(), "{ranks} ranks");
            }
        }
    }

    #[test]
    fn depth_is_dealt_with_the_clients() {
        let depths = |ranks, total, clients| -> Vec<u32> {
            (0..ranks)
                .map(|rank| ClientShare { rank, ranks }.depth(total, clients))
                .collect()
        };
        assert_eq!(depths(4, 32, 32), [8, 8, 8, 8]);
        assert_eq!(depths(4, 2, 8), [1, 1, 1, 1]);
        // Bug: each part was rounded up, to 8 in all.
        assert_eq!(depths(4, 6, 8), [2, 2, 1, 1]);
        assert_eq!(depths(3, 7, 7), [3, 2, 2]);
        assert_eq!(depths(3, 2, 2), [1, 1, 0]);
        assert_eq!(depths(1, 4096, u32::MAX), [4096]);
    }
}
