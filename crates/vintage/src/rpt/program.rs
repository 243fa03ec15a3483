//! Parses a test file and its parameter file into variables and objects.
//!
//! Source: the RPT manual of 1995, "Test files". The original accepts typing mistakes silently;
//! here each is an error or a warning with its place.

use std::collections::BTreeMap;

use crate::fault::{Diagnostics, FileLine, quoted, similar};
use crate::rpt::syntax::{SyntaxLine, Value, read_line};

/// Parsing stops after this many errors.
const ERRORS_MAX: usize = 100;

/// Kind of an object, derived from the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Names of files.
    Files,
    /// Switches that threads may set.
    Flags,
    /// Threads that make up a test.
    Workload,
    /// One type of control thread.
    Thread,
}

impl ObjectKind {
    fn of(name: &str) -> Option<Self> {
        [
            ("Files", Self::Files),
            ("Flags", Self::Flags),
            ("Workload", Self::Workload),
            ("Thread", Self::Thread),
        ]
        .into_iter()
        .find(|(end, _)| name.ends_with(end))
        .map(|(_, kind)| kind)
    }
}

/// A line within an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectItem {
    /// `Name=value`, with the resolved value.
    Pair {
        /// Left of the sign.
        name: String,
        /// Its resolved value.
        value: String,
        place: FileLine,
    },
    /// The name of another object.
    Invocation { name: String, place: FileLine },
}

/// An object definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    /// Its start.
    pub place: FileLine,
    /// Its lines.
    pub items: Vec<ObjectItem>,
}

/// The latest definition of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its value.
    pub value: String,
    /// Where it was defined; line zero is the command line.
    pub place: FileLine,
    is_used: bool,
    /// Where its value was first used.
    taken_at: Option<FileLine>,
}

/// Result of parsing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Variables by name.
    pub variables: BTreeMap<String, Variable>,
    /// Objects by name.
    pub objects: BTreeMap<String, Object>,
    /// Workloads invoked, in order.
    pub invoked: Vec<(String, FileLine)>,
    /// Errors and warnings.
    pub faults: Diagnostics,
}

/// Returns the text of a parameter file, or a sentence about why it cannot be read.
pub type Include<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

impl Program {
    /// Parses the test file `name`. `preset` are predefined variables with their origin, all with
    /// known names.
    pub fn read(
        name: &str,
        text: &str,
        preset: &[(String, String, String)],
        include: Include<'_>,
    ) -> Self {
        let mut this = Self::default();
        for (variable, value, origin) in preset {
            let place = FileLine {
                file: origin.clone(),
                line: 0,
            };
            this.variables.insert(
                variable.clone(),
                Variable {
                    value: value.clone(),
                    place,
                    is_used: true,
                    taken_at: None,
                },
            );
        }
        ProgramReader {
            program: &mut this,
            file: name,
            include: Some(include),
            object: None,
        }
        .read(text);
        this.complain_of_unused();
        this
    }

    /// The value of a variable, with its place.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    fn complain_of_unused(&mut self) {
        let (used, unused): (Vec<_>, Vec<_>) = self.variables.iter().partition(|it| it.1.is_used);
        let known: Vec<&str> = used.iter().map(|(name, _)| name.as_str()).collect();
        let mut faults = Diagnostics::default();
        for (name, variable) in unused {
            let meant = meant(name, known.iter().copied());
            let text = format!("{} is defined and means nothing here{meant}", quoted(name));
            faults.warn(&variable.place, text);
        }
        let invoked: Vec<&String> = self
            .objects
            .values()
            .flat_map(|object| &object.items)
            .filter_map(|item| match item {
                ObjectItem::Invocation { name, .. } => Some(name),
                ObjectItem::Pair { .. } => None,
            })
            .collect();
        for (name, object) in &self.objects {
            if object.kind == ObjectKind::Thread && !invoked.contains(&name) {
                let text = format!("no workload has the thread {}", quoted(name));
                faults.warn(&object.place, text);
            }
        }
        faults.warnings.sort_by(|a, b| a.place.cmp(&b.place));
        self.faults.warnings.append(&mut faults.warnings);
    }
}

/// Continuation of a message about an unknown name.
fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    similar(name, known).map_or_else(String::new, |other| format!("; did you mean {other}?"))
}

/// Reads one file.
struct ProgramReader<'a, 'b> {
    program: &'a mut Program,
    file: &'a str,
    /// Only a test file may include another.
    include: Option<Include<'b>>,
    /// Name of the object whose lines are being read.
    object: Option<String>,
}

