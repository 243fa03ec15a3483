//! The machines of the documents against the tables that the documents print, and the models
//! against their laws: what `seekstone devices validate` shows.

#![allow(clippy::print_stdout, reason = "the table is a product of these tests")]

use results::{Standing, Validation};
use runner::interrupt::Interrupt;
use runner::validation::{ValidationError, validate};

fn found(device: Option<&str>) -> Result<Validation, ValidationError> {
    let begun = std::time::Instant::now();
    validate(device, &Interrupt::never(), &mut |t, _, _| {
        eprintln!("{:?} {t}", begun.elapsed())
    })
}

#[test]
fn every_row_that_is_judged_keeps_its_bar() {
    let found = found(None).expect("every experiment runs");
    for table in &found.tables {
        println!("{}", table.title);
        for row in &table.rows {
            println!("  {row:?}");
        }
    }
    let outside: Vec<_> = found
        .rows()
        .filter(|row| row.standing == Standing::Outside)
        .collect();
    assert!(outside.is_empty(), "{outside:#?}");
    assert!(found.count(Standing::Within) >= 80);
}
