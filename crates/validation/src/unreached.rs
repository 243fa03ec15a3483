//! Published figures that no model here covers, with reasons.

use results::ValidationRow;

use super::Rows;
use super::census::{FigureAccount, published_tables};
use super::experiment::Fillers;

pub(super) const ROWS: Fillers<Rows> = &[("unreached", |_| Ok(unreached()))];

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
