//! What kinds of measurements found: in recorded runs where those have all that tests ask for, else
//! invented.

#[path = "found/files.rs"]
mod files;
#[path = "found/rab.rs"]
mod rab;
#[path = "found/timing.rs"]
mod timing;
#[path = "found/transactions.rs"]
mod transactions;
#[path = "found/transfer.rs"]
mod transfer;

use std::fs::File;
use std::io::Read as _;

use flate2::read::GzDecoder;
use results::{RandomAccess, Replay, ReplayDeal, ReplayHost, SsdTests, Warning, WarningCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use files::files;
pub use rab::rab;
pub use timing::timing;
pub use transactions::transactions;
pub use transfer::transfer;

/// What a recorded run found, as version 3 of the JSON form held it under the key of its kind.
fn recorded<T: DeserializeOwned>(name: &str, key: &str) -> T {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded");
    let file = File::open(format!("{folder}/{name}.json.gz")).expect("a recorded run");
    // Unpacked byte by byte it would take thrice as long.
    let mut text = String::new();
    let unpacked = GzDecoder::new(file).read_to_string(&mut text);
    unpacked.expect("gzip");
    let mut run: Value = serde_json::from_str(&text).expect("JSON");
    serde_json::from_value(run[key].take()).expect("what the kind found")
}

/// Write saturation that became steady, and a latency test of too few rounds.
pub fn ssd() -> SsdTests {
    recorded("ssd-2", "ssd")
}

/// A short trace, dealt to two hosts.
pub fn replay() -> Replay {
    let replay: Replay = recorded("replay", "replay");
    let host = |(rank, requests): (u32, u64)| ReplayHost {
        rank,
        host: format!("node{}", rank + 1),
        requests,
        bytes: requests << 12,
        took_ns: replay.took_ns,
        behind: replay.behind,
    };
    Replay {
        dealt: Some(ReplayDeal::Files),
        hosts: [(0, 2), (1, 1)].map(host).to_vec(),
        ..replay
    }
}

/// Reads and writes over three spans, with two block sizes and at two depths.
pub fn random_access() -> RandomAccess {
    let mut found: RandomAccess = recorded("random", "random");
    let (whole, spans) = (found.span_bytes, [32 << 10, 2 << 20, found.span_bytes]);
    found.cells.retain(|it| match (it.block_bytes, it.depth) {
        (4096, 1) => spans.contains(&it.span_bytes),
        of => it.span_bytes == whole && [(4096, 8), (65_536, 1)].contains(&of),
    });
    for cell in &mut found.cells {
        (cell.is_citable, cell.warnings) = (true, Vec::new());
        (cell.cpu_per_operation_ns, cell.page_cache_share) = (Some(9_800.0), Some(0.0));
    }
    let doubt = Warning::warn(WarningCode::Drift, "A doubt about one cell.");
    (found.cells[8].rounds_agree, found.cells[8].warnings) = (false, vec![doubt]);
    found.cells[9].is_citable = false;
    found.check = "record".into();
    found.fill_rate = Some(sample::estimate(812e6, 0.02));
    found
}
