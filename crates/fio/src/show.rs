//! Formats jobs as a command line of fio.

use std::fmt::Write as _;

use crate::reader::{Given, JobSection};

/// The fio command line equivalent to the sections: options under their first names, in the order
/// in which they are applied, as `fio --showcmd` writes them. Global options precede the jobs to
/// which they apply; a second global section repeats the first.
pub fn show_command(sections: &[JobSection], wanted: &[String]) -> String {
    let mut line = "fio ".to_owned();
    let mut global: Vec<Given> = Vec::new();
    for section in sections {
        if section.is_global {
            global.extend(section.given.iter().cloned());
            write_all(&mut line, &global);
        } else if wanted.is_empty() || wanted.contains(&section.name) {
            let _ = write!(line, "--name={} ", section.name);
            write_all(&mut line, &section.given);
        }
    }
    line
}

fn write_all(line: &mut String, given: &[Given]) {
    for one in given {
        let name = one.option.name;
        let _ = match &one.value {
            Some(value) if value.contains(' ') => write!(line, "--{name}=\"{value}\" "),
            Some(value) => write!(line, "--{name}={value} "),
            None => write!(line, "--{name} "),
        };
    }
}
