//! What a run was asked for and what that came to, as `runs show` prints it.

use results::{FileText, RunSetting, SettingOrigin, Setup};
use units::{format_counted, format_duration_ns};

use crate::page::TextPage;
use crate::style::{Style, Tone};

/// The setup in a few lines; with all details, every setting with its value.
pub fn setup(setup: &Setup, style: &Style) -> String {
    let mut page = TextPage::new(style);
    page.heading("Setup");
    if style.all {
        let width = setup.settings.iter().map(|it| it.name.len()).max();
        for setting in &setup.settings {
            let name = format!("{:1$}", setting.name, width.unwrap_or(0));
            let mark = match setting.origin {
                SettingOrigin::Given => "",
                SettingOrigin::Default => "  (default)",
                SettingOrigin::Resolved => "  (auto)",
            };
            page.line(Tone::Plain, &format!("{name}  {}{mark}", shown(setting)));
        }
    } else {
        let of = |origin| listed(setup, origin);
        let count = |it: &&RunSetting| it.origin == SettingOrigin::Default;
        let defaults = setup.settings.iter().filter(count).count();
        page.item(Tone::Plain, "given:", &of(SettingOrigin::Given));
        page.item(Tone::Plain, "chosen:", &of(SettingOrigin::Resolved));
        let defaults = format_counted(defaults as u64, "setting");
        page.item(
            Tone::Plain,
            "default:",
            &format!("{defaults} (--all shows them)"),
        );
    }
    if !setup.files.is_empty() {
        let names: Vec<&str> = setup
            .files
            .iter()
            .map(|FileText { name, .. }| &**name)
            .collect();
        page.item(Tone::Plain, "definitions:", &names.join(", "));
    }
    page.finish()
}

fn listed(setup: &Setup, origin: SettingOrigin) -> String {
    let settings = setup.settings.iter().filter(|it| it.origin == origin);
    let texts: Vec<String> = settings
        .map(|it| match it.values.as_slice() {
            [flag] if flag == "true" => it.name.clone(),
            _ => format!("{} {}", it.name, shown(it)),
        })
        .collect();
    if texts.is_empty() {
        return "nothing".into();
    }
    texts.join("; ")
}

fn shown(setting: &RunSetting) -> String {
    if setting.values.is_empty() {
        return "not set".into();
    }
    let values = setting.values.iter().map(|value| {
        // Times that the program chose are kept to the nanosecond.
        let nanos = value
            .strip_suffix("ns")
            .and_then(|it| it.parse::<f64>().ok());
        nanos.map_or_else(|| value.clone(), format_duration_ns)
    });
    values.collect::<Vec<String>>().join(", ")
}
