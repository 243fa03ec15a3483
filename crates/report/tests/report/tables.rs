//! Lists of runs.

use report::{ListRow, run_list};

fn row(id: i64, target: &str, status: &str) -> ListRow {
    ListRow {
        id,
        started_at: "2001-02-03T04:05:06.789Z".into(),
        command: "run".into(),
        target: target.into(),
        status: status.into(),
        has_invalid_number: id == 9,
        headline: "random-read 47.1 us, durable-write 133 us".into(),
        ..ListRow::default()
    }
}

/// Bug: nothing marked a run with a void number.
#[test]
fn archived_runs_are_listed() {
    let rows = [
        row(12, "/srv/data", "complete"),
        row(10, ".", "partial"),
        row(9, ".", "complete"),
    ];
    insta::assert_snapshot!(run_list(&rows, usize::MAX), @r"
    run  started            command  target     state    result
     12  2001-02-03 04:05Z  run      /srv/data           random-read 47.1 us, durable-write 133 us
     10  2001-02-03 04:05Z  run      .          partial  random-read 47.1 us, durable-write 133 us
      9  2001-02-03 04:05Z  run      .          invalid  random-read 47.1 us, durable-write 133 us
    ");
    assert_eq!(run_list(&[], 80), "no runs are archived\n");
}

/// Bug: the list ran past 80 columns.
#[test]
fn results_that_do_not_fit_have_lines_of_their_own() {
    insta::assert_snapshot!(
        run_list(
            &[row(12, "/srv/data", "complete"), row(9, ".", "partial")],
            50
        ),
        @r"
    run  started            command  target     state
     12  2001-02-03 04:05Z  run      /srv/data
         random-read 47.1 us, durable-write 133 us
      9  2001-02-03 04:05Z  run      .          partial, invalid
         random-read 47.1 us, durable-write 133 us
    "
    );
}
