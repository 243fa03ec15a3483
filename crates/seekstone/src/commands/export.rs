//! `seekstone runs export`: an archived run in another form.

use clap::ValueEnum as _;
use results::Run;
use units::Duration;

use crate::args::{Command, ExportForm, definition, typed};
use crate::commands::runs::shown;
use crate::commands::trial_targets::as_fio;
use crate::exit::UsageError;
use crate::output::{Content, Output, form_of_ending, mismatch};
use crate::picture::picture;
use crate::recorded::again;

/// The form that was asked for, or that of the output's ending.
///
/// # Errors
/// When the ending is that of another form.
pub fn form_of(asked: Option<ExportForm>, output: &Output) -> Result<ExportForm, UsageError> {
    let path = output.path();
    let by_ending = form_of_ending(path).and_then(|it| ExportForm::from_str(it, false).ok());
    if let (None, None, Some(ending)) = (asked, by_ending, path.extension()) {
        let text = format!(
            ".{} is not a known file ending: choose the format with --form",
            ending.display()
        );
        return Err(UsageError(text));
    }
    let form = asked.or(by_ending).unwrap_or(ExportForm::Json);
    let name = match form {
        ExportForm::Replicates
        | ExportForm::Points
        | ExportForm::Intervals
        | ExportForm::Series => ExportForm::Csv,
        form => form,
    };
    let name = name.to_possible_value();
    let mismatch = name.and_then(|name| mismatch(name.get_name(), path));
    mismatch.map_or(Ok(form), |why| Err(UsageError(why)))
}

/// Runs in another form.
///
/// # Errors
/// When one has nothing of that form, or several do not go together in it.
pub fn exported(
    runs: &[Run],
    form: ExportForm,
    every: Option<Duration>,
) -> anyhow::Result<Content> {
    if every.is_some() && form != ExportForm::Series {
        let text = "--every joins the intervals of a series: add --form series";
        return Err(UsageError(text.into()).into());
    }
    let text = |run: &Run| written(run, form, every).ok_or_else(|| nothing(run, form));
    match (form, runs) {
        (ExportForm::Parquet, _) => Ok(Content::Bytes(report::parquet_figures(runs)?)),
        (ExportForm::Svg, _) => Ok(picture(runs)?.into()),
        (_, [run]) => Ok(text(run)?.into()),
        (ExportForm::Html, _) => {
            let page = report::comparison_html(runs);
            Ok(page.map_err(|error| UsageError(error.to_string()))?.into())
        }
        (ExportForm::Openmetrics | ExportForm::Fio, _) => {
            let text = "this form holds one run: export the others into files of their own";
            Err(UsageError(text.into()).into())
        }
        _ => {
            let texts = runs.iter().map(text).collect::<Result<Vec<_>, _>>()?;
            Ok(joined(&texts, form).into())
        }
    }
}

/// The texts of several runs as one.
fn joined(texts: &[String], form: ExportForm) -> String {
    match form {
        ExportForm::Json => {
            let texts: Vec<&str> = texts.iter().map(|it| it.trim_end()).collect();
            format!("[\n{}\n]\n", texts.join(",\n"))
        }
        ExportForm::Markdown | ExportForm::Text => texts.join("\n"),
        // The heading stands once.
        _ => {
            let rows = |(number, text): (usize, &String)| {
                text.split_inclusive('\n')
                    .skip(usize::from(number > 0))
                    .collect::<String>()
            };
            texts.iter().enumerate().map(rows).collect()
        }
    }
}

/// The run in a form of text; `None` where it has nothing of that form.
fn written(run: &Run, form: ExportForm, every: Option<Duration>) -> Option<String> {
    match form {
        ExportForm::Json => Some(results::json(run)),
        ExportForm::Text => Some(shown(run, false)),
        ExportForm::Csv => Some(report::csv_figures(run)),
        ExportForm::Markdown => Some(report::markdown(run)),
        ExportForm::Html => Some(report::html(run)),
        ExportForm::Openmetrics => Some(report::openmetrics(run)),
        ExportForm::Replicates => report::csv_replicates(run),
        ExportForm::Points => report::csv_points(run),
        ExportForm::Intervals => report::csv_intervals(run),
        ExportForm::Series => report::csv_series(run, every),
        ExportForm::Svg => picture(std::slice::from_ref(run)).ok(),
        ExportForm::Fio => job_file(run),
        ExportForm::Parquet => None,
    }
}

/// The trial as fio's job file, or the job files that were read.
fn job_file(run: &Run) -> Option<String> {
    let setup = &run.settings;
    if setup.command == "fio" {
        let texts: Vec<&str> = setup.files.iter().map(|it| it.text.as_str()).collect();
        return (!texts.is_empty()).then(|| texts.join("\n"));
    }
    if setup.command != "trial" {
        return None;
    }
    let (_, matches) = again(definition(), setup, &[]).ok()?;
    match typed(&matches).ok()?.command {
        Command::Trial(args) => as_fio(&args, &mut setup.clone()).ok(),
        _ => None,
    }
}

/// What a form holds that not every run has, and the commands whose runs have it.
const fn held(form: ExportForm) -> (&'static str, &'static str) {
    match form {
        ExportForm::Json
        | ExportForm::Text
        | ExportForm::Csv
        | ExportForm::Markdown
        | ExportForm::Html
        | ExportForm::Openmetrics
        | ExportForm::Parquet => ("figures", "every command"),
        ExportForm::Replicates => (
            "repetitions",
            "`seekstone transfer`, `random`, `files`, `time` and `study`",
        ),
        ExportForm::Points => ("load curve", "`seekstone curve`, `run` and `rab`"),
        ExportForm::Intervals => (
            "intervals",
            "`seekstone transactions` and `seekstone trial --interval`",
        ),
        ExportForm::Fio => ("job file", "`seekstone trial` and `seekstone fio`"),
        ExportForm::Series => ("latency over time", "`seekstone run` and `seekstone trial`"),
        ExportForm::Svg => (
            "picture",
            "`seekstone curve`, `compare` and `trial --interval`",
        ),
    }
}

fn nothing(run: &Run, form: ExportForm) -> UsageError {
    let (what, commands) = held(form);
    let id = run.id.unwrap_or_default();
    let there = ExportForm::value_variants()
        .iter()
        .filter(|&&other| written(run, other, None).is_some())
        .filter_map(|other| Some(other.to_possible_value()?.get_name().to_owned()));
    let there: Vec<String> = there.collect();
    UsageError(format!(
        "run {id} has no {what}: only runs of {commands} do; this one exports with \
         --form {}",
        there.join(", ")
    ))
}
