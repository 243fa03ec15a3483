//! The note of a study as text, Markdown and comma-separated values.

use report::{Style, check_up, csv_study, csv_study_replicates, markdown_note, sample};
use results::Run;

fn run() -> Run {
    Run {
        measurements: Vec::new(),
        curve: None,
        findings: Vec::new(),
        warnings: Vec::new(),
        study: Some(sample::study()),
        ..sample::run()
    }
}

#[test]
fn readings_that_do_not_fit_stand_in_tables_below_each_other() {
    let style = Style {
        width: 80,
        unicode: false,
        ..Style::default()
    };
    let text = check_up(&run(), &style);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for reading in [
        "read rate",
        "mean time",
        "extents",
        "hits",
        "save CPU",
        "fairness",
    ] {
        let is_heading =
            |line: &&str| line.contains("95 % interval ") || line.ends_with("95 % interval");
        let headings = text.lines().filter(is_heading);
        let heading = headings.filter(|line| line.contains(reading));
        assert_eq!(heading.count(), 1, "{reading}: {text}");
    }
    for part in [
        "6.10 MB/s*",
        "5.49 .. 6.71",
        "78.0 %",
        "275 ms/MiB",
        "64 KiB",
        "18,400/s",
        "read rate (block 1KiB, host linux1): 1.25 MB/s in round 3",
        "Distribution of mean time (block 1KiB, host linux1): 12 values",
        "gone on with 2027-01-31 13:00:00Z",
        "5.4 to 6.1 times lower",
    ] {
        // However the lines are broken.
        let words: Vec<&str> = text.split_whitespace().collect();
        let part: Vec<&str> = part.split_whitespace().collect();
        assert!(
            words.join(" ").contains(&part.join(" ")),
            "{part:?}: {text}"
        );
    }
}

#[test]
fn the_note_has_the_form_of_the_source() {
    let note = markdown_note(&run()).expect("a study");
    let headings: Vec<&str> = note.lines().filter(|line| line.starts_with('#')).collect();
    let expected = [
        "# Block size and host",
        "## Test environment",
        "## Results",
        "## Conclusions",
    ];
    assert_eq!(headings, expected);
    assert!(
        note.contains("| block | host | read rate | 95 % interval |"),
        "{note}"
    );
    assert!(
        note.contains("| 1KiB | linux1 | 6.10 MB/s\\* | 5.49 .. 6.71 |"),
        "{note}"
    );
    assert_eq!(markdown_note(&sample::run()), None);
}

#[test]
fn every_figure_and_every_replicate_is_exported() {
    let csv = csv_study(&run()).expect("a study");
    assert!(
        csv.starts_with("block,host,reading,unit,mean,low,high,replicates"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1 + 4 * 8);
    let csv = csv_study_replicates(&run()).expect("a study");
    assert_eq!(csv.lines().count(), 1 + 4 * 3);
    assert_eq!(csv_study(&sample::run()), None);
    assert_eq!(csv_study_replicates(&sample::run()), None);
}
