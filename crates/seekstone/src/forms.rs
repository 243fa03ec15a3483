//! The forms in which runs are written: options, `runs export`, endings of file names and messages
//! come from this one list.

use std::path::Path;

use results::Run;
use units::{Duration, LeftOut};

use crate::commands::export::job_file;
use crate::commands::runs::shown;
use crate::exit::UsageError;
use crate::output::OutputContent;
use crate::picture::picture;

/// A form of runs.
#[derive(Debug)]
pub struct RunForm {
    /// What `--form` calls it.
    pub name: &'static str,
    /// Other names for that.
    pub aliases: &'static [&'static str],
    /// What help says of it there.
    pub about: &'static str,
    /// The option of commands that measure, where there is one.
    pub option: Option<FormOption>,
    /// Endings of names of files that stand for it, the usual one first.
    pub endings: &'static [&'static str],
    /// What it holds that not every run has, and the commands whose runs have it.
    pub holds: (&'static str, &'static str),
    pub writing: FormWriting,
    /// Why this build does not write it, if it does not.
    pub left_out: Option<LeftOut>,
}

/// The option of commands that measure.
#[derive(Debug)]
pub struct FormOption {
    pub flag: &'static str,
    pub alias: Option<&'static str>,
    pub help: &'static str,
}

/// How a form is written.
#[derive(Debug)]
pub enum FormWriting {
    /// A run, with its intervals joined to that length; `None` where it has nothing of the form.
    OfOne(fn(&Run, Option<Duration>) -> Option<String>, Several),
    /// Any number of runs.
    OfAll(fn(&[Run]) -> anyhow::Result<OutputContent>),
}

/// How the texts of several runs are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// The elements of a JSON array.
    Array,
    /// One below the other.
    Below,
    /// Lines under one heading.
    Lines,
    /// One after the other, without a heading.
    Bare,
    /// They are not.
    Refused,
}

const FIGURES: (&str, &str) = ("figures", "every command");
const CSV: &[&str] = &["csv"];

/// What forms have in common.
const FORM: RunForm = RunForm {
    name: "",
    aliases: &[],
    about: "",
    option: None,
    endings: &[],
    holds: FIGURES,
    writing: FormWriting::OfOne(|_, _| None, Several::Refused),
    left_out: None,
};

const fn option(flag: &'static str, help: &'static str) -> Option<FormOption> {
    Some(FormOption {
        flag,
        alias: None,
        help,
    })
}

