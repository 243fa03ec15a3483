//! What is wrong with settings is said in a sentence that names what is allowed.

use kinds::measure::{Default, KINDS, measuring};

use crate::support::{parsed, refused};

#[test]
fn mistakes_name_what_is_allowed() {
    let check = |kind: &str, settings: &str, expected: &str| {
        assert_eq!(refused(kind, settings), expected);
    };
    check(
        "transfer",
        "recrod = \"8k\"",
        "recrod: transfer has no setting \"recrod\", did you mean \"record\"?. It has record, \
         size, preallocated, direct, synced, cold",
    );
    check(
        "transfer",
        "synced = \"often\"",
        "synced: synced = \"often\": it is one of \"no\", \"end\", \"each\"",
    );
    check(
        "transfer",
        "direct = \"perhaps\"",
        "direct: direct = \"perhaps\": it is true or false",
    );
    check(
        "transfer",
        "size = \"8k\"\nrecord = \"64k\"",
        "record: record = 64 KiB is more than a whole file of 8 KiB",
    );
    check(
        "command",
        "",
        "-: command needs command = TEXT or LIST: what is run: a text by `sh -c`, a list of a \
         program and its arguments without a shell. It finds the variables of scripts, such as \
         SEEKSTONE_PLACE",
    );
    check(
        "command",
        "command = [1, 2]",
        "command: command = [1, 2]: it is a text, or a list of texts",
    );
    check(
        "command",
        "command = \"true\"\nwarm = true\ncold = true",
        "cold: warm and cold exclude each other: choose one",
    );
    let unknown = refused("teleport", "");
    assert!(
        unknown.starts_with("-: there is no measurement \"teleport\": use command, "),
        "{unknown}"
    );
    let unit = refused("transfer", "record = \"8 parsecs\"");
    assert!(
        unit.starts_with("record: record: ") && unit.contains("parsecs"),
        "{unit}"
    );
}

#[test]
fn a_level_may_be_a_number_or_a_text() {
    let parts = |settings| format!("{:?}", parsed("transfer", settings));
    assert_eq!(
        parts("record = 8192\ndirect = \"yes\""),
        parts("record = \"8k\"\ndirect = true")
    );
}

#[test]
fn every_default_is_one_that_could_be_typed() {
    for kind in KINDS {
        let mut typed = toml::Table::new();
        for setting in kind.settings {
            if let Default::Is(value) = setting.default {
                typed.insert(setting.name.into(), value.into());
            }
        }
        let needs = |name: &str| kind.settings.iter().any(|it| it.name == name);
        let mut bare = toml::Table::new();
        let url = format!("{}://127.0.0.1/x", kind.name);
        for (name, value) in [
            ("command", "true"),
            ("target", "/x"),
            ("fill", "to the last byte"),
            ("url", &url),
        ] {
            if needs(name) {
                typed.insert(name.into(), value.into());
                bare.insert(name.into(), value.into());
            }
        }
        let all = measuring(kind.name, &typed);
        all.unwrap_or_else(|fault| panic!("{}: {fault}", kind.name));
        let none = measuring(kind.name, &bare);
        none.unwrap_or_else(|fault| panic!("{}: {fault}", kind.name));
    }
}
