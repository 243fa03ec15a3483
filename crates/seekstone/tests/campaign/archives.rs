//! Archives that are damaged: whatever stands in the file, each command ends with a sentence.

use std::fs;
use std::path::Path;

use crate::bounded::run;
use crate::cases::{OUTPUTS, SIMULATED};
use crate::place::Place;
use crate::table::Table;
use crate::{random, scaled};

/// What is done with a damaged archive.
const COMMANDS: [&[&str]; 5] = [
    &["runs", "list"],
    &["runs", "show", "1"],
    &["runs", "export", "1"],
    &["runs", "delete", "2", "--yes"],
    SIMULATED.args,
];

/// Bytes that are overwritten at once.
const ROW: usize = 200;

/// Ways in which a file is damaged.
const DAMAGES: [(&str, Damage); 5] = [
    ("a bit flipped", flip),
    ("cut short", cut),
    ("a page zeroed", zero_page),
    ("200 bytes at random", scribble),
    ("0xff", fill),
];

type Damage = fn(Vec<u8>, &mut fastrand::Rng) -> Vec<u8>;

fn flip(mut bytes: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    // Most of what decides anything stands in front of each page.
    let at = if random.bool() {
        random.usize(..bytes.len())
    } else {
        random.usize(..bytes.len() / 4096) * 4096 + random.usize(..128)
    };
    bytes[at] ^= 1 << random.u8(..8);
    bytes
}

fn cut(mut bytes: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    bytes.truncate(random.usize(..bytes.len()));
    bytes
}

fn zero_page(mut bytes: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    let at = random.usize(..bytes.len() / 4096) * 4096;
    bytes[at..at + 4096].fill(0);
    bytes
}

fn scribble(mut bytes: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    let at = random.usize(..bytes.len() - ROW);
    bytes[at..at + ROW].fill_with(|| random.u8(..));
    bytes
}

fn fill(mut bytes: Vec<u8>, random: &mut fastrand::Rng) -> Vec<u8> {
    let at = random.usize(..bytes.len() - 16);
    let length = random.usize(1..=16);
    bytes[at..at + length].fill(0xff);
    bytes
}

#[test]
fn a_damaged_archive_is_told_in_a_sentence() {
    let place = Place::new(&OUTPUTS);
    let archive = place.scratch.archive();
    for _ in 0..3 {
        let ended = run(place.command(SIMULATED.args));
        assert_eq!(ended.code, Some(0), "{}", ended.said);
    }
    let sound = fs::read(&archive).expect("an archive");
    let mut table = Table::new("archives");
    let wanted = scaled(4, 80);
    for (name, damage) in DAMAGES {
        let mut faults = Vec::new();
        for number in 0..wanted {
            let bytes = damage(sound.clone(), &mut random(name, number));
            for command in COMMANDS {
                faults.extend(fault_of(&place, &archive, &bytes, command, number));
            }
        }
        faults.extend(place.harm());
        let tried = format!("{wanted} archives x {} commands", COMMANDS.len());
        table.row(name, &tried, &faults);
    }
    table.finish();
}

fn fault_of(
    place: &Place,
    archive: &Path,
    bytes: &[u8],
    command: &[&str],
    number: u64,
) -> Option<String> {
    for name in ["archive.db-wal", "archive.db-shm", "archive.db-journal"] {
        let _ = fs::remove_file(place.scratch.path(name));
    }
    fs::write(archive, bytes).expect("an archive");
    // A damaged one may hold no run of that number, or no longer be one.
    let fault = run(place.command(command)).fault(&[0, 1, 2])?;
    Some(format!("archive {number}, {command:?}: {fault}"))
}
