//! DISKRAND's standard tests, sections 9.2 to 10.3, as `seekstone transactions --standard` runs
//! them. The published figures and the faults in them are those of [`StandardTest`].

mod columns;
mod loads;

use results::{Bar, ValidationRow};
use units::Duration;

use super::Rows;
use super::experiment::Fillers;
use super::hand::{SteppedMachine, places};
use columns::{COST, CPU, ColumnVerdict, HIGH, JudgedColumn, MAX, MEAN, MIN, TPS};
use host::interrupt::Interrupt;
use loads::{BATCH, I486, LAN, P100, PPRO, Pc, SEEDS, SEEDS_OF_FEW, StandardSection};

pub(super) const ROWS: Fillers<Rows> = &[
    ("computing_on_ppro", |interrupt| computing(PPRO, interrupt)),
    ("computing_on_p100", |interrupt| computing(P100, interrupt)),
    ("computing_on_486", |interrupt| computing(I486, interrupt)),
    ("reading", |interrupt| reading("9.3", interrupt)),
    ("reading_under_windows_95", reading_under_windows_95),
    ("reading_and_computing", |interrupt| {
        reading("9.4", interrupt)
    }),
    ("both_under_windows_95", both_under_windows_95),
    ("taken_memory", taken_memory),
    ("many_users", many_users),
    ("many_users_under_windows_95", many_users_under_windows_95),
    ("two_profiles", two_profiles),
    ("remote", remote),
];

use ColumnVerdict::{Between, Shown, Within};

/// Columns determined by the throughput of a batch through Little's law, and related ones.
const TIMES: f64 = 0.2;
const SEEN: &str = "not judged: seen before a bar was fixed";
const EXTREME: &str = "not judged: the shortest and the longest of so few are chance";
const APART: &str = "not judged: the document's tasks start and end apart, so that some ran \
     alone, and the longest of so few is chance";
const BUSY: &str = "by 10 points: the document's processor is busier than one on which all loop \
                    that wait, with nobody else at work";
const LITTLE: &str = "the document's tasks neither start nor end together: by Little's law it had \
                      fewer than four at work";
/// Rows of Windows 95 without a criterion, set before its way of waiting was known.
const POLLING: &str = "not judged: seen before a bar was fixed. The sizes of the caches of Windows \
                       95 are not known";
/// Of counters of a system.
const ONE_FAULT: &str = "not judged: seen before a bar was fixed. In the model each read that \
                         misses is one fault and one read of the disk";
/// A share of a processor.
const BUSY_SHARE: f64 = 0.15;
/// Why a machine with full memory is out of reach.
const PAGING: &str = "paging and thrashing: needs the programs' footprints and a model of page \
                      replacement";

fn computing(pc: Pc, interrupt: &Interrupt) -> Rows {
    let columns = [
        (TPS, Within(0.12)),
        (CPU, Shown(SEEN)),
        (COST, Within(0.12)),
        (MIN, Shown(APART)),
        (MEAN, Within(TIMES)),
        (MAX, Shown(APART)),
    ];
    let mut rows = StandardSection::new("9.2", pc, interrupt)?.rows(BATCH, BATCH, &columns, 1)?;
    unjudge_the_known_mean(&mut rows);
    Ok(rows)
}

fn reading(section: &str, interrupt: &Interrupt) -> Rows {
    let columns = [
        (TPS, Within(0.15)),
        (CPU, Shown(SEEN)),
        (MIN, Shown(APART)),
        (MEAN, Within(TIMES)),
        (HIGH, Within(TIMES)),
        (MAX, Shown(APART)),
    ];
    let mut rows =
        StandardSection::new(section, PPRO, interrupt)?.rows(BATCH, BATCH, &columns, 1)?;
    unjudge_the_known_mean(&mut rows);
    Ok(rows)
}

/// The mean response of four tasks on the Pentium Pro was seen before a criterion was fixed.
fn unjudge_the_known_mean(rows: &mut [ValidationRow]) {
    let known = rows
        .iter_mut()
        .filter(|row| row.row == "PPro, 4 tasks, mean response");
    for row in known {
        *row = row.clone().judged(Bar::None).noted(LITTLE);
    }
}

fn reading_under_windows_95(interrupt: &Interrupt) -> Rows {
    let columns = [
        (TPS, Shown(POLLING)),
        (CPU, Within(BUSY_SHARE)),
        (MIN, Shown(APART)),
        (MEAN, Shown(POLLING)),
        (HIGH, Shown(POLLING)),
        (MAX, Shown(APART)),
    ];
    let mut rows = Vec::new();
    for pc in [P100, I486] {
        rows.extend(StandardSection::new("9.3", pc, interrupt)?.rows(BATCH, BATCH, &columns, 1)?);
    }
    Ok(rows)
}

fn both_under_windows_95(interrupt: &Interrupt) -> Rows {
    let several = [
        (TPS, Within(0.15)),
        (CPU, Within(BUSY_SHARE)),
        (MIN, Shown(APART)),
        (MEAN, Within(TIMES)),
        (HIGH, Within(TIMES)),
        (MAX, Shown(APART)),
    ];
    // No criterion was set for one task before the first comparison.
    let one = several.map(|(column, verdict)| match verdict {
        Within(_) => (column, Shown(POLLING)),
        other => (column, other),
    });
    let mut rows = Vec::new();
    for pc in [P100, I486] {
        let test = StandardSection::new("9.4", pc, interrupt)?;
        rows.extend(test.rows(&["1"], &["1"], &one, 1)?);
        rows.extend(test.rows(&["2", "4"], &["2", "4"], &several, 1)?);
    }
    // A figure that cannot be right is not compared.
    for row in rows.iter_mut().filter(|row| row.is_misprint) {
        *row = row.clone().judged(Bar::None);
    }
    Ok(rows)
}

