//! Several concurrent programs, started as by the batch files of DISKRAND 10.3 and DISKMBPS 10 and
//! 11.
//!
//! The criteria were fixed before the first comparison, for the client when its way of waiting was
//! added to the model: 15 %, and 20 % for 95 % of responses; between reads of 32 and of 64 KiB for
//! programs on one disk, since the author doubts which it was. Rows that missed theirs say so.

use lab::simulated::open_model;
use vintage::diskrand::SampleTimes;
use vintage::run::{
    HostBatch, HostPlace, LogPlace, ProgramEnd, Together, TogetherFigures, TogetherRow, clock_from,
    rows, run_together, script_lines,
};

use super::ValidationError;
use super::experiment::{Figures, Fillers, SimulatedFigure, ones};
use super::hand::SEED;
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[
    ("remote_and_local", remote_and_local),
    ("readers_of_a_disk", readers_of_a_disk),
    ("readers_of_a_cd", readers_of_a_cd),
];

/// A site of the document.
pub(super) fn run(
    target: &str,
    files: &[(&str, u64)],
    batches: &[(&str, HostPlace, &str)],
    interrupt: &Interrupt,
) -> Result<Vec<TogetherRow>, ValidationError> {
    let nothing = |text: String| ValidationError::Nothing(text);
    let batches = batches.iter().map(|(host, place, text)| {
        Ok(HostBatch {
            host: (*host).into(),
            place: *place,
            lines: script_lines(host, text).map_err(nothing)?,
        })
    });
    let together = Together {
        model: open_model(target)?,
        seed: SEED,
        files: files
            .iter()
            .map(|(name, bytes)| ((*name).into(), *bytes))
            .collect(),
        batches: batches.collect::<Result<_, ValidationError>>()?,
        cpu_unit: None,
        clock: clock_from(Some("1997-07-07T12:53:44")).map_err(nothing)?,
        logs: LogPlace::Nowhere,
    };
    let ended = run_together(&together, interrupt, &|_, _| {})?;
    let failed = |it: &ProgramEnd| Some(format!("{}: {}", it.words, it.result.as_ref().err()?));
    if let Some(text) = ended.iter().find_map(failed) {
        return Err(nothing(text));
    }
    Ok(rows(&ended))
}

/// MB of 1048576 bytes per second read by all programs of a machine without a server, and its CPU
/// utilisation in percent.
pub(super) fn here(
    target: &str,
    files: &[(&str, u64)],
    lines: &str,
    interrupt: &Interrupt,
) -> Result<[f64; 2], ValidationError> {
    let rows = run(
        target,
        files,
        &[("here", HostPlace::Client, lines)],
        interrupt,
    )?;
    let rates = rows.iter().filter_map(|row| match row.figures {
        TogetherFigures::Transfer { read, .. } => read,
        TogetherFigures::Users { .. } => None,
    });
    let busy = percent(rows.first().and_then(|row| row.cpu_share));
    Ok([rates.sum(), busy])
}

/// The same for the Pentium Pro, between disk reads of 32 KiB and of 64 KiB.
pub(super) fn with_both_read_sizes(
    files: &[(&str, u64)],
    lines: &str,
    interrupt: &Interrupt,
) -> Result<[SimulatedFigure; 2], ValidationError> {
    let of_size = |size| {
        let target = format!("sim:ppro?file-read-ahead={size}&read-run={size}");
        here(&target, files, lines, interrupt)
    };
    let (short, long) = (of_size("32KiB")?, of_size("64KiB")?);
    Ok([0, 1].map(|place| SimulatedFigure::Between(short[place], long[place])))
}

/// Transactions per second, mean response in seconds and CPU utilisation in percent; then minimum,
/// 95th percentile and maximum response.
type Users = [f64; 6];

pub(super) fn percent(share: Option<f64>) -> f64 {
    share.unwrap_or(f64::NAN) * 100.0
}

fn users_of(rows: &[TogetherRow], host: &str) -> Result<Users, ValidationError> {
    let row = rows.iter().find(|row| row.host == host);
    let found = row.and_then(|row| match row.figures {
        TogetherFigures::Users {
            per_second, times, ..
        } => {
            let (
                SampleTimes {
                    min,
                    mean,
                    high,
                    max,
                },
                busy,
            ) = (times, percent(row.cpu_share));
            Some([per_second, mean, busy, min, high, max])
        }
        TogetherFigures::Transfer { .. } => None,
    });
    found.ok_or_else(|| ValidationError::Nothing(format!("no users ran on {host}")))
}

/// Users of a batch: first the cache is filled, then all start.
fn batch(filler: (u32, u32), users: std::ops::RangeInclusive<u32>) -> String {
    let (user, transactions) = filler;
    let mut text =
        format!("randnt95 Read RandData.txt {user} {transactions} Multi1.txt 1000 0\npause\n");
    for user in users {
        text.push_str(&format!(
            "start randnt95 YRead RandData.txt {user} 100 2logs 20 5 10 1\n"
        ));
    }
    text
}

fn remote_and_local(interrupt: &Interrupt) -> Figures {
    let lines = [batch((199, 5), 201..=206), batch((99, 10), 101..=130)];
    let client = ("p100", HostPlace::Client, lines[0].as_str());
    let server = ("server", HostPlace::Server, lines[1].as_str());
    let files = [("RandData.txt", 40 << 20)];
    // The users' numbers are the document's, and determine all their draws.
    let batches = [client, server];
    let both = |target: &str| -> Result<[Users; 2], ValidationError> {
        let rows = run(target, &files, &batches, interrupt)?;
        Ok([users_of(&rows, "p100")?, users_of(&rows, "server")?])
    };
    let found = both("sim:lan-p100")?;
    let alone = run("sim:lan-p100", &files, &[client], interrupt)?;
    let alone = percent(alone.first().and_then(|row| row.server_cpu_share));
    Ok(ones(found.into_iter().flatten().chain([alone])))
}

const FORTY_MB: u64 = 40 << 20;

fn readers_of_a_disk(interrupt: &Interrupt) -> Figures {
    let names = ["J1.tmp", "J2.tmp", "J3.tmp", "J4.tmp"];
    let files = names.map(|name| (name, FORTY_MB));
    let mut found = Vec::new();
    // The document starts J1 and J3, then J1 to J3, then all four.
    for programs in [&[0, 2][..], &[0, 1, 2], &[0, 1, 2, 3]] {
        let lines = programs.iter().map(|&n| {
            let letter = char::from(b'A' + n as u8);
            format!("start DiskNT95 0 4 {letter} {}\n", names[n])
        });
        let lines: String = lines.collect();
        found.extend(with_both_read_sizes(&files, &lines, interrupt)?);
    }
    Ok(found)
}

fn readers_of_a_cd(interrupt: &Interrupt) -> Figures {
    let files = [("WEEZER.AVI", FORTY_MB), ("GOODTIME.AVI", FORTY_MB)];
    let lines = "start DiskNT95 0 4 N WEEZER.AVI\nstart DiskNT95 0 4 D GOODTIME.AVI\n";
    let [rate, _] = here("sim:cdrom8", &files, lines, interrupt)?;
    Ok(ones([rate]))
}
