//! KP3: full tapes, disks saved to tape, and four tapes read at once, by the built-in studies.
//!
//! No criterion was fixed before these rows were seen, so none is judged: they are here for their
//! ratios. Inputs taken from the document are stated with each row.

use super::ValidationError;
use super::experiment::{Figures, Fillers, SimulatedFigure, ones};
use super::studies::{BACKUP, FULL, StudyRow, TMSCP};
use host::interrupt::Interrupt;

pub(super) const FIGURES: Fillers<Figures> = &[
    ("full", full),
    ("backup", backup),
    ("four_tapes", four_tapes),
];

/// Tests of the document.
const FULL_TESTS: [&str; 5] = [
    "1. S114",
    "2. S114 compressed",
    "3. S117",
    "4. S117 compressed",
    "5. S117 compressed",
];
const BACKUP_TESTS: [&str; 4] = [
    "1. 27648",
    "2. 27648 /verify",
    "3. 27648 /verify /nocrc",
    "4. 49152 /nocrc",
];
/// Number of tapes read at once. The rates are ten gigabytes over the document's times.
const TAPES: usize = 4;

fn full(interrupt: &Interrupt) -> Figures {
    let mut found = Vec::new();
    for test in FULL_TESTS {
        let row = StudyRow::measure(FULL, &[test], interrupt)?;
        found.extend([
            row.value("fill rate")? / 1e6,
            row.value("fill time")? / 3600.0,
        ]);
    }
    Ok(ones(found))
}

/// The four tests, and the ratio of the second to the first.
fn backup(interrupt: &Interrupt) -> Figures {
    let mut rates = Vec::new();
    for test in BACKUP_TESTS {
        let found = StudyRow::measure(BACKUP, &[test], interrupt)?;
        rates.push(found.value("backup rate")? / 1e6);
    }
    rates.push(rates[1] / rates[0]);
    Ok(ones(rates))
}

fn four_tapes(interrupt: &Interrupt) -> Figures {
    let rate = |processors: &str| {
        let found = StudyRow::measure(TMSCP, &[processors, "4"], interrupt)?;
        Ok::<_, ValidationError>(found.value("stream rate")? / 1e3)
    };
    Ok(vec![
        SimulatedFigure::Between(rate("one")?, rate("two")?);
        TAPES
    ])
}
