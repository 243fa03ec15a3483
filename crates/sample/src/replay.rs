//! An invented replay.

use results::{Behind, Replay, ReplayDeal, ReplayHost, ReplayPace};

/// A trace of ten minutes at twice its speed on two hosts, with some requests late.
#[must_use]
pub fn replay() -> Replay {
    Replay {
        format: "fio iolog v3".into(),
        pace: ReplayPace::Recorded { scale: 2.0 },
        files: 2,
        extent_bytes: 1 << 30,
        recorded: 60_010,
        requests: 60_000,
        bytes: 60_000 << 12,
        moved: 120,
        left_out: 10,
        length_ns: 300_000_000_000,
        took_ns: 300_030_000_000,
        behind: Some(behind()),
        dealt: Some(ReplayDeal::Files),
        hosts: vec![host(0, "node1", 41_000), host(1, "node2", 19_000)],
    }
}

fn behind() -> Behind {
    Behind {
        mean_ns: 40_000.0,
        p50_ns: 20_000,
        p99_ns: 900_000,
        longest_ns: 30_000_000,
        late_share: 0.002,
    }
}

fn host(rank: u32, host: &str, requests: u64) -> ReplayHost {
    ReplayHost {
        rank,
        host: host.into(),
        requests,
        bytes: requests << 12,
        took_ns: 300_030_000_000,
        behind: Some(behind()),
    }
}
