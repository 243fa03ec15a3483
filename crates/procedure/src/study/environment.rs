//! The test environment in a study file: literal lines, and commands whose output is used.

use toml::de::DeValue;
use toml_reader::{KeyedTable, typed};

use crate::study::definition::ShellScript;

/// A line of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvironmentLine {
    /// In the user's words.
    Text(String),
    /// The output of a command.
    Command(ShellScript),
}

/// Reads literal lines and commands.
pub(super) fn read_environment(form: &mut KeyedTable<'_, '_>) -> Vec<EnvironmentLine> {
    let wanted = "a list of lines, such as [\"client: linux1\", { run = \"cc --version\" }]";
    let Some((value, place)) = form.find("environment") else {
        return Vec::new();
    };
    let DeValue::Array(items) = value else {
        let message = format!("environment = {}: it is {wanted}", typed(value));
        form.source.note(place, message);
        return Vec::new();
    };
    let mut lines = Vec::new();
    for item in items {
        let place = form.source.place(&item.span());
        match item.get_ref() {
            DeValue::String(text) => lines.push(EnvironmentLine::Text(text.to_string())),
            DeValue::Table(table) => {
                let mut command = KeyedTable::new(form.source, table, place, "a line of it");
                let text = command.text("run", "a command, such as \"cc --version\"");
                let text = command.require("run", text, "run = \"cc --version\"");
                let place = command.place.clone();
                command.finish();
                let script = text.map(|text| ShellScript { text, place });
                lines.extend(script.map(EnvironmentLine::Command));
            }
            other => {
                let message = format!("environment has {}: it is {wanted}", typed(other));
                form.source.note(place, message);
            }
        }
    }
    lines
}
