//! Invented transfer rates.

use results::{
    AloneTogether, BlockTimes, StreamPass, Transfer, TransferKind, TransferMode, TransferPass,
    TransferSeries, TransferStream, Warning, WarningCode,
};

use sample::estimate;

/// Two streams, written once, each read alone and both together.
pub fn transfer() -> Transfer {
    let stream = |number| TransferStream {
        number,
        target: "/data".into(),
        device: Some("vda".into()),
        host: None,
    };
    Transfer {
        host_name: "gold".into(),
        precision: Some(0.02),
        passes: Some(2),
        check: "last".into(),
        streams: vec![stream(1), stream(2)],
        series: vec![
            series(
                "write 1 GiB by 64 KiB, 2 streams",
                TransferKind::Write,
                &[1, 2],
                400e6,
            ),
            series(
                "read 1 GiB by 64 KiB, stream 1 alone",
                TransferKind::Read,
                &[1],
                800e6,
            ),
            series(
                "read 1 GiB by 64 KiB, stream 2 alone",
                TransferKind::Read,
                &[2],
                800e6,
            ),
            series(
                "read 1 GiB by 64 KiB, 2 streams",
                TransferKind::Read,
                &[1, 2],
                900e6,
            ),
        ],
        comparisons: vec![
            compared(Some(1), 800e6, 450e6),
            compared(Some(2), 800e6, 450e6),
            compared(None, 1600e6, 900e6),
        ],
        memory_up_to_bytes: Some(1 << 29),
        hosts: Vec::new(),
    }
}

fn compared(stream: Option<u32>, alone: f64, together: f64) -> AloneTogether {
    AloneTogether {
        stream,
        block_bytes: 65_536,
        alone: estimate(alone, 0.01),
        together: estimate(together, 0.01),
        ratio: estimate(together / alone, 0.015),
    }
}

fn series(title: &str, kind: TransferKind, streams: &[u32], rate: f64) -> TransferSeries {
    let count = if kind == TransferKind::Write { 1 } else { 2 };
    TransferSeries {
        title: title.into(),
        kind,
        mode: TransferMode::Direct,
        block_bytes: 65_536,
        size_bytes: 1 << 30,
        streams: streams.to_vec(),
        passes: (1..=count)
            .map(|number| pass(number, streams, rate))
            .collect(),
        rate: estimate(rate, 0.01),
        stream_rates: streams
            .iter()
            .map(|_| estimate(rate / streams.len() as f64, 0.01))
            .collect(),
        is_precise: count > 1,
        warnings: vec![Warning::warn(
            WarningCode::Drift,
            "A doubt about one series.",
        )],
    }
}

fn pass(number: u32, streams: &[u32], rate: f64) -> TransferPass {
    let bytes = streams.len() as u64 * (1 << 30);
    let elapsed_ns = (bytes as f64 / rate * 1e9) as u64;
    let each = rate / streams.len() as f64;
    TransferPass {
        number,
        bytes,
        elapsed_ns,
        rate,
        overlap_share: 0.995,
        streams: streams
            .iter()
            .map(|&stream| StreamPass {
                stream,
                bytes: 1 << 30,
                elapsed_ns,
                rate: each,
                within: Some(estimate(each, 0.02)),
            })
            .collect(),
        blocks: Some(BlockTimes {
            count: 16_384 * streams.len() as u64,
            mean_ns: 65_536e9 / rate * streams.len() as f64,
            p99_ns: Some((100_000e9 / rate) as u64 * streams.len() as u64),
        }),
        cpu_ns: Some(210_000_000),
        cpu_user_ns: Some(50_000_000),
        cpu_system_ns: Some(160_000_000),
        page_cache_share: Some(0.0),
        device_rate: Some(rate * 1.002),
        ended_at: Some("2027-01-31T12:00:10.250Z".into()),
        ended_monotonic_ns: 86_400_250_000_000 + u64::from(number) * elapsed_ns,
    }
}
