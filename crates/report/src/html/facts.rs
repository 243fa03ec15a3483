//! What stands below the figures: warnings, where it was measured, how to repeat it.

use results::environment::{BlockDevice, Environment};
use results::{FileText, Run, RunSetting, SettingOrigin, Severity, Warning};
use units::{Bytes, format_counted, format_duration_ns};

use super::tables::folded;
use crate::check_up::machine;
use crate::markup::{escaped, escaped_lines, in_print, with_commands};
use crate::names::words;
use crate::note;
use crate::standing;
use crate::target::{device_in_brief, file_system_in_full, in_brief, joined, raid_in_brief, with};

/// Of what is said of several measurements, so many are named.
const SCOPES_SHOWN: usize = 6;

/// So many warnings are not folded.
const WARNINGS_SHOWN: usize = 3;

/// One warning, and of what it is said.
struct Remark<'a> {
    warning: &'a Warning,
    scopes: Vec<String>,
    others: Vec<String>,
}

/// Warnings of one code and weight in one, the heaviest first.
fn remarks(run: &Run) -> Vec<Remark<'_>> {
    let mut found: Vec<Remark<'_>> = Vec::new();
    for (scope, warning) in run.scoped_warnings() {
        let alike = |it: &&mut Remark<'_>| {
            (&it.warning.code, it.warning.severity) == (&warning.code, warning.severity)
        };
        let Some(remark) = found.iter_mut().find(alike) else {
            found.push(Remark {
                warning,
                scopes: vec![scope],
                others: Vec::new(),
            });
            continue;
        };
        if !remark.scopes.contains(&scope) {
            remark.scopes.push(scope);
        }
        let text = warning.text();
        if remark.warning.text() != text && !remark.others.contains(&text) {
            remark.others.push(text);
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.warning.severity));
    found
}

/// The warnings; more of them, and what only informs below them, are folded.
pub(super) fn warnings(run: &Run) -> String {
    let remarks = remarks(run);
    let (heavy, notes): (Vec<&Remark<'_>>, Vec<&Remark<'_>>) = remarks
        .iter()
        .partition(|it| it.warning.severity > Severity::Info);
    let list = |remarks: &[&Remark<'_>]| {
        let items: Vec<String> = remarks.iter().map(|it| item(it)).collect();
        format!("<ul class=\"warnings\">\n{}</ul>\n", items.concat())
    };
    let (mut first, notes) = match heavy.is_empty() {
        true => (notes, Vec::new()),
        false => (heavy, notes),
    };
    let others = first.split_off(first.len().min(WARNINGS_SHOWN));
    let others = [others, notes].concat();
    let rest = match others.len() as u64 {
        0 => String::new(),
        count => folded(&format!("{count} more"), &list(&others)),
    };
    match first.is_empty() {
        true => String::new(),
        false => list(&first) + &rest,
    }
}

fn item(remark: &Remark<'_>) -> String {
    let word = remark.warning.severity.name();
    let more = remark.scopes.len().saturating_sub(SCOPES_SHOWN);
    let mut scopes = remark.scopes[..remark.scopes.len() - more].join(", ");
    if more > 0 {
        scopes.push_str(&format!(" and {more} more"));
    }
    let mut text = format!(
        "<li><span class=\"t {word}\">{word}</span><div>{}<small>{} · {}</small>",
        with_commands(&in_print(&remark.warning.text())),
        escaped(&words(remark.warning.code.as_str())),
        escaped(&scopes)
    );
    if !remark.others.is_empty() {
        let count = format_counted(remark.others.len() as u64, "more result");
        let others: Vec<String> = remark
            .others
            .iter()
            .map(|other| format!("<li>{}</li>", with_commands(&in_print(other))))
            .collect();
        text.push_str(&format!(
            "<details><summary>{count}</summary><ul>{}</ul></details>",
            others.concat()
        ));
    }
    text + "</div></li>\n"
}

/// A list of facts; those without a text are left out.
pub(super) fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut text = String::from("<dl>\n");
    for (name, fact) in facts {
        if !fact.is_empty() {
            text.push_str(&format!(
                "<dt>{}</dt><dd>{}</dd>\n",
                escaped(name),
                escaped(&fact)
            ));
        }
    }
    text + "</dl>\n"
}

