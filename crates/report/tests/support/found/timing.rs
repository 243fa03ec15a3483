//! Invented times of commands.

use results::{
    CommandComparison, RankShare, TimedCommand, TimedRun, Timing, TimingVerdict, Warning,
    WarningCode,
};

use sample::estimate;

/// Two commands, one of which had a slow run.
pub fn timing() -> Timing {
    Timing {
        commands: vec![
            command("gzip", "gzip -k -f data", &[1.50, 1.52, 1.49, 1.51, 1.90]),
            command("zstd", "zstd -k -f data", &[0.30, 0.31, 0.30, 0.29, 0.31]),
        ],
        comparisons: vec![CommandComparison {
            name: "zstd".into(),
            reference: "gzip".into(),
            ratio: estimate(0.191, 0.15),
            p_value: 0.000_012,
            pairs: 5,
            verdict: TimingVerdict::Faster,
        }],
        warm_ups: 1,
        is_cold: false,
        margin: 0.02,
        ended_by: "rounds".into(),
        shell_s: Some(0.000_9),
        hosts: vec![host(0, "node1", 1.52), host(1, "node2", 1.58)],
    }
}

fn host(rank: u32, host: &str, real_s: f64) -> RankShare {
    RankShare {
        command: "gzip".into(),
        rank,
        host: host.into(),
        rounds: 5,
        mean_s: real_s,
        first_in: 5 * (1 - rank),
        last_in: 5 * rank,
        ..RankShare::default()
    }
}

fn command(name: &str, typed: &str, seconds: &[f64]) -> TimedCommand {
    let runs: Vec<TimedRun> = seconds
        .iter()
        .zip(1..)
        .map(|(&real_s, round)| TimedRun {
            round,
            real_s,
            user_s: 0.9 * real_s,
            system_s: 0.05 * real_s,
            read_bytes: 0,
            written_bytes: 4 << 20,
            memory_bytes: (round > 1).then_some(50 << 20),
            exit: 0,
        })
        .collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let is_slow = seconds.iter().any(|&s| s > 1.8);
    TimedCommand {
        name: name.into(),
        command: typed.into(),
        real_s: Some(estimate(mean, 0.1)),
        user_s: Some(estimate(0.9 * mean, 0.1)),
        system_s: Some(estimate(0.05 * mean, 0.2)),
        outliers: if is_slow { vec![5] } else { Vec::new() },
        warnings: if is_slow {
            vec![Warning::info(
                WarningCode::MostlyStart,
                "An invented doubt.",
            )]
        } else {
            Vec::new()
        },
        runs,
    }
}
