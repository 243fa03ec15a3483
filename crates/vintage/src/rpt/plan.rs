//! A test plan: switches, test file and parameter file combined and checked.

use results::Mode;
use workload::{ThreadParameters, check_threads};

use crate::fault::{Diagnostics, FileLine, quoted};
use crate::rpt::planned::Workload;
use crate::rpt::procedure::Rules;
use crate::rpt::program::{Include, Object, ObjectItem, ObjectKind, Program};
use crate::rpt::transact::{self, PROGRAM, Transact, command_line};

/// Maximum number of active control threads: the capacity of a driver.
pub const THREADS_MAX: i64 = 4096;

/// Maximum number of messages in a sum.
const MESSAGES_MAX: i64 = 1_000_000;

/// The modes that the command line can name, in the order of their numbers.
pub const SWITCH_MODES: [Mode; 5] = [
    Mode::Normal,
    Mode::Continuous,
    Mode::Reduced,
    Mode::Rebuild,
    Mode::Exchange,
];

/// A name with a meaning in the test file: the name, its switch, its default.
type Known = (&'static str, &'static str, &'static str);

const KNOWN: [Known; 14] = [
    ("Mode", "-m", "0"),
    ("Verbose", "-v", "0"),
    ("DataFile", "-f", transact::DATA_FILE),
    ("DataSize", "-B", "0"),
    ("Nruns", "-n", "1"),
    ("Rsmin", "-r", "0"),
    ("Rsmax", "-R", "50"),
    ("Dnmin", "", "8"),
    ("Dnmax", "", "1024"),
    ("Dlmax", "", "0.03"),
    ("MaxPossibleThreads", "", "50"),
    ("MaxActualThreads", "", "50"),
    ("ConfFile", "", "rpt.rpc"),
    ("TestFile", "", ""),
];

/// The switches of `rpt` as typed: the switch and its value.
pub type Typed = Vec<(&'static str, String)>;

/// A test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestPlan {
    /// Names of the test, configuration, parameter and report file.
    pub files: [String; 4],
    /// Initial mode of results.
    pub mode: Mode,
    /// Verbosity, 0 to 2.
    pub verbose: u8,
    /// Cycles through all workloads in normal mode.
    pub nruns: u32,
    /// Rules for transaction workloads; batch ones have their own number of threads.
    pub rules: Rules,
    /// The workloads in order.
    pub workloads: Vec<Workload>,
}

impl TestPlan {
    /// Read the test file `name`, with the switches as typed.
    // fuzzed: rpt
    pub fn read(
        name: &str,
        text: &str,
        typed: &Typed,
        include: Include<'_>,
    ) -> (Option<Self>, Diagnostics) {
        let preset = preset(name, typed);
        let program = Program::read(name, text, &preset, include);
        let mut objects = program.objects.values();
        let mut resolver = Resolver {
            faults: program.faults.clone(),
            flags: objects.find(|object| object.kind == ObjectKind::Flags),
            program: &program,
            name,
        };
        let plan = resolver.plan();
        let is_fit = resolver.faults.errors.is_empty();
        (plan.filter(|_| is_fit), resolver.faults)
    }

    /// Run and log file: the report file's name with its last letter replaced.
    pub fn run_and_log(&self) -> (String, String) {
        let [run, log] = beside(&self.files[3]);
        (run, log)
    }

    /// What `-v` prints first: all workloads with their threads.
    pub fn definitions(&self) -> String {
        let mut text = String::new();
        for (number, workload) in self.workloads.iter().enumerate() {
            text.push_str(&format!(
                "Workload {number}  {}  NThreads {}\n",
                workload.name, workload.nthreads
            ));
            for (kind, pairs) in workload.types.iter().zip(&workload.pairs) {
                let pairs = pairs
                    .iter()
                    .map(|(flag, value)| (flag.as_str(), value.as_str()));
                text.push_str(&format!(
                    "\t{}  LThreads {}\n\t{}\n",
                    kind.name,
                    kind.count,
                    command_line(pairs)
                ));
            }
        }
        text
    }
}

/// Run and log file of a report.
fn beside(report: &str) -> [String; 2] {
    let mut stem = report.to_owned();
    stem.pop();
    ["e", "l"].map(|letter| format!("{stem}{letter}"))
}

fn preset(name: &str, typed: &Typed) -> Vec<(String, String, String)> {
    KNOWN
        .iter()
        .map(|&(known, switch, default)| {
            let given = typed
                .iter()
                .find(|(flag, _)| *flag == switch && !switch.is_empty());
            let (value, origin) = match given {
                Some((_, value)) => (value.clone(), switch.to_owned()),
                None if known == "TestFile" => (name.to_owned(), "the default".to_owned()),
                None => (default.to_owned(), "the default".to_owned()),
            };
            (known.to_owned(), value, origin)
        })
        .chain([("ReptFile".into(), String::new(), "the default".into())])
        .collect()
}

struct Resolver<'a> {
    program: &'a Program,
    faults: Diagnostics,
    name: &'a str,
    /// The switches that threads may set.
    flags: Option<&'a Object>,
}