/// All forms, in the order of help.
pub const FORMS: &[RunForm] = &[
    RunForm {
        name: "json",
        about: "Everything, as documented in docs/json-schema.md",
        option: option(
            "--json",
            "Write all results as JSON (docs/json-schema.md). `-` is standard output",
        ),
        endings: &["json"],
        writing: FormWriting::OfOne(|run, _| Some(results::json(run)), Several::Array),
        ..FORM
    },
    RunForm {
        name: "csv",
        aliases: &["levels", "files"],
        about: "Every figure of every table, one line each. The same columns for every command",
        option: option(
            "--csv",
            "Write every figure as CSV, one line each (docs/forms.md)",
        ),
        endings: CSV,
        writing: FormWriting::OfOne(|run, _| Some(report::csv_figures(run)), Several::Lines),
        ..FORM
    },
    RunForm {
        name: "markdown",
        about: "The tables with their intervals (for a study, its note)",
        option: Some(FormOption {
            flag: "--markdown",
            alias: Some("md"),
            help: "Write the tables as Markdown (for a study, its note)",
        }),
        endings: &["md", "markdown"],
        writing: FormWriting::OfOne(|run, _| Some(report::markdown(run)), Several::Below),
        ..FORM
    },
    RunForm {
        name: "html",
        about: "A page for a browser, with charts and the run's JSON in it. It needs no network",
        option: option(
            "--html",
            "Write one page for a browser, with tables and charts. It needs no network \
             (docs/forms.md)",
        ),
        endings: &["html", "htm"],
        writing: FormWriting::OfAll(|runs| match runs {
            [run] => Ok(report::html(run).into()),
            _ => {
                let page = report::comparison_html(runs);
                Ok(page.map_err(UsageError::of)?.into())
            }
        }),
        ..FORM
    },
    RunForm {
        name: "svg",
        about: "A picture: the load curve of a run, or the load over the intervals of a trial",
        option: option(
            "--svg",
            "Draw load curves, a comparison's ratios, or a trial's intervals (SVG)",
        ),
        endings: &["svg"],
        holds: (
            "picture",
            "`seekstone curve`, `compare` and `trial --interval`",
        ),
        writing: FormWriting::OfAll(|runs| Ok(picture(runs)?.into())),
        ..FORM
    },
    RunForm {
        name: "openmetrics",
        about: "Every figure as a gauge, for Prometheus (OpenMetrics text)",
        option: option(
            "--openmetrics",
            "Write every figure as a gauge for Prometheus (OpenMetrics text)",
        ),
        endings: &["prom", "om"],
        writing: FormWriting::OfOne(|run, _| Some(report::openmetrics(run)), Several::Refused),
        ..FORM
    },
    RunForm {
        name: "influx",
        about: "Every row as a point in InfluxDB's line protocol, its metrics as fields",
        option: option(
            "--influx",
            "Write every row as a point in InfluxDB's line protocol",
        ),
        endings: &["lp"],
        writing: FormWriting::OfOne(|run, _| Some(report::line_protocol(run)), Several::Bare),
        ..FORM
    },
    RunForm {
        name: "parquet",
        about: "Every figure, with the columns of the CSV, for data frames (Apache Parquet)",
        option: option(
            "--parquet",
            "Write every figure as a Parquet file, with the columns of the CSV, for data frames",
        ),
        endings: &["parquet"],
        writing: FormWriting::OfAll(|runs| {
            Ok(OutputContent::Bytes(report::parquet_figures(runs)?))
        }),
        left_out: report::PARQUET_LEFT_OUT,
        ..FORM
    },
    RunForm {
        name: "repeats",
        aliases: &["passes", "replicates", "times"],
        about: "Every repetition behind the results: passes, rounds, runs, repeats",
        holds: (
            "repetitions",
            "`seekstone transfer`, `random`, `files`, `time` and `study`",
        ),
        writing: FormWriting::OfOne(|run, _| report::csv_replicates(run), Several::Lines),
        ..FORM
    },
    RunForm {
        name: "points",
        about: "One line per point of a load curve, with estimates marked",
        holds: ("load curve", "`seekstone curve`, `run` and `rab`"),
        writing: FormWriting::OfOne(|run, _| report::csv_points(run), Several::Lines),
        ..FORM
    },
    RunForm {
        name: "intervals",
        about: "One line per interval of `transactions`, with the machine's own counters, or of \
                `trial --interval`",
        holds: (
            "intervals",
            "`seekstone transactions` and `seekstone trial --interval`",
        ),
        writing: FormWriting::OfOne(|run, _| report::csv_intervals(run), Several::Lines),
        ..FORM
    },
    RunForm {
        name: "series",
        about: "One line per interval of each measurement of a check-up or trial: IOPS, p50 to \
                p99.99 and background I/O",
        holds: ("latency over time", "`seekstone run` and `seekstone trial`"),
        writing: FormWriting::OfOne(report::csv_series, Several::Lines),
        ..FORM
    },
    RunForm {
        name: "fio",
        about: "The fio job file closest to a trial, or the job files of `seekstone fio`",
        holds: ("job file", "`seekstone trial` and `seekstone fio`"),
        writing: FormWriting::OfOne(|run, _| job_file(run), Several::Refused),
        ..FORM
    },
    RunForm {
        name: "pts",
        about: "Tests of SSDs in the layout of SNIA SSS PTS, as Markdown",
        holds: ("test of an SSD", "`seekstone ssd`"),
        writing: FormWriting::OfOne(|run, _| report::pts_report(run), Several::Below),
        ..FORM
    },
    RunForm {
        name: "text",
        about: "What `runs show` prints",
        writing: FormWriting::OfOne(|run, _| Some(shown(run, false)), Several::Below),
        ..FORM
    },
];

/// Endings of forms that nothing here writes.
const UNKNOWN: [&str; 7] = ["png", "jpg", "jpeg", "gif", "pdf", "xls", "xlsx"];

/// The form of that name.
pub fn form_named(name: &str) -> Option<&'static RunForm> {
    FORMS
        .iter()
        .find(|it| it.name == name || it.aliases.contains(&name))
}

/// The form that the ending of a file's name stands for, if it does for one.
pub fn form_of_ending(path: &Path) -> Option<&'static RunForm> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    FORMS
        .iter()
        .find(|it| it.endings.contains(&ending.as_str()))
}

impl RunForm {
    /// One run in this form.
    ///
    /// # Errors
    /// When it has nothing of it.
    pub fn write(&self, run: &Run) -> anyhow::Result<OutputContent> {
        self.write_all(std::slice::from_ref(run), None)
    }

