//! KP3: tapes written full, disks saved to tape, and four tapes read at once, as the studies that
//! come with the program have them.
//!
//! No bar was fixed before these rows were seen, so none is judged: they stand here for their
//! ratios. What was taken from the document to make a row is said beside it.

use results::ValidationRow;

use super::studies::{BACKUP, FULL, StudyRow, TMSCP};
use super::{Rows, Runs, ValidationError};
use host::interrupt::Interrupt;

pub(super) const RUNS: Runs = &[
    ("full", full),
    ("backup", backup),
    ("four_tapes", four_tapes),
];

/// Tests, hours and rates of the document.
const FULL_TESTS: [(&str, f64, f64); 5] = [
    ("1. S114", 2.34, 1.18),
    ("2. S114 compressed", 2.36, 1.43),
    ("3. S117", 2.34, 1.19),
    ("4. S117 compressed", 2.33, 1.28),
    ("5. S117 compressed", 2.33, 1.27),
];

fn full(interrupt: &Interrupt) -> Rows {
    let mut rows = Vec::new();
    for (test, hours, rate) in FULL_TESTS {
        let found = StudyRow::measure(FULL, &[test], interrupt)?;
        let note = if test.ends_with("compressed") {
            "not judged: seen before a bar was fixed. How far the data compress is from the volume \
             that the document found, so that the volume itself is no prediction"
        } else {
            "not judged: seen before a bar was fixed. The drive's 1.25 MB/s are general knowledge, \
             and not the document's; labels and file marks are not modelled"
        };
        let of_rate = ValidationRow::new(format!("{test}, rate"), "MB/s", rate);
        let of_time = ValidationRow::new(format!("{test}, time"), "h", hours);
        let simulated = found.value("fill rate")? / 1e6;
        rows.push(of_rate.simulated(simulated).noted(note));
        rows.push(
            of_time
                .simulated(found.value("fill time")? / 3600.0)
                .noted(note),
        );
    }
    Ok(rows)
}

/// Tests and rates of the document.
const BACKUP_TESTS: [(&str, f64); 4] = [
    ("1. 27648", 1.71),
    ("2. 27648 /verify", 0.84),
    ("3. 27648 /verify /nocrc", 0.88),
    ("4. 49152 /nocrc", 1.77),
];

fn backup(interrupt: &Interrupt) -> Rows {
    let mut rates = Vec::new();
    for (test, published) in BACKUP_TESTS {
        let found = StudyRow::measure(BACKUP, &[test], interrupt)?;
        rates.push((test, published, found.value("backup rate")? / 1e6));
    }
    let mut rows: Vec<ValidationRow> = rates
        .iter()
        .map(|&(test, published, rate)| {
            let row = ValidationRow::new(test, "MB/s", published).simulated(rate);
            if test == BACKUP_TESTS[0].0 {
                row.noted("calibrated by this row: the data's compression, 1.58")
            } else {
                row.noted(
                    "not judged: seen before a bar was fixed, and the compression is that of test \
                     1, whose data were others",
                )
            }
        })
        .collect();
    let [(_, published, rate), (_, verified, verified_rate), ..] = rates[..] else {
        return Err(ValidationError::Nothing("there are four tests".into()));
    };
    let halves = ValidationRow::new("test 2 over test 1", "", verified / published)
        .simulated(verified_rate / rate)
        .noted("\"almost exactly halfs\"; not judged: seen before a bar was fixed");
    rows.push(halves);
    Ok(rows)
}

/// Tapes and rates of the document. Ten gigabytes in the times that it gives make these of 1000
/// bytes.
const TAPES: [(&str, f64); 4] = [
    ("B04021, of AXP612", 1140.0),
    ("B04022, of AXP612", 1100.0),
    ("B04023, of AXP601", 905.0),
    ("B04024, of AXP603", 1065.0),
];

fn four_tapes(interrupt: &Interrupt) -> Rows {
    let rate = |processors: &str| {
        let found = StudyRow::measure(TMSCP, &[processors, "4"], interrupt)?;
        Ok::<_, ValidationError>(found.value("stream rate")? / 1e3)
    };
    let (one, two) = (rate("one")?, rate("two")?);
    let rows = TAPES.iter().map(|&(tape, published)| {
        ValidationRow::new(tape, "kB/s", published)
            .between(one, two)
            .noted(
                "not judged: how many processors there were is not said, and drives that are alike \
                 do not differ here",
            )
    });
    Ok(rows.collect())
}
