//! Which requests of a trace fall to a rank: those of whole files where there are enough of them,
//! else one request in turn. Whatever the number of ranks, each request falls to one of them.

use crate::session::Result;
use fleet::ClientShare;
use lab::bench::BenchError;
use results::{ReplayDeal, ReplayPace};
use units::format_counted;

use super::fitting::FittedRecord;
use super::scan::Scan;

/// The part of one rank.
#[derive(Clone, Debug)]
pub(super) struct Dealing {
    share: ClientShare,
    /// The rank of each file, where files are dealt.
    of_files: Option<Vec<u32>>,
    /// Requests that were dealt so far, where they are.
    dealt: u64,
}

impl Dealing {
    /// All requests of a trace on one host.
    pub const WHOLE: Self = Self {
        share: ClientShare::WHOLE,
        of_files: None,
        dealt: 0,
    };

    /// What falls to this of several ranks.
    ///
    /// # Errors
    /// When a rank would have nothing to do, or the pace asks for one order of all requests.
    pub fn of(scan: &Scan, share: ClientShare, pace: ReplayPace) -> Result<Self> {
        let ranks = share.ranks;
        let files = scan.order.len();
        let has_files_for_all = files >= ranks as usize;
        if !has_files_for_all && matches!(pace, ReplayPace::Fast { .. }) {
            let most = match files {
                1 => "without a launcher".to_owned(),
                files => format!("at most {files} ranks"),
            };
            return Err(BenchError::Usage(format!(
                "--as-fast-as-possible keeps the order of requests, and {ranks} ranks would have \
                 to share the requests of {}. Start {most}, or replay at the recorded times",
                format_counted(files as u64, "file")
            )));
        }
        if scan.requests() < u64::from(ranks) {
            return Err(BenchError::Usage(format!(
                "the trace has {} for {ranks} ranks: start at most as many ranks",
                format_counted(scan.requests(), "request")
            )));
        }
        let of_files = has_files_for_all.then(|| {
            let mut of_files = vec![0; scan.requests_of.len()];
            for (turn, file) in (0..).zip(&scan.order) {
                of_files[*file as usize] = turn % ranks;
            }
            of_files
        });
        Ok(Self {
            share,
            of_files,
            dealt: 0,
        })
    }

    /// What is dealt.
    pub const fn unit(&self) -> ReplayDeal {
        match self.of_files {
            Some(_) => ReplayDeal::Files,
            None => ReplayDeal::Requests,
        }
    }

    /// Whether all requests of a file fall to this rank, where files are dealt.
    pub fn has_file(&self, file: u32) -> bool {
        let of_files = self.of_files.as_ref();
        of_files.is_none_or(|it| it.get(file as usize).copied().unwrap_or(0) == self.share.rank)
    }

    /// Whether the next record, of which became `fitted`, falls to this rank.
    pub fn takes(&mut self, file: u32, fitted: FittedRecord) -> bool {
        if self.of_files.is_some() {
            return self.has_file(file);
        }
        if fitted == FittedRecord::LeftOut {
            return self.share.rank == 0;
        }
        let turn = self.dealt % u64::from(self.share.ranks);
        self.dealt += 1;
        turn == u64::from(self.share.rank)
    }

    /// How many ranks there are.
    pub const fn ranks(&self) -> u32 {
        self.share.ranks
    }

    /// The pace of this rank, of that of all: requests outstanding are dealt, too.
    pub const fn pace(&self, of_all: ReplayPace) -> ReplayPace {
        match of_all {
            ReplayPace::Fast { depth } => ReplayPace::Fast {
                depth: self.share.count(depth),
            },
            recorded @ ReplayPace::Recorded { .. } => recorded,
        }
    }

    /// Bytes that each rank's test file needs, where each has its own: those of the largest part.
    pub fn extent(&self, scan: &Scan) -> u64 {
        let Some(of_files) = &self.of_files else {
            return scan.places.extent;
        };
        let of_rank = |rank| {
            let has = |file: u32| of_files.get(file as usize) == Some(&rank);
            scan.part_of(has).extent
        };
        (0..self.share.ranks).map(of_rank).max().unwrap_or(0)
    }