    /// Runs in this form, with intervals joined to that length.
    ///
    /// # Errors
    /// When one has nothing of it, or several do not go together in it.
    pub fn write_all(
        &self,
        runs: &[Run],
        every: Option<Duration>,
    ) -> anyhow::Result<OutputContent> {
        let (write, several) = match self.writing {
            FormWriting::OfAll(write) => return write(runs),
            FormWriting::OfOne(write, several) => (write, several),
        };
        let text = |run: &Run| write(run, every).ok_or_else(|| self.nothing_of(run));
        if let [run] = runs {
            return Ok(text(run)?.into());
        }
        let texts = runs.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let whole = several.join(&texts).ok_or_else(|| {
            let text = "this form holds one run: export the others into files of their own";
            UsageError(text.into())
        })?;
        Ok(whole.into())
    }

    /// Whether the run has something of it.
    fn has(&self, run: &Run) -> bool {
        match self.writing {
            FormWriting::OfOne(write, _) => write(run, None).is_some(),
            FormWriting::OfAll(write) => write(std::slice::from_ref(run)).is_ok(),
        }
    }

    fn nothing_of(&self, run: &Run) -> UsageError {
        let (what, commands) = self.holds;
        let id = run.id.unwrap_or_default();
        let there = FORMS.iter().filter(|it| it.has(run)).map(|it| it.name);
        UsageError(format!(
            "run {id} has no {what}: only runs of {commands} do. This one exports with --form {}",
            there.collect::<Vec<_>>().join(", ")
        ))
    }

    /// Why it must not go into a file of that name: whoever opens it takes it for another.
    pub fn mismatch(&self, path: &Path) -> Option<String> {
        let form = self.name;
        let is_lines = matches!(self.writing, FormWriting::OfOne(_, Several::Lines));
        let own = if is_lines { CSV } else { self.endings };
        let better = path.with_extension(own.first()?);
        let (name, better) = (path.display(), better.display());
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match form_of_ending(path) {
            Some(_) if own.contains(&ending.as_str()) => None,
            Some(other) => Some(format!(
                "the ending of {name} means {}, and this is {form}: name it {better}, or use {}",
                other.name, other.name
            )),
            None if UNKNOWN.contains(&ending.as_str()) => {
                Some(format!("{name} is written as {form}: name it {better}"))
            }
            None => None,
        }
    }
}

impl Several {
    /// The texts of several runs as one, where that is possible.
    fn join(self, texts: &[String]) -> Option<String> {
        Some(match self {
            Self::Refused => return None,
            Self::Array => {
                let texts: Vec<&str> = texts.iter().map(|it| it.trim_end()).collect();
                format!("[\n{}\n]\n", texts.join(",\n"))
            }
            Self::Below => texts.join("\n"),
            Self::Bare => texts.concat(),
            Self::Lines => {
                let rows = |(number, text): (usize, &String)| {
                    let lines = text.split_inclusive('\n');
                    lines.skip(usize::from(number > 0)).collect::<String>()
                };
                texts.iter().enumerate().map(rows).collect()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_stands_for_a_form() {
        let check = |name: &str, expected| {
            let found = form_of_ending(Path::new(name)).map(|it| it.name);
            assert_eq!(found, expected);
        };
        check("a/x.SVG", Some("svg"));
        check("x.md", Some("markdown"));
        check("x", None);
        check("x.txt", None);
        let mismatch = |form: &str, name: &str| {
            let form = form_named(form).expect("a form");
            form.mismatch(Path::new(name))
        };
        assert_eq!(mismatch("csv", "x.csv"), None);
        assert_eq!(mismatch("series", "x.csv"), None);
        assert_eq!(mismatch("text", "x.csv"), None);
        assert_eq!(mismatch("html", "x.txt"), None);
        let advice = mismatch("json", "x.svg").expect("a mismatch");
        assert!(advice.contains("name it x.json"), "{advice}");
        let advice = mismatch("html", "x.png").expect("a mismatch");
        assert!(advice.contains("name it x.html"), "{advice}");
        let advice = mismatch("points", "x.json").expect("a mismatch");
        assert!(advice.contains("name it x.csv"), "{advice}");
    }

    #[test]
    fn names_and_endings_stand_once() {
        let mut names: Vec<&str> = FORMS
            .iter()
            .flat_map(|it| it.aliases.iter().chain([&it.name]))
            .copied()
            .collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        for form in FORMS {
            let flag = form.option.as_ref().map(|it| it.flag);
            assert!(flag.is_none_or(|it| it == format!("--{}", form.name)));
        }
    }
}