impl ProgramReader<'_, '_> {
    fn read(&mut self, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let place = FileLine {
                file: self.file.to_owned(),
                line: index as u32 + 1,
            };
            match read_line(line) {
                Ok(SyntaxLine::Blank) => self.object = None,
                Ok(SyntaxLine::Comment) => {}
                Ok(SyntaxLine::Object(name)) => self.begin(name, &place),
                Ok(SyntaxLine::Definition(name, value)) => self.define(name, value, &place),
                Ok(SyntaxLine::Invocation(name)) => self.invoke(name, &place),
                Err(reason) => {
                    let text = format!("{}: {reason}", quoted(line.trim()));
                    self.program.faults.error(&place, text);
                }
            }
            if self.program.faults.errors.len() >= ERRORS_MAX {
                return;
            }
        }
    }

    fn begin(&mut self, name: &str, place: &FileLine) {
        self.object = None;
        let Some(kind) = ObjectKind::of(name) else {
            let text = format!(
                "the object {} has no kind: its name must end with Files, Flags, Workload or \
                 Thread",
                quoted(name)
            );
            return self.program.faults.error(place, text);
        };
        self.object = Some(name.to_owned());
        if let Some(before) = self.program.objects.get(name) {
            let text = format!("{} is already defined at {}", quoted(name), before.place);
            return self.program.faults.error(place, text);
        }
        let mut flags = self.program.objects.iter();
        if kind == ObjectKind::Flags
            && let Some((other, _)) = flags.find(|(_, object)| object.kind == ObjectKind::Flags)
        {
            let text = format!(
                "only one object of flags may exist, and {} is one",
                quoted(other)
            );
            return self.program.faults.error(place, text);
        }
        let object = Object {
            kind,
            place: place.clone(),
            items: Vec::new(),
        };
        self.program.objects.insert(name.to_owned(), object);
    }

    /// The object whose lines are being read, unless its lines are variables.
    fn open_object(&mut self) -> Option<&mut Object> {
        let name = self.object.as_ref()?;
        let object = self.program.objects.get_mut(name)?;
        (object.kind != ObjectKind::Files).then_some(object)
    }

    fn define(&mut self, name: &str, value: Value<'_>, place: &FileLine) {
        let value = self.evaluate(value, place);
        if let Some(object) = self.open_object() {
            let is_known = object
                .items
                .iter()
                .any(|item| matches!(item, ObjectItem::Pair { name: known, .. } if known == name));
            object.items.push(ObjectItem::Pair {
                name: name.to_owned(),
                value,
                place: place.clone(),
            });
            if is_known {
                let text = format!("{} is already defined in this object", quoted(name));
                self.program.faults.error(place, text);
            }
            return;
        }
        let before = self.program.variables.get(name).cloned();
        if let Some(before) = before.as_ref().filter(|before| before.value != value) {
            self.complain_of_change(name, before, &value, place);
        }
        let variable = Variable {
            value,
            place: place.clone(),
            is_used: before.as_ref().is_some_and(|before| before.is_used),
            taken_at: before.and_then(|before| before.taken_at),
        };
        self.program.variables.insert(name.to_owned(), variable);
    }

    fn complain_of_change(&mut self, name: &str, before: &Variable, value: &str, place: &FileLine) {
        let (old, new) = (quoted(&before.value), quoted(value));
        let text = if let Some(taken_at) = &before.taken_at {
            format!(
                "{} becomes {new} too late: {taken_at} has already used {old}; define it before",
                quoted(name)
            )
        } else if before.place.line > 0 {
            format!(
                "{} becomes {new}; it was {old} at {}",
                quoted(name),
                before.place
            )
        } else if before.place.file.starts_with('-') {
            format!(
                "{name}={new} overrides {} {old}: what a file defines counts, not the switch",
                before.place
            )
        } else {
            return;
        };
        self.program.faults.warn(place, text);
    }

    fn evaluate(&mut self, value: Value<'_>, place: &FileLine) -> String {
        match value {
            Value::Quoted(text) => text.to_owned(),
            Value::Bare(text) => match self.program.variables.get_mut(text) {
                Some(variable) => {
                    variable.is_used = true;
                    variable.taken_at.get_or_insert_with(|| place.clone());
                    variable.value.clone()
                }
                None => text.to_owned(),
            },
        }
    }

    fn invoke(&mut self, name: &str, place: &FileLine) {
        if let Some(object) = self.open_object() {
            let item = ObjectItem::Invocation {
                name: name.to_owned(),
                place: place.clone(),
            };
            object.items.push(item);
            return;
        }
        if let Some(object) = self.program.objects.get(name) {
            match object.kind {
                ObjectKind::Workload => {
                    self.program.invoked.push((name.to_owned(), place.clone()));
                }
                ObjectKind::Files | ObjectKind::Flags => {}
                ObjectKind::Thread => {
                    let text = format!(
                        "the thread {} can only be invoked within a workload",
                        quoted(name)
                    );
                    self.program.faults.error(place, text);
                }
            }
            return;
        }
        if name.ends_with("File") && self.program.variables.contains_key(name) {
            return self.include(name, place);
        }
        let names = self
            .program
            .objects
            .keys()
            .chain(self.program.variables.keys());
        let meant = meant(name, names.map(String::as_str));
        let text = format!("there is no object {} up to here{meant}", quoted(name));
        self.program.faults.error(place, text);
    }

    fn include(&mut self, name: &str, place: &FileLine) {
        let file = match self.program.variables.get_mut(name) {
            Some(variable) => {
                variable.is_used = true;
                variable.value.clone()
            }
            None => return,
        };
        let Some(include) = self.include.as_mut() else {
            let text = format!(
                "{} is invoked here: only the test file can read another file",
                quoted(name)
            );
            return self.program.faults.error(place, text);
        };
        if matches!(name, "TestFile" | "ConfFile" | "ReptFile") {
            let text = format!("{name} is invoked, and only parameter files are read");
            return self.program.faults.error(place, text);
        }
        match include(&file) {
            Ok(text) => ProgramReader {
                program: &mut *self.program,
                file: &file,
                include: None,
                object: None,
            }
            .read(&text),
            Err(reason) => self.program.faults.error(place, reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::listed;

    fn read(text: &str) -> Program {
        let preset = [
            (
                "Rsmax".to_owned(),
                "50".to_owned(),
                "the default".to_owned(),
            ),
            ("Mode".to_owned(), "0".to_owned(), "-m".to_owned()),
        ];
        let mut include = |file: &str| match file {
            "a.rpp" => Ok("Inner=7\n[AThread]\nX=Inner\n; more\nY=\" \"\n\nOuter\n".to_owned()),
            "deep.rpp" => Ok("DeepFile=x\nDeepFile\n".to_owned()),
            _ => Err(format!("cannot read {file}")),
        };
        Program::read("t.rpt", text, &preset, &mut include)
    }

    #[track_caller]
    fn check_error(text: &str, expected: &str) {
        let faults = read(text).faults;
        let found = listed(&faults.errors);
        assert!(found.contains(expected), "{text}: {found}");
    }

    #[track_caller]
    fn check_warning(text: &str, expected: &str) {
        let faults = read(text).faults;
        assert_eq!(listed(&faults.errors), "");
        let found = listed(&faults.warnings);
        assert!(found.contains(expected), "{text}: {found}");
    }

    #[test]
    fn values_are_strings_or_variables_defined_before() {
        let program = read("One=1\nTwo=One\nThree=\"One\"\nRsmax=Two\n");
        let value = |name| {
            program
                .variable(name)
                .map(|variable| variable.value.as_str())
        };
        assert_eq!(value("Two"), Some("1"));
        assert_eq!(value("Three"), Some("One"));
        assert_eq!(value("Rsmax"), Some("1"));
    }

    #[test]
    fn a_parameter_file_is_read_where_it_is_invoked() {
        let program = read("PFile=a.rpp\n[OuterWorkload]\nAThread\n\nPFile\nOuterWorkload\n");
        let thread = &program.objects["AThread"];
        let pair = |name: &str, value: &str, line| ObjectItem::Pair {
            name: name.into(),
            value: value.into(),
            place: FileLine {
                file: "a.rpp".into(),
                line,
            },
        };
        assert_eq!(thread.items, [pair("X", "7", 3), pair("Y", " ", 5)]);
        assert_eq!(program.invoked.len(), 1);
        let errors = listed(&program.faults.errors);
        assert_eq!(errors, "a.rpp:7: there is no object \"Outer\" up to here");
    }

    #[test]
    fn mistakes_have_a_place_and_are_never_accepted() {
        check_error("Foo\n", "t.rpt:1: there is no object \"Foo\"");
        check_error("[Foo]\n", "t.rpt:1: the object \"Foo\" has no kind");
        check_error(
            "[AThread]\nX=1\nX=2\n",
            "t.rpt:3: \"X\" is already defined in this object",
        );
        check_error(
            "[AThread]\n\n[AThread]\n",
            "t.rpt:3: \"AThread\" is already defined at t.rpt:1",
        );
        check_error("[AFlags]\n\n[BFlags]\n", "only one object of flags");
        check_error(
            "[AThread]\n\nAThread\n",
            "only be invoked within a workload",
        );
        check_error("PFile=none\nPFile\n", "t.rpt:2: cannot read none");
        check_error(
            "PFile=deep.rpp\nPFile\n",
            "deep.rpp:2: \"DeepFile\" is invoked here",
        );
        check_error("ReptFile=x\nReptFile\n", "only parameter files are read");
        check_error("x!\n", "t.rpt:1: \"x!\": is no name");
    }

    #[test]
    fn what_looks_wrong_is_a_warning() {
        check_warning(
            "rsmax=20\n",
            "t.rpt:1: \"rsmax\" is defined and means nothing here; did you mean Rsmax?",
        );
        check_warning(
            "Rsmax=1\nRsmax=2\n",
            "t.rpt:2: \"Rsmax\" becomes \"2\"; it was \"1\" at t.rpt:1",
        );
        check_warning(
            "A=Rsmax\nRsmin=A\nRsmax=4\n",
            "t.rpt:3: \"Rsmax\" becomes \"4\" too late: t.rpt:1",
        );
        check_warning("Mode=3\n", "t.rpt:1: Mode=\"3\" overrides -m \"0\"");
        check_warning("[AThread]\nX=1\n", "no workload has the thread \"AThread\"");
        assert!(read("Rsmax=2\nRsmax=2\n").faults.warnings.is_empty());
    }

    #[test]
    fn garbage_ends_after_a_hundred_errors() {
        let program = read(&"?\n".repeat(100_000));
        assert_eq!(program.faults.errors.len(), ERRORS_MAX);
    }
}
