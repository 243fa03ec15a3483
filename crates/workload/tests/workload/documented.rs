//! The examples and numbers of `docs/workloads.md` and of its reference hold.

use workload::WorkloadDefinition;
use workload::advice::ios_to_sum;

const PAGE: &str = concat!(
    include_str!("../../../../docs/workloads.md"),
    include_str!("../../../../docs/reference/workload-advice.md")
);

#[test]
fn the_example_is_a_definition() {
    let (_, rest) = PAGE.split_once("```toml\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let definition = WorkloadDefinition::parse(example, "docs/workloads.md").expect("a definition");
    assert_eq!(definition.types().len(), 2);
}

#[test]
fn every_key_and_built_in_workload_is_described() {
    for key in [
        "name",
        "title",
        "group",
        "threads-fixed",
        "access",
        "block",
        "shares",
        "count",
        "io",
        "place",
        "mix",
        "space",
        "time",
        "ios-per-message",
    ] {
        assert!(PAGE.contains(&format!("\n| `{key}` |")), "{key}");
    }
    for (index, (name, _)) in workload::BUILT_IN_WORKLOADS.iter().enumerate() {
        assert!(
            PAGE.contains(&format!("| {} | `{name}` |", index + 1)),
            "{name}"
        );
    }
}

#[test]
fn the_walks_need_the_ios_that_it_says() {
    let printed = [
        (2.5, 588.0),
        (2.0, 512.0),
        (1.5, 406.0),
        (1.0, 95.0),
        (0.5, 16.0),
    ];
    for (alpha, ios) in printed {
        let computed = ios_to_sum(alpha, 32.0);
        assert!((computed - ios).abs() <= 1.0, "{alpha}: {computed}");
    }
    assert_eq!(ios_to_sum(0.5, 8192.0).ceil(), 270.0);
    assert!((33e6..34e6).contains(&ios_to_sum(2.0, 8192.0)));
}

/// A variant's name as files have it.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

#[test]
fn every_code_of_advice_is_described() {
    for definition in WorkloadDefinition::all_built_in() {
        let all = workload::advise(&definition, 1 << 30, Some(1 << 20), Some(60), Some(1));
        for advice in all
            .iter()
            .chain(&workload::advise(&definition, 1, None, Some(1), None))
        {
            let code = kebab(&format!("{:?}", advice.code));
            assert!(PAGE.contains(&format!("\n| `{code}` |")), "{code}");
        }
    }
    assert!(PAGE.contains("\n| `durations-differ` |"));
}

#[test]
fn lines_fit() {
    for (number, line) in PAGE.lines().enumerate() {
        assert!(line.chars().count() <= 100, "line {}", number + 1);
    }
}