/// The model takes the tasks' memory from its file cache, and never pages.
fn taken_memory(interrupt: &Interrupt) -> Rows {
    let unknown =
        "what NT pages out for a task is not known, and no bar was set before the first look";
    let all = [TPS, CPU, MIN, MEAN, HIGH, MAX];
    let shown = all.map(|column| (column, Shown(unknown)));
    let tasks = ["4", "8", "12", "16"];
    let test = StandardSection::new("9.5", PPRO, interrupt)?;
    let mut rows = test.rows(&tasks, &tasks, &shown, 1)?;
    rows.extend(test.out_of_reach(&["20", "24"], &all, PAGING));
    rows.extend(StandardSection::new("9.5", P100, interrupt)?.out_of_reach(
        &["4", "8"],
        &all,
        PAGING,
    ));
    Ok(rows)
}

/// Columns of users who think.
const THINKING: [JudgedColumn; 6] = [
    (TPS, Within(0.12)),
    (MEAN, Within(0.15)),
    (CPU, Within(BUSY_SHARE)),
    (HIGH, Within(TIMES)),
    (MIN, Within(TIMES)),
    (MAX, Shown(EXTREME)),
];

fn many_users(interrupt: &Interrupt) -> Rows {
    let tasks = ["18", "24", "30", "36"];
    let test = StandardSection::new("10.1", PPRO, interrupt)?;
    let mut rows = test.rows(&tasks, &tasks, &THINKING, SEEDS)?;
    let paged = "the document says that memory did not suffice: paging again";
    rows.extend(test.out_of_reach(&["48*"], &THINKING.map(|it| it.0), paged));
    Ok(rows)
}

fn many_users_under_windows_95(interrupt: &Interrupt) -> Rows {
    let columns = [
        (TPS, Between),
        (MEAN, Between),
        (CPU, Within(BUSY_SHARE)),
        (HIGH, Between),
        (MIN, Shown(EXTREME)),
        (MAX, Shown(EXTREME)),
    ];
    let tasks = ["6", "12", "18", "24"];
    let test = StandardSection::new("10.1", P100, interrupt)?;
    let mut rows = test.brackets(&tasks, &columns, SEEDS_OF_FEW)?;
    known_to_miss(&mut rows, "P100, 6 tasks", "by 1 %: both are below it");
    known_to_miss(&mut rows, "P100, 6 tasks, processor", BUSY);
    let columns = columns.map(|(column, _)| (column, Shown(POLLING)));
    rows.extend(StandardSection::new("10.1", I486, interrupt)?.brackets(
        &["4", "5"],
        &columns,
        1,
    )?);
    Ok(rows)
}

fn two_profiles(interrupt: &Interrupt) -> Rows {
    let test = StandardSection::new("10.2", PPRO, interrupt)?;
    test.rows(&["30 and 2"], &["30", "2"], &THINKING, SEEDS)
}

/// A row missed its criterion when first compared, for this reason.
fn known_to_miss(rows: &mut [ValidationRow], name: &str, why: &str) {
    for row in rows.iter_mut().filter(|row| row.row == name) {
        *row = row.clone().missed(row.bar, why);
    }
}

/// Logical reads per second of section 11, what the disk had of them, and what Windows NT counted:
/// faults of its file cache, and reads for faults.
const LOGICAL: f64 = 107.0;
const PHYSICAL: f64 = 64.6;
const COUNTED: [(&str, f64); 2] = [
    ("faults of the file cache", 74.2),
    ("reads for page faults", 64.1),
];

fn remote(interrupt: &Interrupt) -> Rows {
    let columns = [
        (TPS, Shown(POLLING)),
        (MEAN, Shown(POLLING)),
        (CPU, Within(BUSY_SHARE)),
        (HIGH, Within(TIMES)),
        (MIN, Shown(EXTREME)),
        (MAX, Shown(EXTREME)),
    ];
    let test = StandardSection::new("10.3", LAN, interrupt)?;
    let mut rows = test.rows(&["6"], &["6"], &columns, SEEDS_OF_FEW)?;
    let mut hand = SteppedMachine::on("sim:ppro?size=40MiB&file-cache-max=13MiB")?;
    let hit = Duration::from_micros(1200);
    let mut places = places();
    hand.share_within(hit, 20_000, &mut places)?;
    let misses = 1.0 - hand.share_within(hit, 20_000, &mut places)?;
    let row = ValidationRow::new("reads of the disk, 107 by users", "/s", PHYSICAL);
    rows.push(row.simulated(LOGICAL * misses).misprinted(
        "the document writes 27/44 for the share of reads that miss, which is 27/40: 13 of 40 MB \
         are in memory. Its 65 a second is 107 times the wrong one",
    ));
    rows.extend(COUNTED.map(|(name, published)| {
        let row = ValidationRow::new(name, "/s", published);
        row.simulated(LOGICAL * misses).noted(ONE_FAULT)
    }));
    Ok(rows)
}
