//! DISKRAND's standard tests, sections 9.2 to 10.3, as `seekstone transactions --standard` runs
//! them. The published figures and the faults in them are those of [`StandardTest`].

use procedure::Preparation;
use results::{Bar, Setup, StandardTable, TransactionLoad, ValidationRow};
use units::Duration;
use vintage::rpt::{STANDARD_FILE, StandardTest};

use super::hand::{Hand, places};
use super::{Experiment, Rows, ValidationError};
use host::interrupt::Interrupt;
use kinds::transactions::{
    Ramp, TransactionsRequest, UserLoad, UsersQuestion, measure_transactions,
};
use lab::bench::{BenchRequest, default_settings};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment::of_document(
        "DISKRAND 9.2: 1, 2 and 4 tasks that compute, transactions per second",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 9.2 --cpu-unit 100ms",
        |interrupt| judged("9.2", PPRO, BATCH, 0.12, interrupt),
    ),
    Experiment::of_document(
        "DISKRAND 9.2 on the Pentium 100",
        &["p100", "st5850a"],
        "transactions sim:p100 --standard 9.2 --cpu-unit 250ms",
        |interrupt| judged("9.2", P100, BATCH, 0.12, interrupt),
    ),
    Experiment::of_document(
        "DISKRAND 9.2 on the 486",
        &["i486", "st3250a"],
        "transactions sim:i486 --standard 9.2 --cpu-unit 1s",
        |interrupt| judged("9.2", I486, BATCH, 0.12, interrupt),
    ),
    Experiment::of_document(
        "DISKRAND 9.3: 1, 2 and 4 tasks that read, transactions per second",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 9.3 --cpu-unit 100ms",
        |interrupt| judged("9.3", PPRO, BATCH, 0.15, interrupt),
    ),
    Experiment::of_document(
        "DISKRAND 9.3 under Windows 95",
        &["p100", "st5850a", "i486", "st3250a"],
        "the same on sim:p100 and sim:i486, spinning and with waiting=free",
        reading_under_windows_95,
    ),
    Experiment::of_document(
        "DISKRAND 9.4: 1, 2 and 4 tasks that read and compute, transactions per second",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 9.4 --cpu-unit 100ms",
        |interrupt| judged("9.4", PPRO, BATCH, 0.15, interrupt),
    ),
    Experiment::of_document(
        "DISKRAND 9.4 under Windows 95",
        &["p100", "st5850a", "i486", "st3250a"],
        "the same on sim:p100 and sim:i486, spinning and with waiting=free",
        both_under_windows_95,
    ),
    Experiment::of_document(
        "DISKRAND 9.5: 4 tasks, and ever more of a memory of 32 MB taken",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 9.5 --cpu-unit 100ms",
        taken_memory,
    ),
    Experiment::of_document(
        "DISKRAND 10.1: users who think",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 10.1 --cpu-unit 100ms, 2 seeds",
        many_users,
    ),
    Experiment::of_document(
        "DISKRAND 10.1 under Windows 95",
        &["p100", "st5850a", "i486", "st3250a"],
        "the same on sim:p100 and sim:i486, spinning and with waiting=free, 4 seeds",
        many_users_under_windows_95,
    ),
    Experiment::of_document(
        "DISKRAND 10.2: 30 light users and 2 heavy ones",
        &["ppro", "fireball"],
        "transactions sim:ppro?file-cache-max=13M --standard 10.2 --cpu-unit 100ms, 2 seeds",
        two_profiles,
    ),
    Experiment::of_document(
        "DISKRAND 10.3 and 11: six users over the LAN; the cache's share",
        &["lan-p100", "ethernet10-p100", "fireball", "ppro"],
        "transactions sim:lan-p100 --standard 10.3 --cpu-unit 250ms, six users alone, 4 seeds",
        remote,
    ),
];

/// A machine with the document's name for it, and its time for a unit of processor work.
#[derive(Clone, Copy)]
struct Pc {
    name: &'static str,
    target: &'static str,
    unit_ms: u64,
}

/// Under load, the document says, the file cache has 13 MB.
const PPRO: Pc = Pc {
    name: "PPro",
    target: "sim:ppro?file-cache-max=13MiB",
    unit_ms: 100,
};
const P100: Pc = Pc {
    name: "P100",
    target: "sim:p100",
    unit_ms: 250,
};
const I486: Pc = Pc {
    name: "486",
    target: "sim:i486",
    unit_ms: 1000,
};
const LAN: Pc = Pc {
    name: "P100",
    target: "sim:lan-p100",
    unit_ms: 250,
};

