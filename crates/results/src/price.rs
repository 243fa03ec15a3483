//! Price of a system, and its figures per unit of money. Prices are not measured: they are attached
//! to a run when it is shown, compared or exported (docs/systems.md).

use std::fmt;

use serde::{Deserialize, Serialize};
use stats::Estimate;
use units::Bytes;

use crate::metric::{IOPS, SIZE, THROUGHPUT};
use crate::reading::{Better, Unit, whole};
use crate::run::Run;
use crate::table::{Figure, Role, Row, Table, Trust};

/// Name of the table of price/performance figures.
pub const PRICE: &str = "price";

/// Every whole number below this is exact.
const WHOLE_MAX: f64 = 9e15;

/// Price of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Above zero.
    pub amount: f64,
    /// The currency as typed; absent if not given.
    pub currency: Option<String>,
}

impl Price {
    /// Every rate and capacity column of `tables`, and the size of the target, per unit of money.
    pub(crate) fn table(&self, tables: &[Table], run: &Run) -> Table {
        let currency = self.currency.as_deref();
        let metric = format!("per {}", currency.unwrap_or(PRICE));
        let mut rows: Vec<Row> = Vec::new();
        let mut add = |name: &str, figure: &Figure, trust: Trust| {
            let levels = vec![name.to_owned(), figure.metric.name.clone()];
            if !is_priced(figure) || rows.iter().any(|it| it.levels == levels) {
                return;
            }
            // The price is exact.
            let value = figure.value.scale(1.0 / self.amount);
            let figure = Figure {
                is_indicative: figure.is_indicative,
                ..Figure::new(metric.as_str(), figure.metric.unit, Better::Higher, value)
            };
            rows.push(Row::new(levels, [figure], &metric, trust));
        };
        let block = block_of(run);
        let summaries = tables.iter().filter(|it| !it.are_steps && !it.is_points());
        for table in summaries {
            for row in &table.rows {
                let name = table.row_name(row);
                row.figures.iter().for_each(|it| add(&name, it, row.trust));
                let load = row.figure(IOPS.name).filter(|_| table.is_levels());
                let moved = load.zip(block);
                let moved = moved.map(|(it, block)| it.value.scale(block.0 as f64));
                moved
                    .iter()
                    .for_each(|it| add(&name, &THROUGHPUT.of(*it), row.trust));
            }
        }
        let file_system = run.target.file_system.as_ref();
        let size = run.target.size_bytes;
        if let Some(size) = size.or(file_system.and_then(|it| it.size_bytes)) {
            let size = Estimate::exact(size as f64, 1.0);
            let size = Figure::new(SIZE.name, SIZE.unit, Better::Higher, size);
            add("target", &size, Trust::Reliable);
        }
        Table::new(PRICE, &["row", "figure"], rows)
            .titled("For the money")
            .briefly_named()
            .noted([format!("Price: {self}, taken as exact.")])
    }
}

/// All digits and the currency: `12,345 USD`.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let currency = self.currency.as_deref().unwrap_or_default();
        let amount = match self.amount.fract() == 0.0 && self.amount < WHOLE_MAX {
            true => whole(self.amount),
            false => self.amount.to_string(),
        };
        f.write_str(format!("{amount} {currency}").trim_end())
    }
}

/// Whether the figure is a column with a rate or capacity of which more is better.
fn is_priced(figure: &Figure) -> bool {
    let metric = &figure.metric;
    let is_amount = matches!(
        metric.unit,
        Unit::PerSecond | Unit::BytesPerSecond | Unit::Bytes
    );
    is_amount && metric.better == Better::Higher && metric.role != Role::Detail
}

/// The block size of a load curve, if all operations have the same.
fn block_of(run: &Run) -> Option<Bytes> {
    let mut settings = run.settings.settings.iter();
    let block = settings.find(|it| it.name == "block")?;
    match block.values.as_slice() {
        [one] => one.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_printed_with_every_digit() {
        let check = |amount: f64, currency: Option<&str>, expected: &str| {
            let currency = currency.map(str::to_owned);
            assert_eq!(Price { amount, currency }.to_string(), expected);
        };
        check(12_345.0, Some("USD"), "12,345 USD");
        check(120.5, Some("EUR"), "120.5 EUR");
        check(4000.0, None, "4,000");
    }
}
