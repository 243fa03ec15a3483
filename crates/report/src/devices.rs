//! Simulated devices as text: the list of them, and one with the source of each value.

use crate::page::wrap;
use crate::style::{Style, Tone};
use crate::table::{Align, TextTable};

/// One device in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedDevice {
    /// What stands after `sim:`.
    pub name: String,
    /// Disk, machine, queue and so on.
    pub kind: String,
    /// What it holds, where it stores.
    pub capacity: String,
    pub title: String,
}

/// A device with all its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSheet {
    /// What the list says.
    pub row: ListedDevice,
    /// Part, key, value, source.
    pub values: Vec<[String; 4]>,
    /// What follows from the values: name and value.
    pub facts: Vec<(String, String)>,
}

/// One line for each device, in the order given.
pub fn device_list(rows: &[ListedDevice]) -> String {
    let mut table = TextTable::new(&[
        ("name", Align::Left, 9),
        ("kind", Align::Left, 9),
        ("capacity", Align::Right, 9),
        ("what it is", Align::Left, 9),
    ]);
    for row in rows {
        let row = row.clone();
        table.row(Tone::Plain, [row.name, row.kind, row.capacity, row.title]);
    }
    let lines = table.render(usize::MAX);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// A device's values with their sources, and what follows from them.
pub fn device_sheet(sheet: &DeviceSheet, style: &Style) -> String {
    let ListedDevice {
        name, kind, title, ..
    } = &sheet.row;
    let mut text = String::new();
    for line in wrap(&format!("{name}: {title} ({kind})"), style.columns()) {
        text += &(line + "\n");
    }
    let mut table = TextTable::new(&[
        ("part", Align::Left, 9),
        ("key", Align::Left, 9),
        ("value", Align::Left, 9),
        ("source", Align::Left, 9),
    ]);
    for value in &sheet.values {
        table.row(Tone::Plain, value.clone());
    }
    text.push('\n');
    text.extend(
        table
            .render(usize::MAX)
            .into_iter()
            .map(|(_, line)| line + "\n"),
    );
    if !sheet.facts.is_empty() {
        text += "\nfrom this follow\n";
    }
    for (name, value) in &sheet.facts {
        text += &format!("  {name}: {value}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_names_every_value_with_its_source() {
        let words = |words: [&str; 4]| words.map(str::to_owned);
        let sheet = DeviceSheet {
            row: ListedDevice {
                name: "drum".into(),
                kind: "disk".into(),
                capacity: "1 MB".into(),
                title: "a drum".into(),
            },
            values: vec![words(["disk", "rpm", "3600", "document"])],
            facts: vec![("one turn".into(), "16.7 ms".into())],
        };
        let text = device_sheet(&sheet, &Style::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "drum: a drum (disk)");
        assert!(
            lines
                .iter()
                .any(|line| line.contains("3600") && line.contains("document"))
        );
        assert!(text.contains("one turn: 16.7 ms"), "{text}");
        assert!(device_list(&[sheet.row]).contains("drum"));
    }
}
