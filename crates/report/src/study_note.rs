//! The note of a study in Markdown.

use results::{Run, Status, Study};

use crate::check_up::machine;
use crate::markdown::{goals, line, plain, verdict};
use crate::study::{
    LEGEND, distributions, environment, outliers, readings, shown, without_one_mean,
};
use crate::target;

/// The note: test environment, results, conclusions.
pub(crate) fn note(run: &Run, study: &Study) -> String {
    let mut text = format!("# {}\n\n## Test environment\n\n", plain(&study.title));
    let target = format!("{}: {}", run.target.given, target::mounted(&run.target));
    let processor = run.environment.cpu_model.as_ref();
    let processor = processor.map_or_else(String::new, |model| format!("{model}, "));
    let host = &run.environment.host_name;
    let machine = format!("{host}, {processor}{}", machine(run));
    for line in environment(study).iter().chain([&target, &machine]) {
        text.push_str(&format!("- {}\n", plain(line)));
    }
    if let Status::Partial { reason } = &run.status {
        text.push_str(&format!("- Partial: {}\n", plain(reason)));
    }
    text.push_str(&verdict(run));
    text.push_str("\n## Results\n\n");
    text.push_str(&table(study));
    text.push_str(&format!("\n{LEGEND}\n"));
    for line in without_one_mean(study).into_iter().chain(outliers(study)) {
        text.push_str(&format!("\n{}\n", plain(&line)));
    }
    for (title, lines) in distributions(study) {
        text.push_str(&format!(
            "\n{}\n\n```text\n{}\n```\n",
            plain(&title),
            lines.join("\n")
        ));
    }
    text.push_str(&goals(run));
    if !study.conclusions.is_empty() {
        text.push_str("\n## Conclusions\n\n");
        for conclusion in &study.conclusions {
            text.push_str(&format!("- {}\n", plain(conclusion)));
        }
    }
    let doubts: Vec<_> = run.all_warnings().collect();
    if !doubts.is_empty() {
        text.push_str("\n## Warnings\n\n");
        for warning in doubts {
            text.push_str(&format!("- {}\n", plain(&warning.text())));
        }
    }
    text
}

fn table(study: &Study) -> String {
    let readings = readings(study);
    let mut header: Vec<String> = study.factors.iter().map(|it| plain(&it.name)).collect();
    let mut sides: Vec<&str> = header.iter().map(|_| "---").collect();
    for reading in &readings {
        header.extend([plain(reading), "95 % interval".to_owned()]);
        sides.extend(["---:", "---"]);
    }
    let mut lines = vec![line(&header), format!("| {} |", sides.join(" | "))];
    for cell in &study.cells {
        let mut fields: Vec<String> = cell.levels.iter().map(|level| plain(level)).collect();
        for reading in &readings {
            let (value, interval) = shown(cell, reading);
            fields.extend([plain(&value), plain(&interval)]);
        }
        lines.push(line(&fields));
    }
    lines.join("\n") + "\n"
}
