//! Storage that answers, and wrongly: it shrinks, becomes another file, moves too little, too much
//! or nothing, asks for another try, or hangs. The command ends by itself, and says why.

use std::time::Duration;

use known_storage::{Behaviour, HELD, KnownStorage, KnownSubmission, StorageFault};

use crate::bounded::Bounded;
use crate::cases::EMPTY;
use crate::place::Place;
use crate::support::skipped;
use crate::table::Table;
use crate::{is_full, scaled};

const SIZE: u64 = 4 << 20;
/// Operations that are answered as they should be.
const GOOD: u64 = 30;

const FAULTS: [(&str, StorageFault); 8] = [
    ("another file", StorageFault::Replaced),
    ("shorter file", StorageFault::Shrunk),
    ("short transfers", StorageFault::Short),
    ("wrong length", StorageFault::TooLong),
    ("EINTR", StorageFault::Error(libc::EINTR)),
    ("EAGAIN", StorageFault::Error(libc::EAGAIN)),
    ("empty transfers", StorageFault::Empty),
    ("EIO", StorageFault::Error(libc::EIO)),
];

/// Commands on the file, which is `FILE`; the first ones every day.
const COMMANDS: [(&str, &str); 8] = [
    (
        "trial",
        "trial FILE --duration 200ms --writes 50% --overwrite -q",
    ),
    (
        "trial, threads",
        "trial FILE --duration 200ms --writes 50% --overwrite -q --driver threads --clients 4",
    ),
    (
        "trial, verified",
        "trial FILE --duration 200ms --writes 50% --overwrite -q --verify",
    ),
    (
        "trial, errors count",
        "trial FILE --duration 200ms --writes 50% --overwrite -q --errors count",
    ),
    (
        "transfer",
        "transfer FILE --block 64KiB --passes 2 --size 2MiB -q",
    ),
    ("run", "run FILE --budget 1s -q"),
    (
        "fio",
        "fio --filename=FILE --rw=randrw --runtime=200ms --time_based --name=a --iodepth=4 \
         --ioengine=io_uring --overwrite",
    ),
    ("watch", "watch FILE --every 2ms --for 300ms -q"),
];

/// The storage, mounted in a place; `None` where FUSE cannot be used.
fn mounted(
    place: &Place,
    law: impl FnMut(&known_storage::Arrival) -> Duration + Send + 'static,
) -> Option<KnownStorage> {
    let at = place.scratch.path("known");
    std::fs::create_dir(&at).expect("a new directory");
    let behaviour = Behaviour {
        size: SIZE,
        submission: KnownSubmission::Returns,
        law: Box::new(law),
    };
    match KnownStorage::mount(&at, behaviour) {
        Ok(storage) => Some(storage),
        Err(error) => {
            skipped(
                "misbehaving",
                &format!("FUSE cannot be used here ({error})"),
            );
            None
        }
    }
}

fn started(place: &Place, storage: &KnownStorage, command: &str) -> Bounded {
    let file = storage.file().to_str().expect("a plain path");
    let words = command.split_whitespace();
    let args: Vec<String> = words.map(|word| word.replace("FILE", file)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    Bounded::start(place.command(&args))
}

#[test]
fn storage_that_answers_wrongly_ends_a_command_in_order() {
    let mut table = Table::new("wrong");
    let commands = &COMMANDS[..scaled(2, COMMANDS.len())];
    for (name, fault) in &FAULTS[..scaled(6, FAULTS.len())] {
        let mut faults = Vec::new();
        for (command, line) in commands {
            let place = Place::new(&EMPTY);
            let Some(storage) = mounted(&place, |_| Duration::ZERO) else {
                return;
            };
            storage.misbehave(*fault, GOOD);
            let outcome = started(&place, &storage, line).end();
            let found = outcome.fault(&[0, 1, 3, 5]).into_iter();
            let found = found.chain(place.changes());
            faults.extend(found.map(|fault| format!("{command}: {fault}")));
        }
        table.row(name, &format!("{} commands", commands.len()), &faults);
    }
    table.finish();
}

/// After the time that it waits for, a command ends with what it has; the storage answers later.
#[test]
fn storage_that_hangs_is_given_up_after_a_time() {
    let mut table = Table::new("wrong");
    let wait = if is_full() { "60s" } else { "1s" };
    let line = "trial FILE --duration 200ms --writes 50% --overwrite -q --clients 4 --hang-limit";
    let place = Place::new(&EMPTY);
    let law = |it: &known_storage::Arrival| {
        if it.number < GOOD {
            Duration::ZERO
        } else {
            HELD
        }
    };
    let Some(storage) = mounted(&place, law) else {
        return;
    };
    let running = started(&place, &storage, &format!("{line} {wait}"));
    // The kernel keeps the process until the last operation is answered.
    let is_told = |said: String| said.contains("error: ") || said.contains("Saved as run");
    running.await_that(|| is_told(running.said()));
    storage.release();
    let mut faults: Vec<String> = running.end().fault(&[1, 3]).into_iter().collect();
    faults.extend(place.changes());
    table.row("hangs", &format!("{wait}: 1 run"), &faults);
    table.finish();
}