/// Numbers of tasks.
const BATCH: &[&str] = &["1", "2", "4"];
/// Seeds whose mean is taken where loads are random: of many users, and of few, whose slowest one
/// makes more of a difference.
const SEEDS: u64 = 2;
const SEEDS_OF_FEW: u64 = 4;
/// Virtual time for a load.
const LONGEST: Duration = Duration::from_secs(20_000);

/// A section of the document, on a machine.
struct Test {
    test: StandardTest,
    table: StandardTable,
    pc: Pc,
}

impl Test {
    fn new(section: &str, pc: Pc) -> Result<Self, ValidationError> {
        let unit = Duration::from_millis(pc.unit_ms);
        let test = StandardTest::find(section, unit, None)
            .ok_or_else(|| ValidationError::Nothing(format!("there is no section {section}")))?;
        Ok(Self {
            table: test.table(&[]),
            test,
            pc,
        })
    }

    /// A published cell, and what is wrong with its row.
    fn published(&self, tasks: &str, column: &str) -> (f64, &str) {
        let columns = &self.table.columns;
        let place = columns.iter().position(|name| name == column);
        let mut rows = self.table.rows.iter();
        let row = rows.find(|row| row.machine == self.pc.name && row.tasks == tasks);
        let (place, row) = place.zip(row).expect("a row of the document");
        // Machine and tasks stand in columns of their own.
        let cell = row.cells[place - 2].parse();
        (cell.expect("a number of the document"), &row.fault)
    }

