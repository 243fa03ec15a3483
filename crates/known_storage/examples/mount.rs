//! Mount a file whose every operation takes DELAY until it is unmounted, to try a program on it:
//!
//!     cargo run -p known_storage --example mount -- \
//!         DIRECTORY blocks|returns DELAY_US [FROM_S FOR_S]
//!
//! FROM_S seconds after it was mounted nothing is answered for FOR_S seconds.
//! The file is `DIRECTORY/data`, 1 GiB. At the end (`umount DIRECTORY`) it says what was served.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use known_storage::{Arrival, Behaviour, KnownStorage, KnownSubmission};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, submission, delay, silence @ ..] = arguments.as_slice() else {
        return Err(std::io::Error::other(
            "usage: mount DIRECTORY blocks|returns DELAY_US [FROM_S FOR_S]",
        ));
    };
    let number = |text: &String| text.parse().map_err(std::io::Error::other);
    let delay = Duration::from_micros(number(delay)?);
    let silent = match silence {
        [from, length] => {
            let from = Duration::from_secs(number(from)?);
            from..from + Duration::from_secs(number(length)?)
        }
        _ => Duration::ZERO..Duration::ZERO,
    };
    let law = move |arrival: &Arrival| match silent.contains(&arrival.at) {
        true => silent.end - arrival.at,
        false => delay,
    };
    let submission = match submission.as_str() {
        "blocks" => KnownSubmission::Blocks,
        _ => KnownSubmission::Returns,
    };
    let storage = KnownStorage::mount(
        Path::new(directory),
        Behaviour {
            size: 1 << 30,
            submission,
            law: Box::new(law),
        },
    )?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", storage.file().display())?;
    storage.wait_until_unmounted();
    let log = storage.log();
    let most = log.iter().map(|served| served.at_once).max().unwrap_or(0);
    let took: Duration = log.iter().map(|served| served.took).sum();
    let mean = took.checked_div(log.len() as u32).unwrap_or_default();
    writeln!(
        out,
        "{} served, {most} at once at most, mean {mean:?}",
        log.len()
    )
}
