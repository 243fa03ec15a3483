//! `seekstone ior` and `seekstone mdtest`: measured as `seekstone files`, with the other program's
//! table before the report.

use std::ffi::OsString;

use hpc::{HpcPass, HpcPhase, IorCommand, MdtestCommand, ior_table, mdtest_table};
use results::{Replicate, Row, Run, Setup};

use crate::args::{FilesArgs, HpcArgs, HpcOptions};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::output;

/// Commands that take the options of another program, which are letters.
const COMMANDS: [&str; 2] = ["ior", "mdtest"];

/// A program whose table is printed.
pub trait HpcTable {
    /// Its table of what was measured.
    fn table(&self, run: &Run) -> String;
}

impl HpcTable for IorCommand {
    fn table(&self, run: &Run) -> String {
        let at_wall = self.stonewall.is_some() && !self.is_worn_out;
        ior_table(&phases(run, at_wall), (self.block, self.transfer))
    }
}

impl HpcTable for MdtestCommand {
    fn table(&self, run: &Run) -> String {
        mdtest_table(&phases(run, false), self)
    }
}

impl<C: HpcOptions + HpcTable> MeasuringCommand for HpcArgs<C> {
    fn outline(&self) -> CommandOutline<'_> {
        let files: &FilesArgs = self;
        files.outline()
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let files: &FilesArgs = self;
        let ready = files.ready(setup)?;
        let measure = ready.measure;
        Ok(Ready {
            measure: Box::new(move |looking| {
                let (run, mut delivery) = measure(looking)?;
                let report = delivery.show;
                delivery.show = Box::new(move |run, is_free| {
                    if is_free {
                        output::print(&self.command.table(run))?;
                    }
                    report(run, is_free)
                });
                Ok((run, delivery))
            }),
            ..ready
        })
    }
}

/// The phases of a run of `files`; of those with a stonewall what was done by then, if `at_wall`.
fn phases(run: &Run, at_wall: bool) -> Vec<HpcPhase> {
    let table = run.tables.iter().find(|it| it.name == "files");
    let rows = table.into_iter().flat_map(|it| &it.rows);
    rows.map(|row| HpcPhase {
        name: row.levels[0].clone(),
        passes: row
            .replicates
            .iter()
            .map(|it| pass(row, it, at_wall))
            .collect(),
    })
    .collect()
}

fn pass(row: &Row, replicate: &Replicate, at_wall: bool) -> HpcPass {
    let reading = |name: &str| {
        let mut all = replicate.readings.iter();
        all.find_map(|(it, _, value)| (it == name).then_some(*value))
    };
    let figure = |name: &str| row.figure(name).map(|it| it.value.value);
    let each = || Some(figure("items")? * figure("clients")?);
    let at_wall = at_wall && reading("stonewall-elapsed").is_some();
    let of = |whole: &str, wall: &str| reading(if at_wall { wall } else { whole });
    HpcPass {
        seconds: of("elapsed", "stonewall-elapsed").unwrap_or(f64::NAN),
        bytes: of("bytes", "stonewall-bytes").unwrap_or(0.0),
        items: of("items", "stonewall-items").or_else(each).unwrap_or(0.0),
    }
}

/// What was typed, with the other program's options behind two dashes. `definition` tells what is
/// ours: options of two dashes alone.
pub fn with_options_apart(words: Vec<OsString>, definition: &clap::Command) -> Vec<OsString> {
    let name = words
        .get(1)
        .and_then(|word| word.to_str())
        .unwrap_or_default();
    let command = definition.find_subcommand(name);
    let is_theirs = COMMANDS.contains(&name) && words.iter().all(|word| word != "--");
    let (Some(command), true) = (command, is_theirs) else {
        return words;
    };
    let (mut kept, mut theirs) = (Vec::new(), Vec::new());
    let mut rest = words.into_iter();
    kept.extend(rest.by_ref().take(2));
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        let typed = text.strip_prefix("--").unwrap_or_default();
        let long = typed.split('=').next().unwrap_or_default();
        let mut arguments = command.get_arguments().chain(definition.get_arguments());
        let option = arguments.find(|it| !long.is_empty() && it.get_long() == Some(long));
        let is_help = ["-h", "--help"].contains(&text.as_ref());
        let wants_value = option.is_some_and(|it| it.get_action().takes_values())
            && !typed.contains('=')
            && long != "live";
        match option.is_some() || is_help {
            true => kept.push(word),
            false => theirs.push(word),
        }
        if wants_value {
            kept.extend(rest.next());
        }
    }
    if !theirs.is_empty() {
        kept.push("--".into());
        kept.append(&mut theirs);
    }
    kept
}
