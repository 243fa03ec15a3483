//! The note of an experiment: its title and test environment, before results and conclusions.

use results::{Run, RunNote, TargetDescription};

use crate::list::moment;
use crate::page::TextPage;
use crate::style::Tone;
use crate::target::mounted;

/// The title, and where and how it was measured. The machine and the target stand above.
pub(crate) fn section(page: &mut TextPage<'_>, run: &Run, note: &RunNote) {
    page.blank();
    page.heading(&note.title);
    page.blank();
    page.heading("Test environment");
    let processor = run.environment.cpu_model.as_ref();
    if let Some(processor) = processor.filter(|_| !run.is_of_models()) {
        page.item(Tone::Plain, "-", &format!("Processor {processor}"));
    }
    for line in environment(run, note) {
        page.item(Tone::Plain, "-", &line);
    }
}

/// The environment in the user's words, when it was measured, what was done, and of several places
/// what each stands on.
pub(crate) fn environment(run: &Run, note: &RunNote) -> Vec<String> {
    let moments: Vec<String> = note.begun_at.iter().map(|it| moment(it)).collect();
    let done = moments.join(", resumed ");
    let others = run.other_targets.iter();
    let places = std::iter::once(&run.target).chain(others);
    let place = |it: &TargetDescription| format!("Measured on {}: {}", it.given, mounted(it));
    let is_alone = run.other_targets.is_empty();
    let places = places.filter(|it| !is_alone || it.file_system.is_some());
    let mut lines = note.environment.clone();
    lines.push(format!("Done {done}"));
    lines.extend(places.map(place));
    lines
}
