//! Commands on several hosts: in each round every rank starts the same one at the same instant,
//! and the time that counts is that from the first start to the last end.

use lab::hosts::{RankPart, Ranks};
use results::TimedRun;

/// What tells a command which rank runs it, and of how many.
const RANK: &str = "SEEKSTONE_RANK";
const RANKS: &str = "SEEKSTONE_RANKS";

/// When a rank began after the common instant, nanoseconds, and its run.
type RankRun = (u64, TimedRun);

/// What commands find in their environment.
pub(super) fn variables(ranks: Option<&Ranks>) -> Vec<(String, String)> {
    let Some(share) = ranks.map(Ranks::share) else {
        return Vec::new();
    };
    let pair = |name: &str, value: u32| (name.to_owned(), value.to_string());
    vec![pair(RANK, share.rank), pair(RANKS, share.ranks)]
}

/// When a rank was done, after the common instant, seconds.
fn ended_s((late_ns, run): &RankRun) -> f64 {
    *late_ns as f64 / 1e9 + run.real_s
}

/// What each rank did of a run.
pub(super) fn part(run: &RankRun) -> RankPart {
    let elapsed_ns = (run.1.real_s * 1e9) as u64;
    RankPart {
        ended_ns: run.0 + elapsed_ns,
        elapsed_ns,
        amount: 1,
        cpu_ns: None,
    }
}

/// A run of all ranks: from the first start to the last end, with what all of them took.
pub(super) fn merged(all: &[RankRun]) -> TimedRun {
    let began = all.iter().map(|it| it.0 as f64 / 1e9);
    let began = began.fold(f64::INFINITY, f64::min);
    let ended = all.iter().map(ended_s).fold(0.0, f64::max);
    let sum = |of: fn(&TimedRun) -> f64| all.iter().map(|it| of(&it.1)).sum();
    let bytes = |of: fn(&TimedRun) -> u64| all.iter().map(|it| of(&it.1)).sum();
    let exits = all.iter().map(|it| it.1.exit);
    TimedRun {
        round: all[0].1.round,
        real_s: ended - began,
        user_s: sum(|it| it.user_s),
        system_s: sum(|it| it.system_s),
        read_bytes: bytes(|it| it.read_bytes),
        written_bytes: bytes(|it| it.written_bytes),
        memory_bytes: all.iter().filter_map(|it| it.1.memory_bytes).max(),
        exit: exits.into_iter().find(|exit| *exit != 0).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(real_s: f64, exit: i32, memory_bytes: Option<u64>) -> TimedRun {
        TimedRun {
            round: 3,
            real_s,
            user_s: real_s / 2.0,
            system_s: 0.5,
            read_bytes: 10,
            written_bytes: 20,
            memory_bytes,
            exit,
        }
    }

    #[test]
    fn a_run_of_all_ranks_lasts_from_the_first_start_to_the_last_end() {
        let all = [
            (2_000_000, run(2.0, 0, Some(7))),
            (1_000_000, run(3.0, 4, None)),
            (500_000_000, run(1.0, 0, Some(9))),
        ];
        let found = merged(&all);
        assert!((found.real_s - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.user_s - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.system_s - 1.5).abs() < 1e-9, "{found:?}");
        assert_eq!((found.read_bytes, found.written_bytes), (30, 60));
        assert_eq!((found.memory_bytes, found.exit), (Some(9), 4));
        assert_eq!(found.round, 3);
    }
}
