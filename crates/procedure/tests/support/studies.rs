//! A study file, and kinds of measurements that it can choose from.

// Each test file is a program of its own and uses its own part of this.
#![allow(dead_code)]

use procedure::study::{
    KindOutline, Kinds, SettingMistake, StudyDefinition, StudyOverrides, read_study,
};

pub const STUDY: &str = r#"
title = "Block sizes"
environment = ["client: linux1"]
replicates = 6

[measurement]
kind = "transfer"
size = "64MiB"

[[factor]]
name = "block"
setting = "record"
levels = ["1KiB", "8KiB", "64KiB"]
against = "8KiB"

[[factor]]
name = "mount"
[[factor.level]]
name = "default"
setup = "true"
[[factor.level]]
name = "rsize 8k"
set = { dir = "mnt8" }
setup = "mkdir mnt8"
teardown = "rmdir mnt8"
"#;

/// A kind `transfer` with a few settings, and a kind `command`.
fn outline_of(kind: &str) -> Option<KindOutline> {
    let (settings, readings): (&[&str], &[&str]) = match kind {
        "transfer" => (&["size", "record", "dir"], &["rate", "read rate", "calls"]),
        "command" => (&["command", "directory"], &["real", "user"]),
        _ => return None,
    };
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Some(KindOutline {
        settings: owned(settings),
        readings: Some(owned(readings)),
        command: (kind == "command").then(|| "command".to_owned()),
    })
}

fn check_settings(kind: &str, settings: &toml::Table) -> Result<(), SettingMistake> {
    let mistake = |key: Option<&String>, message: String| SettingMistake {
        key: key.cloned(),
        message,
    };
    let Some(known) = outline_of(kind).map(|it| it.settings) else {
        return Err(mistake(None, format!("there is no measurement {kind:?}")));
    };
    for (key, value) in settings {
        if !known.contains(key) {
            return Err(mistake(Some(key), format!("no setting {key:?}")));
        }
        if value.as_str().is_some_and(|text| text.contains("wrong")) {
            return Err(mistake(Some(key), format!("{key} = {value}: it is a size")));
        }
    }
    Ok(())
}

pub fn read_with(text: &str, overrides: &StudyOverrides) -> Result<StudyDefinition, String> {
    let kinds = Kinds {
        outline_of: Box::new(outline_of),
        check: Box::new(check_settings),
    };
    read_study("s.toml", text, overrides, &kinds).map_err(|error| error.to_string())
}

pub fn read(text: &str) -> Result<StudyDefinition, String> {
    read_with(text, &StudyOverrides::default())
}
