//! The table of options holds every name that fio knows, once.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support;
use fio::{Answer, find_option, options};

#[test]
fn no_name_stands_twice_and_every_answer_says_why() {
    let mut names = BTreeSet::new();
    for option in options() {
        assert!(names.insert(option.name), "{} stands twice", option.name);
        if !option.alias.is_empty() {
            let is_new = names.insert(option.alias);
            assert!(is_new, "{} stands twice", option.alias);
        }
        if let Answer::NoEffect(why) | Answer::Refused(why) | Answer::OfEngine(why) = option.answer
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
