//! The table of options holds every name that fio knows, once.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support;
use fio::{OptionSupport, completed, find_option, options};

#[test]
fn no_name_stands_twice_and_every_answer_says_why() {
    let mut names = BTreeSet::new();
    for option in options() {
        assert!(names.insert(option.name), "{} stands twice", option.name);
        if !option.alias.is_empty() {
            let is_new = names.insert(option.alias);
            assert!(is_new, "{} stands twice", option.alias);
        }
        if let OptionSupport::NoEffect(why)
        | OptionSupport::Refused(why)
        | OptionSupport::OfEngine(why) = option.answer
        {
            assert!(!why.is_empty(), "{}", option.name);
        }
    }
    assert!(options().count() >= 363, "{}", options().count());
}

/// Skipped by name where fio is not installed.
#[test]
fn every_option_of_the_installed_fio_is_known() {
    let Ok(said) = Command::new("fio").arg("--cmdhelp=all").output() else {
        return support::skipped(
            "every_option_of_the_installed_fio_is_known",
            "fio is missing",
        );
    };
    let text = String::from_utf8_lossy(&said.stdout);
    let mut count = 0;
    for line in text.lines() {
        let name = line.split(':').next().unwrap_or_default().trim();
        if !name.is_empty() {
            assert!(find_option(name).is_some(), "{name} is not known");
            count += 1;
        }
    }
    assert!(count > 200, "{count} names read");
}

/// As `getopt_long_only` completes them in fio 3.33; what it calls ambiguous is so here.
#[test]
fn the_first_letters_of_an_option_stand_for_it_where_no_other_begins_so() {
    let check = |typed: &str, expected: &str| {
        assert_eq!(completed(typed), Ok(Some(expected)), "{typed}");
    };
    check("group_report", "group_reporting");
    check("runt", "runtime");
    check("readw", "readwrite");
    check("time_b", "time_based");
    check("output-f", "output-format");
    check("output", "output");
    check("na", "name");
    check("iodepth", "iodepth");
    let several = completed("tim").expect_err("two begin so");
    assert_eq!(several, ["timeout", "time_based"]);
    assert!(completed("iodep").is_err() && completed("rand").is_err());
    assert_eq!(completed("iodepht"), Ok(None));
    // An engine's option that begins the name of another is none of its letters.
    assert_eq!(completed("cont"), Ok(None));
}
