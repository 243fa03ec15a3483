//! Published figures that no model here reaches, and why.

use results::ValidationRow;

use super::census::{FigureAccount, published_tables};
use super::{Experiment, Rows};
use host::interrupt::Interrupt;

pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment::of_document(
    "Figures that are out of reach",
    &["ppro", "p100", "i486", "rz28", "fddi", "ethernet10"],
    "nothing is simulated; each row says why, and how many figures of the table it has",
    |_: &Interrupt| -> Rows { Ok(unreached()) },
)];

fn unreached() -> Vec<ValidationRow> {
    let mut rows = Vec::new();
    for table in published_tables() {
        for part in table.parts {
            if let FigureAccount::Unreached(why) = part.account {
                let (document, place, which) = (table.document, table.place, part.which);
                let name = format!("{document} {place}: {which} ({})", part.figures);
                rows.push(ValidationRow::in_words(name, "").noted(why));
            }
        }
    }
    rows
}
