//! Lists and comma-separated values.

use report::{ListRow, csv_measurements, run_list, sample};

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

#[test]
fn every_row_of_the_csv_has_every_column() {
    let text = csv_measurements(&sample::run()).expect("measurements");
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + sample::run().measurements.len());
    assert!(lines[0].starts_with("name,title,clients,"), "{}", lines[0]);
    let columns = lines[0].split(',').count();
    for line in &lines[1..] {
        // Commas inside quotes do not separate.
        let outside: String = line.split('"').step_by(2).collect();
        assert_eq!(outside.split(',').count(), columns, "{line}");
    }
    assert!(lines[4].starts_with("random-read,\"random read 4 KiB, one at a time\",1,1,direct,"));
}