    /// Run the loads of those labels, one after the other on one machine.
    fn run(
        &self,
        target: &str,
        tasks: &[&str],
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Vec<TransactionLoad>, ValidationError> {
        let loads = self.test.loads.iter();
        let loads = loads.filter(|load| tasks.contains(&load.label.as_str()));
        let request = TransactionsRequest {
            bench: BenchRequest {
                party: None,
                target: target.into(),
                purpose: "validation".into(),
                size: Some(STANDARD_FILE),
                reserve: None,
                overwrite: false,
                confirmed: None,
                storage: default_settings(seed),
                setup: Setup::new("transactions", seed),
                cells: lab::cells::Cells::default(),
            },
            question: UsersQuestion::Loads(
                loads
                    .map(|load| UserLoad {
                        name: load.label.clone(),
                        users: load.users,
                        profiles: load.profiles.clone(),
                        goal: None,
                        duration_max: LONGEST,
                        preparation: Preparation::None,
                        before: self.test.before.clone(),
                    })
                    .collect(),
            ),
            ramp: Ramp::Synchronised,
            depth: None,
            budget: LONGEST,
            warm_up: None,
            start_at: None,
            sample_every: None,
        };
        let run = measure_transactions(&request, interrupt, &mut |_| {})?;
        let found = run.transactions.map(|it| it.loads).unwrap_or_default();
        if found.len() == tasks.len() {
            return Ok(found);
        }
        let count = found.len();
        let text = format!("{target}: {count} loads of {} were measured", tasks.len());
        Err(ValidationError::Nothing(text))
    }

    /// A figure of each load, the mean of several seeds.
    fn means(
        &self,
        target: &str,
        tasks: &[&str],
        seeds: u64,
        interrupt: &Interrupt,
        figure: &dyn Fn(&TransactionLoad) -> Vec<f64>,
    ) -> Result<Vec<Vec<f64>>, ValidationError> {
        let mut sums: Vec<Vec<f64>> = Vec::new();
        for seed in 1..=seeds {
            let loads = self.run(target, tasks, seed, interrupt)?;
            let found: Vec<Vec<f64>> = loads.iter().map(figure).collect();
            if sums.is_empty() {
                sums = found;
                continue;
            }
            for (sum, one) in sums.iter_mut().flatten().zip(found.iter().flatten()) {
                *sum += one;
            }
        }
        let count = seeds as f64;
        sums.iter_mut().flatten().for_each(|sum| *sum /= count);
        Ok(sums)
    }

    /// A row of a published cell, marked where the document is wrong.
    fn row(&self, tasks: &str, column: &str, unit: &str) -> ValidationRow {
        let (published, fault) = self.published(tasks, column);
        let what = match column {
            "TPS" => "",
            "CPU %Ut" => ", processor",
            _ => ", mean response",
        };
        let name = match (self.test.section, tasks) {
            ("9.5", megabytes) => format!("{}, {megabytes} MB{what}", self.pc.name),
            (_, "1") => format!("{}, 1 task{what}", self.pc.name),
            (_, tasks) => format!("{}, {tasks} tasks{what}", self.pc.name),
        };
        let row = ValidationRow::new(name, unit, published);
        // A row's fault is told where the figure is that it is about.
        let is_about = match column {
            "TPS" => fault.contains("a second"),
            _ => false,
        };
        if is_about { row.misprinted(fault) } else { row }
    }

    /// Rows of two models, between which the published figure is looked for.
    fn brackets(
        &self,
        tasks: &[&str],
        columns: &[(&str, &str)],
        seeds: u64,
        interrupt: &Interrupt,
    ) -> Rows {
        let figures = |load: &TransactionLoad| vec![tps(load), mean_s(load)];
        let spinning = self.means(self.pc.target, tasks, seeds, interrupt, &figures)?;
        let free = format!("{}?waiting=free", self.pc.target);
        let free = self.means(&free, tasks, seeds, interrupt, &figures)?;
        let mut rows = Vec::new();
        for (place, &(column, unit)) in columns.iter().enumerate() {
            for (index, tasks) in tasks.iter().enumerate() {
                let row = self.row(tasks, column, unit);
                rows.push(row.between(spinning[index][place], free[index][place]));
            }
        }
        Ok(rows)
    }
}

fn tps(load: &TransactionLoad) -> f64 {
    load.all.per_second
}

fn mean_s(load: &TransactionLoad) -> f64 {
    load.all.sample_mean_ns / 1e9
}

/// How busy the processor was, in percent.
fn cpu(load: &TransactionLoad) -> f64 {
    load.cpu_share.unwrap_or(f64::NAN) * 100.0
}

const CPU: (&str, &str) = ("CPU %Ut", "%");
const TPS: (&str, &str) = ("TPS", "/s");
const MEAN: (&str, &str) = ("Avg", "s");

/// Throughput within a tolerance; and the mean response of four tasks, which start apart in the
/// document.
fn judged(section: &str, pc: Pc, tasks: &[&str], tolerance: f64, interrupt: &Interrupt) -> Rows {
    let test = Test::new(section, pc)?;
    let loads = test.run(pc.target, tasks, 1, interrupt)?;
    let mut rows = Vec::new();
    for (load, tasks) in loads.iter().zip(tasks) {
        let row = test.row(tasks, TPS.0, TPS.1).simulated(tps(load));
        rows.push(row.within(tolerance));
    }
    for (load, tasks) in loads.iter().zip(tasks) {
        let row = test.row(tasks, CPU.0, CPU.1).simulated(cpu(load));
        rows.push(row.noted("not judged: seen before a bar was fixed"));
    }
    if let (Some(load), true) = (loads.last(), pc.name == "PPro") {
        let row = test.row("4", MEAN.0, MEAN.1).simulated(mean_s(load));
        let note = "the document's tasks neither start nor end together: by Little's law it had \
                    fewer than four at work";
        rows.push(row.noted(note));
    }
    Ok(rows)
}

fn unjudged(rows: Vec<ValidationRow>, note: &str) -> impl Iterator<Item = ValidationRow> {
    rows.into_iter().map(move |row| row.noted(note))
}

/// What keeps rows of Windows 95 from more than a bracket.
const POLLING: &str = "how Windows 95 waits, and the sizes of its caches, are not known";

fn reading_under_windows_95(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for pc in [P100, I486] {
        let found = Test::new("9.3", pc)?.brackets(BATCH, &[TPS], 1, interrupt)?;
        rows.extend(unjudged(found, POLLING));
    }
    Ok(rows)
}

fn both_under_windows_95(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for pc in [P100, I486] {
        let test = Test::new("9.4", pc)?;
        // No bar was set for one task before it was first looked at.
        let found = test.brackets(&["1"], &[TPS], 1, interrupt)?;
        rows.extend(unjudged(found, POLLING));
        let found = test.brackets(&["2", "4"], &[TPS], 1, interrupt)?;
        rows.extend(found.into_iter().map(|row| row.judged(Bar::Bracket)));
    }
    let test = Test::new("9.4", I486)?;
    let (published, fault) = test.published("4", "95%");
    let row = ValidationRow::new("486, 4 tasks, 95 % of the responses", "s", published);
    rows.push(row.misprinted(fault));
    Ok(rows)
}

/// Why a machine whose memory is full is out of reach.
const PAGING: &str = "paging and thrashing: needs the programs' footprints and a model of page \
                      replacement";

/// The model takes the tasks' memory from its file cache, and never pages.
fn taken_memory(interrupt: &Interrupt) -> Rows {
    let tasks = ["4", "8", "12", "16"];
    let test = Test::new("9.5", PPRO)?;
    let loads = test.run(PPRO.target, &tasks, 1, interrupt)?;
    let mut rows = Vec::new();
    for (load, tasks) in loads.iter().zip(tasks) {
        let row = test.row(tasks, TPS.0, TPS.1).simulated(tps(load));
        rows.push(row.noted(
            "what NT pages out for a task is not known, and no bar was set before the first look",
        ));
    }
    for tasks in ["20", "24"] {
        rows.push(test.row(tasks, TPS.0, TPS.1).noted(PAGING));
    }
    let test = Test::new("9.5", P100)?;
    for tasks in ["4", "8"] {
        rows.push(test.row(tasks, TPS.0, TPS.1).noted(PAGING));
    }
    Ok(rows)
}

fn many_users(interrupt: &Interrupt) -> Rows {
    let tasks = ["18", "24", "30", "36"];
    let test = Test::new("10.1", PPRO)?;
    let figures = |load: &TransactionLoad| vec![tps(load), mean_s(load), cpu(load)];
    let found = test.means(PPRO.target, &tasks, SEEDS, interrupt, &figures)?;
    let mut rows = Vec::new();
    let bars = [(TPS, 0.12), (MEAN, 0.15), (CPU, 0.15)];
    for (place, ((column, unit), tolerance)) in bars.iter().enumerate() {
        for (tasks, found) in tasks.iter().zip(&found) {
            let row = test.row(tasks, column, unit).simulated(found[place]);
            rows.push(row.within(*tolerance));
        }
    }
    Ok(rows)
}

fn many_users_under_windows_95(interrupt: &Interrupt) -> Rows {
    let tasks = ["6", "12", "18", "24"];
    let found = Test::new("10.1", P100)?.brackets(&tasks, &[TPS, MEAN], SEEDS_OF_FEW, interrupt)?;
    let mut rows: Vec<ValidationRow> = found
        .into_iter()
        .map(|row| row.judged(Bar::Bracket))
        .collect();
    let found = Test::new("10.1", I486)?.brackets(&["4", "5"], &[TPS], 1, interrupt)?;
    rows.extend(unjudged(found, POLLING));
    Ok(rows)
}

fn two_profiles(interrupt: &Interrupt) -> Rows {
    let test = Test::new("10.2", PPRO)?;
    let figures = |load: &TransactionLoad| {
        let profiles = load.profiles.iter();
        let of_profiles = profiles.flat_map(|it| [it.per_second, it.sample_mean_ns / 1e9]);
        of_profiles.chain([cpu(load)]).collect()
    };
    let found = test.means(PPRO.target, &["30 and 2"], SEEDS, interrupt, &figures)?;
    let mut rows = Vec::new();
    for (index, tasks) in ["30", "2"].into_iter().enumerate() {
        let [rate, mean] = [2 * index, 2 * index + 1].map(|place| found[0][place]);
        rows.push(test.row(tasks, TPS.0, TPS.1).simulated(rate).within(0.12));
        rows.push(test.row(tasks, MEAN.0, MEAN.1).simulated(mean).within(0.15));
    }
    let row = test.row("30", CPU.0, CPU.1).simulated(found[0][4]);
    rows.push(row.within(0.15));
    Ok(rows)
}

/// Logical reads per second of section 11, and what the disk had of them.
const LOGICAL: f64 = 107.0;
const PHYSICAL: f64 = 64.6;

fn remote(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    let found = Test::new("10.3", LAN)?.brackets(&["6"], &[TPS, MEAN], SEEDS_OF_FEW, interrupt)?;
    rows.extend(unjudged(found, POLLING));
    let mut hand = Hand::on("sim:ppro?size=40MiB&file-cache-max=13MiB")?;
    let hit = Duration::from_micros(1200);
    let mut places = places();
    hand.share_within(hit, 20_000, &mut places)?;
    let misses = 1.0 - hand.share_within(hit, 20_000, &mut places)?;
    let row = ValidationRow::new("reads of the disk for 107 of the users", "/s", PHYSICAL);
    rows.push(row.simulated(LOGICAL * misses).misprinted(
        "the document writes 27/44 for the share of reads that miss, which is 27/40: 13 of 40 MB \
         are in memory; its 65 a second is 107 times the wrong one",
    ));
    Ok(rows)
}
