//! DISKRAND, sections 3, 7 and 9.1: the program itself with the document's commands.

use drivers::Caching;
use units::Duration;
use vintage::diskrand::{DiskRandLog, DiskrandArguments, PassLength, typed};
use workload::CPU_UNIT_NS;

use super::ValidationError;
use super::experiment::{Figures, Fillers, ones};
use super::hand::{SteppedMachine, places};
use host::interrupt::Interrupt;
use vintage::run::{ProgramRun, UserRequest, WriteRequest, run_user, run_write};

pub(super) const FIGURES: Fillers<Figures> = &[
    ("under_dos", under_dos),
    ("three_machines", three_machines),
    ("cache_fill", cache_fill),
    ("cache_fill_of_a_larger_file", cache_fill_of_a_larger_file),
    ("write_phase", write_phase),
];

/// Seconds of reading: the document's passes of 5 seconds differ by 1 %.
const SECONDS: &str = "300";
/// User numbers.
const USERS: std::ops::RangeInclusive<u32> = 91..=99;
/// Runs the program with this command line, and parses its output.
fn program(words: &[&str], interrupt: &Interrupt) -> Result<DiskRandLog, ValidationError> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let arguments = typed(&words, PassLength::AsDocumented).map_err(ValidationError::Nothing)?;
    let mut lines = String::new();
    let mut console = |line: &str| lines.extend([line, "\n"]);
    let run = &mut ProgramRun::new(interrupt, &mut console).unlogged();
    let caching = Caching::Buffered;
    match arguments {
        DiskrandArguments::Write(arguments) => {
            let request = WriteRequest {
                arguments,
                caching,
                reserve: None,
            };
            run_write(&request, run)?;
        }
        DiskrandArguments::Read(arguments) => {
            let request = UserRequest {
                arguments,
                caching,
                cpu_unit: Duration::from_nanos(CPU_UNIT_NS),
            };
            run_user(&request, run)?.ended?;
        }
        DiskrandArguments::Erase { file } => {
            return Err(ValidationError::Nothing(format!("{file} is erased")));
        }
    }
    DiskRandLog::read(&lines).map_err(|error| ValidationError::Nothing(error.to_string()))
}

/// Result of `Write`.
struct WriteResult {
    /// Milliseconds per read in each pass.
    passes: Vec<f64>,
    /// The same over all passes.
    service: f64,
    /// MiB written per second.
    rate: f64,
}

fn written(
    target: &str,
    megabytes: &str,
    seconds: &str,
    interrupt: &Interrupt,
) -> Result<WriteResult, ValidationError> {
    let words = ["Write", target, megabytes, seconds, "LogFile.txt"];
    let log = program(&words, interrupt)?;
    let run = log.writes.first();
    let written = run.and_then(|run| run.written.as_ref());
    let (Some(run), Some(written)) = (run, written) else {
        return Err(ValidationError::Nothing(format!(
            "{target}: nothing was written"
        )));
    };
    let seconds: f64 = run.passes.iter().map(|pass| pass.seconds).sum();
    let records: u64 = run.passes.iter().map(|pass| pass.records).sum();
    Ok(WriteResult {
        passes: run.passes.iter().map(|pass| pass.milliseconds).collect(),
        service: 1e3 * seconds / records as f64,
        rate: written.megabytes as f64 / written.seconds,
    })
}

/// Seconds of each of ten transactions of 1000 I/Os: means over users who each start with an idle
/// machine, since the records of a user are random, and differ by 1 % between users.
fn ten_thousand_reads(target: &str, interrupt: &Interrupt) -> Result<Vec<f64>, ValidationError> {
    let mut means = vec![0.0; 10];
    for user in USERS {
        let user_text = user.to_string();
        let words = ["Read", target, &user_text, "10", "LogFile.txt", "1000", "0"];
        let log = program(&words, interrupt)?;
        let sessions = log.sessions.iter();
        let transactions = sessions.flat_map(|session| &session.transactions);
        for (mean, transaction) in means.iter_mut().zip(transactions) {
            *mean += transaction.response_s / USERS.count() as f64;
        }
    }
    Ok(means)
}

fn under_dos(interrupt: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for size in ["1", "2", "5", "10", "40", "100", "200"] {
        let target = format!("sim:ppro-dos?size={size}MiB");
        found.push(written(&target, size, SECONDS, interrupt)?.service);
    }
    // A larger file must take longer.
    let steps = found.windows(2).map(|pair| pair[1] / pair[0]);
    let least = steps.fold(f64::INFINITY, f64::min);
    found.extend([least, few_records("sim:ppro-dos")?]);
    Ok(ones(found))
}

/// Milliseconds per read of one of 8 records: the program has no file that small.
fn few_records(target: &str) -> Result<f64, ValidationError> {
    const READS: u64 = 4000;
    let mut hand = SteppedMachine::on(target)?;
    let mut places = places();
    let mut spent = Duration::ZERO;
    for _ in 0..READS {
        spent += hand.read(places.below(8) * 4096, 4096)?;
    }
    Ok(1e3 * spent.as_secs_f64() / READS as f64)
}

fn three_machines(interrupt: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for target in [
        "sim:ppro-dos?size=40MiB",
        "sim:p100?size=40MiB&file-cache=0&writes=through",
        "sim:i486?size=40MiB&file-cache=0&writes=through",
    ] {
        let written = written(target, "40", SECONDS, interrupt)?;
        found.extend([written.service, written.rate]);
    }
    Ok(ones(found))
}

/// The last of ten thousand reads that hits a cache of 13 MB.
fn last_hits(target: &str) -> Result<f64, ValidationError> {
    let mut hand = SteppedMachine::on(target)?;
    let hit = Duration::from_micros(1200);
    let mut places = places();
    hand.share_within(hit, 9000, &mut places)?;
    hand.share_within(hit, 1000, &mut places)
}

fn cache_fill(interrupt: &Interrupt) -> Figures {
    let target = "sim:ppro?size=40MiB&file-cache-max=13MiB";
    let mut found = ten_thousand_reads(target, interrupt)?;
    let larger = ten_thousand_reads("sim:ppro?size=40MiB&file-cache=16MiB", interrupt)?;
    found.extend(larger.last());
    found.push(last_hits(target)?);
    Ok(ones(found))
}

fn cache_fill_of_a_larger_file(interrupt: &Interrupt) -> Figures {
    let target = "sim:ppro?size=100MiB&file-cache-max=13MiB";
    let mut found = ten_thousand_reads(target, interrupt)?;
    found.push(last_hits(target)?);
    Ok(ones(found))
}

fn write_phase(interrupt: &Interrupt) -> Figures {
    let target = "sim:ppro?size=40MiB&file-cache=20MiB&file-cache-max=20MiB";
    let found = written(target, "40", "15", interrupt)?;
    Ok(ones(found.passes.into_iter().chain([found.rate])))
}
