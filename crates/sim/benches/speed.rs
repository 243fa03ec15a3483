//! How many simulated I/Os per second one core does: `cargo bench -p sim --bench speed`.
//! Without `--bench`, as under `cargo test`, only few are done.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock and prints"
)]

use engine::Driver as _;
use random::{Purpose, Stream};
use sim::SimSpec;
use units::Instant;
use workload::{ClientId, Op, Request, TargetId};

const MANY: u64 = 3_000_000;
const FEW: u64 = 1_000;
const DEPTH: usize = 4;

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let requests = if is_bench { MANY } else { FEW };
    for device in [
        "sim:fireball?segments=0",
        "sim:fireball",
        "sim:rz28?raid=5&disks=5&segments=0",
        "sim:ppro",
        "sim:nvme",
        "sim:mm1",
    ] {
        let spec = SimSpec::parse(device).expect("a built-in device");
        let mut driver = spec.driver(1, DEPTH, Instant::START);
        let mut stream = Stream::new(1, 0, Purpose::Address);
        let blocks = spec.size.0 / 4096;
        let begun = std::time::Instant::now();
        let (mut sent, mut finished, mut done) = (0, 0, Vec::new());
        while finished < requests {
            while sent < requests && sent - finished < DEPTH as u64 {
                let op = Op::Read {
                    target: TargetId(0),
                    offset: stream.below(blocks) * 4096,
                    len: 4096,
                };
                driver
                    .submit(Request::new(ClientId(0), Instant::START, op))
                    .expect("room");
                sent += 1;
            }
            driver
                .wait(None, &mut done)
                .expect("requests are under way");
            finished += done.len() as u64;
            done.clear();
        }
        let rate = requests as f64 / begun.elapsed().as_secs_f64();
        println!("{device:40} {:6.2} million I/Os per second", rate / 1e6);
    }
}
