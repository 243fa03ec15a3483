//! Parses a job file: sections of options, each with its place.

use std::sync::Arc;

use crate::arithmetic::evaluate;
use crate::buffers::pattern_bytes;
use crate::fault::{Fault, JobFilePosition};
use crate::option::{FioOption, find_option, nearest};

/// Maximum size of a job file.
const BYTES_MAX: usize = 4 << 20;
/// Maximum number of nested includes.
const INCLUDES_MAX: usize = 16;
/// Maximum number of sections and options in a file with its includes.
const ENTRIES_MAX: usize = 100_000;

/// Access of a job file to its environment.
pub trait Surroundings {
    /// The text of a file included by `from`.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn include(&mut self, from: &str, path: &str) -> Result<String, String>;
    /// The bytes of a file named by a pattern.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn bytes(&mut self, path: &str) -> Result<Vec<u8>, String>;
    /// A variable of the environment.
    fn variable(&mut self, name: &str) -> Option<String>;
    /// Value of `$pagesize`, `$mb_memory` or `$ncpus`.
    fn fact(&mut self, name: &str) -> Option<u64>;
}

/// An option as given.
#[derive(Clone, Debug)]
pub struct Given {
    pub option: &'static FioOption,
    /// Text after the `=`, with variables substituted.
    pub value: Option<String>,
    /// The bytes of the file named by a pattern.
    pub pattern: Option<Vec<u8>>,
    /// The log to be replayed.
    pub log: Option<Arc<str>>,
    /// An unset variable in it, which fio replaces by nothing.
    pub unset: Option<String>,
    pub place: JobFilePosition,
}

/// A section: a job, or options for all following jobs.
#[derive(Clone, Debug)]
pub struct JobSection {
    /// The name in brackets.
    pub name: String,
    /// Whether its options apply to all following jobs.
    pub is_global: bool,
    /// Its start.
    pub place: JobFilePosition,
    /// In the order in which they are applied.
    pub given: Vec<Given>,
}

/// A parsed job file.
#[derive(Clone, Debug, Default)]
pub struct JobFile {
    /// In file order.
    pub sections: Vec<JobSection>,
    /// Errors, in order of lines.
    pub faults: Vec<Fault>,
}

impl JobFile {
    /// Options of the command line before its first job are defaults for the first job file, too,
    /// as in fio: the file itself overrides them.
    pub fn begin_with(&mut self, defaults: &JobSection) {
        match self.sections.first_mut().filter(|first| first.is_global) {
            Some(first) => drop(first.given.splice(0..0, defaults.given.iter().cloned())),
            None => self.sections.insert(0, defaults.clone()),
        }
    }
}

/// Parses a job file with that name.
// fuzzed: fio_jobs
pub fn read_job_file(name: &str, text: &str, around: &mut dyn Surroundings) -> JobFile {
    let mut reader = JobFileReader {
        around,
        file: JobFile::default(),
        entries: 0,
    };
    reader.text(name, text, 0);
    for section in &mut reader.file.sections {
        sort(&mut section.given);
        if section.is_global && section.name != "global" {
            let message = format!(
                "fio takes [{}] for global options, as it begins with \"global\". Rename it, or \
                 write [global]",
                section.name
            );
            reader.file.faults.push(Fault::new(&section.place, message));
        }
    }
    reader.file
}

/// Options in the order in which fio applies them: by rank, else as written.
pub(crate) fn sort(given: &mut [Given]) {
    // fio applies those of an engine after all others.
    given.sort_by_key(|it| (it.option.is_of_engine(), -it.option.rank));
}

struct JobFileReader<'a> {
    around: &'a mut dyn Surroundings,
    file: JobFile,
    entries: usize,
}

