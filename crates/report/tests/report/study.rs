//! The note of a study as text and Markdown.

use report::{Style, check_up, markdown};
use results::Run;

use crate::kinds::judged;

fn run() -> Run {
    let mut run = Run {
        measurements: Vec::new(),
        curves: Vec::new(),
        findings: Vec::new(),
        warnings: Vec::new(),
        ..sample::run()
    };
    sample::study().give_to(&mut run);
    judged(run)
}

#[test]
fn readings_that_do_not_fit_stand_in_tables_below_each_other() {
    let style = Style {
        width: 80,
        unicode: false,
        ..Style::default()
    };
    let text = check_up(&run(), &style);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["10.1 ms and 202 ms (38 % of repeats)", "+12 % from earlier"] {
        assert!(unwrapped.contains(told), "{told}: {text}");
    }
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
        let is_heading = |line: &&str| line.contains("95 % CI");
        let headings = text.lines().filter(is_heading);
        let heading = headings.filter(|line| line.contains(reading));
        assert_eq!(heading.count(), 1, "{reading}: {text}");
    }
    for part in [
        "6.10 MB/s",
        "5.49 .. 6.71",
        "78.0 %",
        "275 ms/MiB",
        "64 KiB",
        "18,400/s",
        "read rate (block 1KiB, host linux1): 1.25 MB/s in round 3",
        "12 single values of time (block 1KiB, host linux1), mean",
        "5.00 ms to 10.0 ms 2 ####",
        "resumed 2027-01-31 13:00:00Z",
        "64KiB is 0.175 (0.164 .. 0.186) times as fast as 1KiB (host linux1).",
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
    let note = markdown(&run());
    let headings: Vec<&str> = note.lines().filter(|line| line.starts_with('#')).collect();
    let expected = [
        "# Block size and host",
        "## Test environment",
        "## Results",
        "## Best levels",
        "## Comparisons",
        "## 12 single values of time (block 1KiB, host linux1), mean 23.0 ms",
        "## Conclusions",
    ];
    assert_eq!(headings, expected);
    assert!(
        note.contains("| block | host | read rate | mean time |"),
        "{note}"
    );
    assert!(
        note.contains("| 1KiB | linux1 | 6.10 MB/s (5.49 .. 6.71) |"),
        "{note}"
    );
}

/// A note told neither processor nor mount options, of which the document's notes are about.
#[test]
fn a_note_has_processor_and_mount_options() {
    let mut run = run();
    run.environment.cpu_model = Some("DEC 21064A".into());
    let file_system = run.target.file_system.as_mut().expect("a file system");
    file_system.options = vec!["rw".into(), "relatime".into()];
    file_system.super_options = vec!["rw".into(), "compress-force".into()];
    let note = markdown(&run);
    assert!(note.contains("DEC 21064A, "), "{note}");
    assert!(
        note.contains("mounted rw,relatime,compress-force"),
        "{note}"
    );
}