    /// How many requests of a trace fall to a rank, where all fit.
    pub fn requests(&self, scan: &Scan, rank: u32) -> u64 {
        let ranks = u64::from(self.share.ranks);
        match &self.of_files {
            None => scan.requests() / ranks + u64::from(u64::from(rank) < scan.requests() % ranks),
            Some(of_files) => {
                let files = of_files.iter().zip(&scan.requests_of);
                files.filter(|it| *it.0 == rank).map(|it| it.1).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use workload::{Op, TargetId};

    use super::*;

    const KEPT: FittedRecord = FittedRecord::Kept(Op::Flush {
        target: TargetId(0),
        data_only: false,
    });
    const RECORDED: ReplayPace = ReplayPace::Recorded { scale: 1.0 };

    /// A trace whose files were used in that order, so often each.
    fn scan(order: &[u32], requests_of: &[u64]) -> Scan {
        Scan {
            reads: requests_of.iter().sum(),
            order: order.to_vec(),
            requests_of: requests_of.to_vec(),
            ..Scan::default()
        }
    }

    /// Who takes each record of those files; exactly one rank must.
    fn takers(scan: &Scan, ranks: u32, records: &[(u32, FittedRecord)]) -> Vec<u32> {
        let deal = |rank| Dealing::of(scan, ClientShare { rank, ranks }, RECORDED).expect("a part");
        let mut all: Vec<Dealing> = (0..ranks).map(deal).collect();
        let take = |(file, fitted): &(u32, FittedRecord)| {
            let taking = all.iter_mut().map(|it| it.takes(*file, *fitted));
            let taking: Vec<bool> = taking.collect();
            assert_eq!(taking.iter().filter(|it| **it).count(), 1, "{ranks} ranks");
            taking.iter().position(|it| *it).expect("one") as u32
        };
        records.iter().map(take).collect()
    }

    #[test]
    fn files_are_dealt_in_the_order_of_their_use() {
        // File 1 has trims alone.
        let scan = scan(&[2, 0, 3], &[5, 0, 7, 1]);
        let records = [0, 1, 2, 3, 2].map(|file| (file, KEPT));
        assert_eq!(takers(&scan, 3, &records), [1, 0, 0, 2, 0]);
        assert_eq!(takers(&scan, 2, &records), [1, 0, 0, 0, 0]);
        let dealing =
            Dealing::of(&scan, ClientShare { rank: 1, ranks: 2 }, RECORDED).expect("a part");
        assert_eq!(dealing.unit(), ReplayDeal::Files);
        let requests = [0, 1].map(|rank| dealing.requests(&scan, rank));
        assert_eq!(requests, [8, 5]);
    }

    #[test]
    fn requests_are_dealt_in_turn_where_files_are_few() {
        let scan = scan(&[0, 1], &[4, 3]);
        let out = (0, FittedRecord::LeftOut);
        let records = [(0, KEPT), out, (1, KEPT), (1, KEPT), out, (0, KEPT)];
        assert_eq!(takers(&scan, 3, &records), [0, 0, 1, 2, 0, 0]);
        let dealing =
            Dealing::of(&scan, ClientShare { rank: 1, ranks: 3 }, RECORDED).expect("a part");
        assert_eq!(dealing.unit(), ReplayDeal::Requests);
        let requests = [0, 1, 2].map(|rank| dealing.requests(&scan, rank));
        assert_eq!(requests, [3, 2, 2]);
    }

    #[test]
    fn what_no_rank_could_do_in_order_is_refused() {
        let check = |scan: &Scan, ranks, pace, expected: &str| {
            let refused = Dealing::of(scan, ClientShare { rank: 0, ranks }, pace);
            let text = refused.expect_err("it cannot be dealt").to_string();
            assert!(text.contains(expected), "{text}");
        };
        let fast = ReplayPace::Fast { depth: 3 };
        let one = scan(&[0], &[9]);
        check(&one, 2, fast, "of 1 file. Start without a launcher");
        let two = scan(&[0, 1], &[9, 9]);
        check(&two, 4, fast, "of 2 files. Start at most 2 ranks");
        check(&scan(&[0], &[3]), 4, RECORDED, "3 requests for 4 ranks");
        let dealing = Dealing::of(&two, ClientShare { rank: 1, ranks: 2 }, fast).expect("a part");
        assert_eq!(dealing.pace(fast), ReplayPace::Fast { depth: 1 });
    }
}