impl Resolver<'_> {
    fn plan(&mut self) -> Option<TestPlan> {
        let mode = self.known("Mode", |text| transact::choice(text, 4));
        let verbose = self.known("Verbose", |text| transact::choice(text, 2));
        let nruns = self.known("Nruns", |text| within(text, 1, 1_000_000));
        let rsmin = self.known("Rsmin", not_negative);
        let rsmax = self.known("Rsmax", not_negative);
        let dnmin = self.known("Dnmin", |text| within(text, 1, MESSAGES_MAX));
        let dnmax = self.known("Dnmax", |text| within(text, 1, MESSAGES_MAX));
        let dlmax = self.known("Dlmax", |text| match transact::number(text)? {
            value if value > 0.0 && value <= 1.0 => Ok(value),
            value => Err(format!("is {value}, and must be above 0 and at most 1")),
        });
        let threads_max = self.known("MaxActualThreads", |text| within(text, 1, THREADS_MAX));
        let possible = self.known("MaxPossibleThreads", |text| within(text, 1, 1 << 30));
        self.known("DataSize", |text| match text {
            "0" => Ok(0),
            text => transact::data_size(text),
        });
        self.check_pairs((rsmin, rsmax), (dnmin, dnmax), (threads_max, possible));
        let files = self.files();
        let workloads = self.workloads(threads_max);
        Some(TestPlan {
            files,
            mode: SWITCH_MODES[mode? as usize],
            verbose: verbose? as u8,
            nruns: nruns? as u32,
            rules: Rules {
                nthreads: 0,
                threads_max: threads_max? as u32,
                rsmin: rsmin?,
                rsmax: rsmax?,
                dnmin: dnmin? as u32,
                dnmax: dnmax? as u32,
                dlmax: dlmax?,
            },
            workloads,
        })
    }

    /// The whole test file.
    fn file(&self) -> FileLine {
        FileLine {
            file: self.name.to_owned(),
            line: 0,
        }
    }

    fn place_of(&self, name: &str) -> FileLine {
        let variable = self.program.variable(name);
        variable.map_or_else(|| self.file(), |it| it.place.clone())
    }

    /// Reports an error in a variable.
    fn complain(&mut self, name: &str, text: String) {
        self.faults.error(&self.place_of(name), text);
    }

    fn text_of(&self, name: &str) -> String {
        self.program
            .variable(name)
            .map_or_else(String::new, |variable| variable.value.clone())
    }

    fn known<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        match read(&self.text_of(name)) {
            Ok(value) => Some(value),
            Err(reason) => {
                let text = match self.place_of(name).line {
                    0 => reason,
                    _ => format!("{name} {reason}"),
                };
                self.complain(name, text);
                None
            }
        }
    }

    /// Checks values against each other.
    fn check_pairs(
        &mut self,
        (rsmin, rsmax): (Option<f64>, Option<f64>),
        (dnmin, dnmax): (Option<i64>, Option<i64>),
        (actual, possible): (Option<i64>, Option<i64>),
    ) {
        if let (Some(low), Some(high)) = (rsmin, rsmax)
            && low >= high
        {
            let text = format!("Rsmax is {high} ms, and must be more than Rsmin, which is {low}");
            self.complain("Rsmax", text);
        }
        if let (Some(low), Some(high)) = (dnmin, dnmax)
            && low > high
        {
            let text = format!("Dnmax is {high}, and must be Dnmin or more, which is {low}");
            self.complain("Dnmax", text);
        }
        if let (Some(actual), Some(possible)) = (actual, possible)
            && actual > possible
        {
            let text = format!(
                "MaxActualThreads is {actual} and MaxPossibleThreads {possible}: threads beyond \
                 the latter share parts of the data file with others"
            );
            self.faults.warn(&self.place_of("MaxActualThreads"), text);
        }
    }

    fn files(&mut self) -> [String; 4] {
        let [test, report] = ["TestFile", "ReptFile"].map(|name| self.text_of(name));
        if report.chars().count() < 2 {
            let text = format!(
                "{} defines no ReptFile: say ReptFile=NAME.rpr, where the report is written",
                self.name
            );
            self.complain("ReptFile", text);
        } else if matches!(report.chars().last(), Some('e' | 'l' | '/')) || !report.is_ascii() {
            let text = format!(
                "ReptFile is {}: its last letter is replaced by e and l for the run and the log \
                 file, so it must be another one",
                quoted(&report)
            );
            self.complain("ReptFile", text);
        }
        let inputs =
            ["TestFile", "ConfFile", "ParmFile", "DataFile"].map(|name| self.text_of(name));
        let [run, log] = beside(&report);
        let outputs = [report.clone(), run, log].into_iter();
        for output in outputs.filter(|_| report.chars().count() > 1) {
            if output == self.name || inputs.contains(&output) {
                let text = format!("{} would be written, and is read", quoted(&output));
                self.complain("ReptFile", text);
            }
        }
        let bare = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        if bare(&test) != bare(self.name) {
            let text = format!(
                "TestFile is {}, and this file is {}: each names itself",
                quoted(&test),
                quoted(self.name)
            );
            self.faults.warn(&self.place_of("TestFile"), text);
        }
        [
            test,
            self.text_of("ConfFile"),
            self.text_of("ParmFile"),
            report,
        ]
    }

    fn workloads(&mut self, threads_max: Option<i64>) -> Vec<Workload> {
        let program = self.program;
        if program.invoked.is_empty() {
            let text = "no workload is invoked. Name at least one, such as TransactionWorkload";
            self.faults.error(&self.file(), text);
        }
        program
            .invoked
            .iter()
            .filter_map(|(name, place)| {
                let workload = self.workload(name, &program.objects[name])?;
                if i64::from(workload.nthreads) > threads_max.unwrap_or(i64::MAX) {
                    let text = format!(
                        "{} has {} threads, and MaxActualThreads is {}",
                        quoted(name),
                        workload.nthreads,
                        threads_max.unwrap_or(0)
                    );
                    self.faults.error(place, text);
                }
                Some(workload)
            })
            .collect()
    }

    fn workload(&mut self, name: &str, object: &Object) -> Option<Workload> {
        let errors_before = self.faults.errors.len();
        let mut nthreads = None;
        let mut kinds = Vec::new();
        for item in &object.items {
            match item {
                ObjectItem::Pair { name, value, place } if name == "NThreads" => {
                    nthreads = self.count(name, value, place, 0);
                }
                ObjectItem::Pair { name, place, .. } => {
                    let text = format!("a workload has no {}: it has NThreads", quoted(name));
                    self.faults.error(place, text);
                }
                ObjectItem::Invocation { name, place } => match self.program.objects.get(name) {
                    Some(thread) if thread.kind == ObjectKind::Thread => {
                        kinds.extend(self.thread(name, thread, &mut nthreads));
                    }
                    _ => {
                        let text = format!("there is no thread {}", quoted(name));
                        self.faults.error(place, text);
                    }
                },
            }
        }
        if self.faults.errors.len() > errors_before {
            return None;
        }
        self.assemble(name, object, nthreads.unwrap_or(0), kinds)
    }

    fn assemble(
        &mut self,
        name: &str,
        object: &Object,
        nthreads: i64,
        kinds: Vec<ThreadTypeBuilder>,
    ) -> Option<Workload> {
        let parameters: Vec<ThreadParameters> =
            kinds.iter().map(|kind| kind.parameters.clone()).collect();
        let types = match check_threads(&parameters, None) {
            Ok(types) => types,
            Err(errors) => {
                for error in errors {
                    self.faults
                        .error(&object.place, format!("{}: {error}", quoted(name)));
                }
                return None;
            }
        };
        let first = &kinds[0].transact;
        let asked = transact::data_size(&self.text_of("DataSize")).ok();
        let sizes = kinds.iter().filter_map(|kind| kind.transact.data_size);
        Some(Workload {
            name: name.to_owned(),
            nthreads: nthreads as u32,
            data_file: first.data_file.clone(),
            data_size: sizes.max().or(asked),
            parameters,
            types,
            pairs: kinds.into_iter().map(|kind| kind.pairs).collect(),
        })
    }

    fn count(&mut self, name: &str, value: &str, place: &FileLine, least: i64) -> Option<i64> {
        match within(value, least, THREADS_MAX) {
            Ok(count) => Some(count),
            Err(reason) => {
                self.faults.error(place, format!("{name} {reason}"));
                None
            }
        }
    }

    fn thread(
        &mut self,
        name: &str,
        object: &Object,
        nthreads: &mut Option<i64>,
    ) -> Option<ThreadTypeBuilder> {
        let mut kind = ThreadTypeBuilder::default();
        let mut count = 1;
        for item in &object.items {
            let (name, value, place) = match item {
                ObjectItem::Pair { name, value, place } => (name, value, place),
                ObjectItem::Invocation { name, place } => {
                    let text = format!("{} stands alone: a thread has definitions", quoted(name));
                    self.faults.error(place, text);
                    continue;
                }
            };
            match name.as_str() {
                "LThreads" => count = self.count(name, value, place, 1).unwrap_or(1),
                "NThreads" => {
                    let found = self.count(name, value, place, 0);
                    if nthreads.is_some() && *nthreads != found {
                        let text = "NThreads differs from that of the workload or another thread";
                        self.faults.error(place, text);
                    }
                    *nthreads = found;
                }
                _ => self.pair(&mut kind, name, value, place),
            }
        }
        self.check_thread(name, object, &kind);
        match kind.transact.parameters(name, count) {
            Ok(parameters) => {
                kind.parameters = parameters;
                Some(kind)
            }
            Err(reason) => {
                self.faults
                    .error(&object.place, format!("{}: {reason}", quoted(name)));
                None
            }
        }
    }

    /// One definition of a thread: a name of the flags with its value.
    fn pair(&mut self, kind: &mut ThreadTypeBuilder, name: &str, value: &str, place: &FileLine) {
        let flag = self.flags.and_then(|flags| {
            flags.items.iter().find_map(|item| match item {
                ObjectItem::Pair {
                    name: known, value, ..
                } if known == name => Some(value.as_str()),
                _ => None,
            })
        });
        match flag.map(str::trim) {
            None => {
                let text = format!("{} is none of the flags", quoted(name));
                self.faults.error(place, text);
            }
            Some("") if value == PROGRAM => kind.has_process = true,
            Some("") => {
                let text = format!("there is no program {}: say {PROGRAM}", quoted(value));
                self.faults.error(place, text);
            }
            Some(flag) => match kind.transact.set(flag, value) {
                Ok(()) => kind.pairs.push((flag.to_owned(), value.to_owned())),
                Err(reason) => self.faults.error(place, format!("{name} {flag} {reason}")),
            },
        }
    }

    /// Requirements of a thread: its program, and the switch that is replaced by its number.
    fn check_thread(&mut self, name: &str, object: &Object, kind: &ThreadTypeBuilder) {
        if !kind.has_process {
            let text = format!(
                "{}: the program is missing: define the flag \" \" as {PROGRAM} first",
                quoted(name)
            );
            self.faults.error(&object.place, text);
        }
        if !kind.pairs.iter().any(|(flag, _)| flag == "-c") {
            let text = format!(
                "{}: -c is missing; its value is replaced by the thread's number, but it must be \
                 there",
                quoted(name)
            );
            self.faults.error(&object.place, text);
        }
    }
}

/// A type of thread under construction.
struct ThreadTypeBuilder {
    transact: Transact,
    pairs: Vec<(String, String)>,
    parameters: ThreadParameters,
    has_process: bool,
}

impl Default for ThreadTypeBuilder {
    fn default() -> Self {
        let transact = Transact::default();
        Self {
            parameters: transact.parameters("", 1).expect("the defaults are valid"),
            transact,
            pairs: Vec::new(),
            has_process: false,
        }
    }
}

fn within(text: &str, least: i64, most: i64) -> Result<i64, String> {
    let value = transact::whole(text)?;
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("is {value}, and must be {least} to {most}"))
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match transact::number(text)? {
        value if value >= 0.0 => Ok(value),
        value => Err(format!("is {value}, and must not be negative")),
    }
}
