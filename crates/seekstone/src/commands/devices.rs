//! `seekstone devices`: what `sim:NAME` can be.

use lab::simulated::{definition_text, open_definition};
use report::{DeviceSheet, ListedDevice};
use sim::DeviceDefinition;
use units::listed_name;

use crate::args::{DevicesArgs, DevicesCommand};
use crate::commands::vintage::validate;
use crate::exit::{Exit, UsageError};
use crate::output;

/// List devices, show one, or hold them against what was published.
///
/// # Errors
/// When there is no such device, or its file is wrong.
pub fn devices(args: &DevicesArgs) -> anyhow::Result<Exit> {
    match &args.command {
        DevicesCommand::List => output::print(list()?.trim_end()),
        DevicesCommand::Validate(args) => validate(args),
        DevicesCommand::Show { name, toml } => {
            let name = listed_name(name);
            if *toml {
                // A wrong file is told before it is printed.
                opened(name)?;
                let text = definition_text(name).map_err(UsageError)?;
                return output::print(text.trim_end());
            }
            if let Some((name, parameters, meaning)) = queue(name) {
                let mut text = format!("{name}: {meaning} (queue)\n\n{parameters}");
                if let Some(formula) = sim::formula(name) {
                    text.push_str(&format!("\n\n{formula}\n{}", sim::PARAMETERS_OF_ALL));
                }
                return output::print(&text);
            }
            let sheet = sheet(name, opened(name)?);
            output::print(report::device_sheet(&sheet, &output::style(true)).trim_end())
        }
    }
}

/// What a target's model is made of, and what follows from that, as appendix B of the DECUS paper
/// has it of each system; then the same of each device that an option puts into it.
pub fn described(target: &str) -> Vec<String> {
    let (name, options) = listed_name(target)
        .split_once('?')
        .unwrap_or((listed_name(target), ""));
    let options = options.split('&').filter_map(|it| it.split_once('='));
    let named = options.filter_map(|(part, name)| Some((part, name, opened(name).ok()?)));
    let named: Vec<(&str, &str, DeviceDefinition)> = named.collect();
    let replaced: Vec<&str> = named.iter().map(|(part, ..)| *part).collect();
    let own = opened(name).ok().map(|it| brief(name, it, &replaced));
    let others = named
        .into_iter()
        .map(|(part, name, it)| format!("{part} {}", brief(name, it, &[])));
    own.into_iter().chain(others).collect()
}

/// A device with the values that somebody gave, but for parts that others replace.
fn brief(name: &str, definition: DeviceDefinition, replaced: &[&str]) -> String {
    let sheet = sheet(name, definition);
    let values = sheet.values.iter();
    let values = values.filter(|[part, key, _, source]| {
        source != "default" && ![part, key].iter().any(|it| replaced.contains(&it.as_str()))
    });
    let values = values.map(|[_, key, value, _]| format!("{key} {value}"));
    let facts = sheet.facts.iter().filter(|_| replaced.is_empty());
    let facts = facts.map(|(fact, value)| format!("{fact} {value}"));
    let all: Vec<String> = values.chain(facts).collect();
    format!("{name}: {}, {}", sheet.row.title, all.join(", "))
}

fn opened(name: &str) -> Result<DeviceDefinition, UsageError> {
    open_definition(name).map_err(UsageError::of)
}

/// A queue model's name, its parameters, a line each, and its meaning.
fn queue(name: &str) -> Option<(&'static str, String, &'static str)> {
    let (name, parameters, meaning) = sim::MODELS.iter().find(|(known, ..)| *known == name)?;
    let lines = parameters
        .iter()
        .map(|(key, value)| format!("  {key}={value}"));
    Some((name, lines.collect::<Vec<_>>().join("\n"), meaning))
}

fn list() -> anyhow::Result<String> {
    let mut rows = Vec::new();
    for name in sim::device_names() {
        rows.push(row(name, &opened(name)?));
    }
    rows.extend(sim::MODELS.iter().map(|(name, _, meaning)| ListedDevice {
        name: (*name).into(),
        kind: "queue".into(),
        capacity: String::new(),
        title: (*meaning).into(),
    }));
    Ok(report::device_list(&rows))
}

fn row(name: &str, definition: &DeviceDefinition) -> ListedDevice {
    let machine = definition.machine.as_ref();
    let capacity = machine.map(|machine| units::Bytes(machine.size()).decimal());
    ListedDevice {
        name: name.into(),
        kind: definition.kind.name().into(),
        capacity: capacity.unwrap_or_default(),
        title: definition.title.clone(),
    }
}

fn sheet(name: &str, definition: DeviceDefinition) -> DeviceSheet {
    let row = row(name, &definition);
    let facts = definition.machine.as_ref().map(sim::MachineSpec::facts);
    let values = definition.parameters.into_iter();
    DeviceSheet {
        row,
        values: values
            .map(|value| [value.part, value.key, value.value, value.source])
            .collect(),
        facts: facts
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}
