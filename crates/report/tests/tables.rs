//! Lists of runs.

use report::{ListRow, run_list};

#[test]
fn archived_runs_are_listed() {
    let row = |id, target: &str, status: &str| ListRow {
        id,
        started_at: "2001-02-03T04:05:06.789Z".into(),
        command: "run".into(),
        target: target.into(),
        status: status.into(),
        headline: "random-read 47.1 us".into(),
    };
    insta::assert_snapshot!(
        run_list(&[row(12, "/srv/data", "complete"), row(9, ".", "partial")]),
        @r"
    run  started               command  target     status    result
     12  2001-02-03 04:05:06Z  run      /srv/data  complete  random-read 47.1 us
      9  2001-02-03 04:05:06Z  run      .          partial   random-read 47.1 us
    "
    );
    assert_eq!(run_list(&[]), "no runs are archived\n");
}
