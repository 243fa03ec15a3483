//! A definition as TOML.

use std::fmt::Write as _;

use units::Bytes;

use crate::control::{Placement, ThreadType};
use crate::definition::notation::clock_text;
use crate::definition::{WorkloadDefinition, content};
use crate::threads::mode;

pub(super) fn write(definition: &WorkloadDefinition) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        writeln!(text, "{key} = {value}").expect("a string takes everything");
    };
    line("name", quoted(&definition.name));
    line("title", quoted(&definition.title));
    line("group", quoted(definition.group.name()));
    if let Some(threads) = definition.threads {
        line("threads-fixed", threads.to_string());
    }
    line("access", quoted(mode(definition.partition())));
    line("block", size(definition.block()));
    line("shares", definition.shares().to_string());
    text.push_str(&content::write(&definition.content));
    for kind in definition.types() {
        text.push_str(&type_text(kind));
    }
    text
}

fn type_text(kind: &ThreadType) -> String {
    let place = match kind.placement {
        Placement::Packed => quoted("packed"),
        Placement::Offset(offset) => size(offset),
    };
    let lines = [
        ("name", quoted(&kind.name)),
        ("count", kind.count.to_string()),
        ("io", size(u64::from(kind.io_size))),
        ("place", place),
        ("mix", quoted(&format!("{}:{}", kind.reads, kind.writes))),
        ("space", quoted(&kind.pattern.to_string())),
        ("time", quoted(&clock_text(kind.clock))),
        ("ios-per-message", kind.ios_per_message.to_string()),
    ];
    let lines = lines.map(|(key, value)| format!("{key} = {value}\n"));
    format!("\n[[threads]]\n{}", lines.concat())
}

fn size(bytes: u64) -> String {
    quoted(&Bytes(bytes).to_exact_string())
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c)).expect("a string takes everything");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
