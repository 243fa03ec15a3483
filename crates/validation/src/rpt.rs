//! The RAID Performance Test: the arithmetic of its log, and the shape of its curve.
//!
//! The manual names no drive, so only the shape is compared, on drives of its time whose overhead
//! is calibrated by the manual's first point. Its curve bends because control threads interfere:
//! each walks over a part of the file, and the arm moves between them. Without that, a server with
//! the same service time has a capacity of 1 / S.

use results::{Bar, ValidationRow};
use vintage::rpt::log::{Block, LogEntry};
use vintage::rpt::{Calculation, Converging, Sums, TestPlan, shipped};

use super::experiment::{Figures, Fillers, SimulatedFigure, ones};
use super::hand::SEED;
use super::{Rows, ValidationError};
use host::interrupt::Interrupt;
use vintage::run::{DataAccess, Operator, OutputFiles, TestRequest, run_test};

pub(super) const FIGURES: Fillers<Figures> = &[("arithmetic", arithmetic)];
pub(super) const ROWS: Fillers<Rows> = &[
    ("shape_on_rz28", shape_on_rz28),
    ("shape_on_rz26", shape_on_rz26),
];

/// The third line of sums of the manual's log.
const SUMS: Sums = Sums {
    threads: 1.0,
    messages: 32.0,
    kbytes: 12_800.0,
    nios: 3200.0,
    seek: 0.421_868,
    xfer: 59.3275,
    total: 163.3,
    seek_sq: 0.001_706_09,
    xfer_sq: 3.404_86,
    total_sq: 879.616,
    message_total: 0.0,
};
fn arithmetic(_: &Interrupt) -> Figures {
    let Calculation {
        response_ms,
        load,
        rabmark_r,
        rabmark_n,
    } = SUMS.calculation();
    let factor = SUMS.factor(Converging::Response);
    let messages = SUMS.messages_necessary(factor, 0.03);
    let mut found = ones([response_ms, load, rabmark_r, rabmark_n, factor, messages]);
    // The manual's sum is a misprint.
    found.push(SimulatedFigure::Nothing);
    Ok(found)
}

/// Loads of the report at its levels: one thread, then 29, 40 and 50 ms.
struct RptCurve([f64; 4]);

/// The manual's time of one thread, where its levels start.
const ALONE_MS: f64 = 18.54;

/// The levels of the program on a device, and the response time of one thread alone.
fn curve(device: &str, interrupt: &Interrupt) -> Result<(RptCurve, f64), ValidationError> {
    let text = format!(
        "TestFile=v.rpt\nParmFile=rpt.rpp\nReptFile=v.rpr\nDataFile={device}\nRsmin={ALONE_MS}\n\
         Rsmax=50\nDnmin=8\nDnmax=1024\nDlmax=0.03\nParmFile\nTransactionWorkload\n"
    );
    let mut include =
        |name: &str| shipped::text_of(name).map_or_else(|| Err(name.into()), |it| Ok(it.into()));
    let (plan, faults) = TestPlan::read("v.rpt", &text, &Vec::new(), &mut include);
    let plan = plan.ok_or_else(|| ValidationError::Nothing(format!("{:?}", faults.errors)))?;
    let request = TestRequest {
        access: DataAccess::with_seed(SEED),
        starts: true,
    };
    let mut account = Account::default();
    run_test(
        plan,
        &request,
        || Ok(OutputFiles::nowhere()),
        interrupt,
        &mut account,
    )?;
    let loads: Vec<f64> = account
        .found
        .iter()
        .flat_map(|block| &block.rows)
        .map(|row| row.load)
        .collect();
    match (<[f64; 4]>::try_from(loads), account.alone_ms) {
        (Ok(loads), Some(alone)) => Ok((RptCurve(loads), alone)),
        (Err(loads), _) => Err(ValidationError::Nothing(format!(
            "{device}: {} levels of 4 were found",
            loads.len()
        ))),
        (_, None) => Err(ValidationError::Nothing(format!("{device}: no sums"))),
    }
}

/// Number of calibrations of the overhead.
const CALIBRATIONS: usize = 3;

/// Data kept of a test.
#[derive(Default)]
struct Account {
    /// Response time of one thread, after its last sum.
    alone_ms: Option<f64>,
    found: Option<Block>,
}

impl Operator for Account {
    fn entry(&mut self, entry: &LogEntry, _verbose: u8) {
        match entry {
            LogEntry::Sum { sums, .. } if sums.threads == 1.0 => {
                self.alone_ms = Some(sums.calculation().response_ms);
            }
            LogEntry::Results(block) => self.found = Some(block.clone()),
            _ => {}
        }
    }
}

/// The loads of the manual's report at 29, 40 and 50 ms, as its RABmarks pin the rounded ones.
const PUBLISHED: [(&str, f64); 3] = [
    ("load at 29 ms", 32.3),
    ("load at 40 ms", 39.2),
    ("load at 50 ms", 39.83),
];
/// The load of one thread.
const PUBLISHED_ALONE: f64 = 19.5958;

fn shape_on_rz28(interrupt: &Interrupt) -> Rows {
    shape("sim:rz28?size=800MiB", 1.0, interrupt)
}

fn shape_on_rz26(interrupt: &Interrupt) -> Rows {
    shape("sim:rz26?size=800MiB", 1.36, interrupt)
}

/// The curve on a drive whose initial overhead `overhead_ms` is increased until one thread has the
/// published response time. Results with more threads are predictions.
fn shape(drive: &str, overhead_ms: f64, interrupt: &Interrupt) -> Rows {
    let mut overhead = overhead_ms;
    let mut name = drive.to_owned();
    for _ in 0..CALIBRATIONS {
        let (_, alone_ms) = curve(&name, interrupt)?;
        overhead += ALONE_MS - alone_ms;
        name = format!("{drive}&overhead={overhead:.3}ms&overhead-write={overhead:.3}ms");
    }
    let (RptCurve([one, loads @ ..]), alone_ms) = curve(&name, interrupt)?;
    let without_arm = format!("sim:md1?time={alone_ms:.3}ms&size=800MiB");
    let (RptCurve([.., still]), _) = curve(&without_arm, interrupt)?;
    let range = |low, high| Bar::Range { low, high };
    let alone = ValidationRow::new("response time of one thread", "ms", ALONE_MS);
    let mut rows = vec![alone.simulated(alone_ms).noted(format!(
        "calibrated by this row: an overhead of {overhead:.1} ms for each I/O"
    ))];
    for ((name, published), found) in PUBLISHED.into_iter().zip(loads) {
        let row = ValidationRow::new(name, "/s", published);
        rows.push(row.simulated(found).noted("the manual names no drive"));
    }
    let [(_, at_29), _, (_, at_50)] = PUBLISHED;
    let [found_29, _, found_50] = loads;
    let over_one = ValidationRow::new("load at 50 ms over that of one thread", "", {
        at_50 / PUBLISHED_ALONE
    });
    let bend = ValidationRow::new("load at 50 ms over that at 29 ms", "", at_50 / at_29);
    let arm = ValidationRow::new("load at 50 ms over that without an arm", "", {
        at_50 * ALONE_MS / 1000.0
    });
    rows.extend([
        over_one.simulated(found_50 / one).judged(range(1.0, None)),
        bend.simulated(found_50 / found_29)
            .judged(range(1.15, Some(1.60))),
        arm.simulated(found_50 / still)
            .noted(
                "published: 39.83 of the 53.9 a second that a server carries which takes the \
                 18.54 ms of one thread for each",
            )
            .judged(range(0.0, Some(0.85))),
    ]);
    Ok(rows)
}