/// The target and what it stands on, the machine and what it did.
pub(super) fn environment(run: &Run) -> String {
    let (target, it) = (&run.target, &run.environment);
    // What a model does in virtual time owes nothing to this machine.
    let of_storage = |fact: String| {
        if run.is_of_models() {
            String::new()
        } else {
            fact
        }
    };
    let mut found = vec![
        ("Target", format!("{}: {}", target.given, in_brief(target))),
        (
            "Path",
            Some(&target.path)
                .filter(|path| **path != target.given)
                .cloned()
                .unwrap_or_default(),
        ),
        (
            "File system",
            target
                .file_system
                .as_ref()
                .map_or_else(String::new, file_system_in_full),
        ),
    ];
    found.extend(
        target
            .devices
            .iter()
            .map(|device| ("Device", device_in_full(device))),
    );
    found.extend([
        (
            "RAID",
            target.raid.as_ref().map_or_else(String::new, raid_in_brief),
        ),
        (
            "Host",
            of_storage(format!("{}, {}", it.host_name, machine(run))),
        ),
        ("Processor", of_storage(processor(it))),
        ("Load", of_storage(load(run))),
        (
            "Measured",
            format!(
                "{}, for {}",
                it.started_at,
                in_print(&format_duration_ns(run.elapsed_ns as f64))
            ),
        ),
        (
            "Seekstone",
            format!("{}, seed {}", it.seekstone_version, run.settings.seed),
        ),
    ]);
    if let Some(note) = &run.note {
        let lines = note::environment(run, note);
        found.push(("Experiment", note.title.clone()));
        found.extend(lines.into_iter().map(|line| ("Test environment", line)));
    }
    facts(found)
}

fn device_in_full(device: &BlockDevice) -> String {
    joined([
        Some(device_in_brief(device)),
        device.size_bytes.map(|size| Bytes(size).to_string()),
        with("cache ", device.write_cache.as_ref(), ""),
        with("partition of ", device.partition_of.as_ref(), ""),
        with("file ", device.backing_file.as_ref(), ""),
    ])
}

fn processor(it: &Environment) -> String {
    joined([
        it.cpu_model.clone(),
        Some(it.architecture.clone()),
        with("clock ", it.clock_source.as_ref(), ""),
    ])
}

/// What else the machine did.
fn load(run: &Run) -> String {
    let it = &run.environment;
    let parts = [
        it.load_average.map(|[one, five, fifteen]| {
            format!("load average {one:.2}, {five:.2}, {fifteen:.2} at the start")
        }),
        it.pressure_io
            .map(|it| format!("I/O pressure {:.1} %", it.some_percent)),
        it.steal_share
            .map(|it| format!("steal {:.1} %", it * 100.0)),
        standing::background(&run.measurements),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join("; ")
}

/// Every setting with who chose it, and the texts of the files that were read.
pub(super) fn setup(run: &Run) -> String {
    let setup = &run.settings;
    let (defaults, chosen): (Vec<&RunSetting>, Vec<&RunSetting>) = setup
        .settings
        .iter()
        .partition(|it| it.origin == SettingOrigin::Default);
    let listed = |settings: &[&RunSetting]| {
        let found = settings.iter().map(|it| {
            let value = match it.values.as_slice() {
                [] => "not set".to_owned(),
                values => values.join(", "),
            };
            let mark = match it.origin {
                SettingOrigin::Resolved => " (auto)",
                SettingOrigin::Given | SettingOrigin::Default => "",
            };
            (it.name.as_str(), format!("{value}{mark}"))
        });
        facts(found)
    };
    let mut text = listed(&chosen);
    if !defaults.is_empty() {
        let count = format_counted(defaults.len() as u64, "default");
        text.push_str(&format!(
            "<details><summary>{count}</summary>\n{}</details>\n",
            listed(&defaults)
        ));
    }
    for FileText { name, text: held } in &setup.files {
        text.push_str(&format!(
            "<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
            escaped(name),
            escaped_lines(held)
        ));
    }
    text
}

/// How to measure the same again, here and elsewhere.
pub(super) fn repeat(run: &Run) -> String {
    let here = run.id.map(|id| {
        format!(
            "<p>On the machine with the archive (add <code>--archive FILE</code> if the run was \
             saved with it):</p>\n<pre tabindex=\"0\">seekstone runs repeat {id}</pre>\n"
        )
    });
    format!(
        "{}<p>{}rom this file, with all its settings:</p>\n\
         <pre tabindex=\"0\">seekstone runs import PAGE.html\nseekstone runs repeat</pre>\n",
        here.as_deref().unwrap_or_default(),
        if here.is_some() {
            "Anywhere else, f"
        } else {
            "F"
        }
    )
}
