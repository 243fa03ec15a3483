//! Which machines have published figures. That every row keeps its bar is checked by the test of
//! the command in `crates/seekstone/tests/vintage/validate.rs`, which runs all experiments once.

use host::interrupt::Interrupt;
use results::Standing;
use validation::validate;

#[test]
fn a_device_has_the_tables_in_which_it_takes_part() {
    let mut told = Vec::new();
    let found = validate(
        Some("sim:dlt2000"),
        &Interrupt::never(),
        &mut |title, done, all| {
            told.push((title.to_owned(), done, all));
        },
    );
    let found = found.expect("tables of a tape");
    let titles: Vec<&str> = found.tables.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles.len(), 5, "{titles:?}");
    assert!(titles[0].contains("COPY"), "{titles:?}");
    // Each is told as it begins, in this order or nearly so.
    let mut begun: Vec<&str> = told.iter().map(|it| it.0.as_str()).collect();
    begun.sort_unstable();
    let mut sorted = titles.clone();
    sorted.sort_unstable();
    assert_eq!(begun, sorted);
    let counts: Vec<usize> = told.iter().map(|it| it.1).collect();
    assert!(counts.is_sorted() && counts[0] == 0, "{told:?}");
    assert!(told.iter().all(|it| it.1 < 5 && it.2 == 5), "{told:?}");
    assert_eq!(found.device.as_deref(), Some("dlt2000"));
    assert_eq!(found.count(Standing::Outside), 0);
    assert!(found.rows().any(|row| row.row.contains("31 marks")));
}

#[test]
fn what_nobody_published_anything_of_is_refused() {
    for name in ["drum", "nothing", "ra80"] {
        let error = validate(Some(name), &Interrupt::never(), &mut |_, _, _| {});
        let text = error.expect_err("no figures").to_string();
        assert!(text.contains(&format!("\"{name}\"")), "{text}");
        assert!(text.contains("axp612") && text.contains("ppro"), "{text}");
    }
}