impl JobFileReader<'_> {
    fn fault(&mut self, place: &JobFilePosition, message: impl Into<String>) {
        self.file.faults.push(Fault::new(place, message));
    }

    fn text(&mut self, name: &str, text: &str, depth: usize) {
        let file: Arc<str> = name.into();
        let place = |line| JobFilePosition {
            file: Arc::clone(&file),
            line,
        };
        if text.len() > BYTES_MAX {
            let message = format!("has {} bytes, at most {BYTES_MAX}", text.len());
            return self.fault(&place(0), message);
        }
        for (number, line) in text.lines().enumerate() {
            let end = line.find([';', '#']).unwrap_or(line.len());
            let line = line[..end].trim();
            if line.is_empty() {
                continue;
            }
            self.entries += 1;
            let here = place(number + 1);
            if self.entries > ENTRIES_MAX {
                return self.fault(&here, format!("more than {ENTRIES_MAX} lines in all"));
            }
            if line.starts_with('[') {
                self.header(line, &here, depth);
            } else {
                self.line(line, &here, depth);
            }
        }
    }

    fn header(&mut self, line: &str, place: &JobFilePosition, depth: usize) {
        if depth > 0 {
            return self.fault(
                place,
                format!("{line}: a file that is included holds options, and no section"),
            );
        }
        let name = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match name {
            None => self.fault(place, format!("{line}: a section is written [name]")),
            Some("") => self.fault(place, "[]: a section needs a name"),
            Some(_) => {}
        }
        // Lines after an invalid header still belong to it.
        let name = name.unwrap_or_default();
        self.file.sections.push(JobSection {
            name: name.to_owned(),
            is_global: name.to_ascii_lowercase().starts_with("global"),
            place: place.clone(),
            given: Vec::new(),
        });
    }

    fn line(&mut self, line: &str, place: &JobFilePosition, depth: usize) {
        if let Some(path) = line.strip_prefix("include ") {
            return self.include(path.trim(), place, depth);
        }
        if self.file.sections.is_empty() {
            return self.fault(
                place,
                format!("{line} stands outside of a section. Begin one with [name]"),
            );
        }
        match given(line, place, self.around) {
            Ok(given) => {
                if let Some(section) = self.file.sections.last_mut() {
                    section.given.push(given);
                }
            }
            Err(message) => self.fault(place, message),
        }
    }

    fn include(&mut self, path: &str, place: &JobFilePosition, depth: usize) {
        if depth == INCLUDES_MAX {
            return self.fault(place, format!("includes more than {INCLUDES_MAX} deep"));
        }
        match self.around.include(&place.file, path) {
            Ok(text) => self.text(path, &text, depth + 1),
            Err(why) => self.fault(place, format!("include {path}: {why}")),
        }
    }
}

/// Parses an option, as `name` or `name=value`.
pub(crate) fn given(
    text: &str,
    place: &JobFilePosition,
    around: &mut dyn Surroundings,
) -> Result<Given, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim())),
        None => (text.trim(), None),
    };
    let option = find_option(name).ok_or_else(|| match nearest(name) {
        Some(near) => format!("fio has no option {name:?}. Did you mean {near}?"),
        None => format!("fio has no option {name:?}"),
    })?;
    let mut unset = None;
    let value = match value {
        Some(value) => Some(fill_in(value, around, &mut unset)?),
        None => None,
    };
    let names_file = |text: &&String| option.name.ends_with("_pattern") && text.contains('\'');
    let pattern = value.as_ref().filter(names_file);
    let pattern = pattern.map(|text| pattern_bytes(text, &mut |path| around.bytes(path)));
    let log = value.as_ref().filter(|_| option.name == "read_iolog");
    let log = log.map(|path| around.include(&place.file, path));
    Ok(Given {
        option,
        log: log
            .transpose()
            .map_err(|why| format!("{text}: {why}"))?
            .map(Arc::from),
        pattern: pattern
            .transpose()
            .map_err(|why| format!("{text}: {why}"))?,
        value,
        unset,
        place: place.clone(),
    })
}

/// Substitutes `${NAME}` and fio's own words in `value`.
fn fill_in(
    value: &str,
    around: &mut dyn Surroundings,
    unset: &mut Option<String>,
) -> Result<String, String> {
    let mut filled = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        filled.push_str(&rest[..at]);
        let behind = &rest[at + 2..];
        let end = behind
            .find('}')
            .ok_or_else(|| format!("{value}: the closing brace of a variable is missing"))?;
        match around.variable(&behind[..end]) {
            Some(text) => filled.push_str(&text),
            None => *unset = Some(behind[..end].to_owned()),
        }
        rest = &behind[end + 1..];
    }
    filled.push_str(rest);
    let mut has_facts = false;
    for word in ["$pagesize", "$mb_memory", "$ncpus"] {
        if filled.contains(word) {
            let known = around.fact(&word[1..]);
            let known = known.ok_or_else(|| format!("{word} is not known here"))?;
            filled = filled.replace(word, &known.to_string());
            has_facts = true;
        }
    }
    match has_facts && filled.contains(['+', '-', '*', '/']) {
        true => computed(filled),
        false => Ok(filled),
    }
}

/// Evaluates `8*$pagesize`, which fio passes to `bc`, with integer division. Text that is not
/// arithmetic is unchanged.
fn computed(filled: String) -> Result<String, String> {
    let plain = |number: u64, suffix: &str| match suffix {
        "" => Ok(number),
        _ => Err(String::new()),
    };
    let Ok(value) = evaluate(&filled, &plain) else {
        return Ok(filled);
    };
    let behind = filled.split_once('/').map_or("", |(_, behind)| behind);
    match behind.contains(['+', '-', '*', '/']) {
        true => Err(format!(
            "{filled}: fio rounds down at each division. Put one division last"
        )),
        false => Ok(value.to_string()),
    }
}
