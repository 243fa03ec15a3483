//! The command of a kind of measurement: a study of one target, whose factors are the options that
//! have several values.

use lab::hosts::TargetSharing;
use procedure::study::StudyOverrides;
use procedure::{OfferedFigures, OfferedRow};
use results::Setup;
use study::Measures as _;
use toml::{Table, Value};

use crate::args::{KindArgs, is_list};
use crate::commands::measures::Everything;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::study::{
    ONE_HOST_RESTARTS, ONE_HOST_RESUMES, StudyFile, StudyInvocation, beginning,
};
use crate::exit::UsageError;

/// Rounds at most, where a precision is wanted.
const ROUNDS_MAX: u32 = 200;

impl MeasuringCommand for KindArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(
            &self.rules.common,
            [&self.rules.target],
            TargetSharing::Never,
        )
        .looks_later()
        .for_hosts(self.kind.targets.on_hosts)
        .alone(self.rules.resume, ONE_HOST_RESUMES)
        .alone(self.rules.restart, ONE_HOST_RESTARTS)
    }

    fn study(&self, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'_>> {
        asked(self, setup)
    }
}

/// The study that the command is.
fn asked<'a>(args: &'a KindArgs, setup: &mut Setup) -> anyhow::Result<StudyInvocation<'a>> {
    check(args)?;
    let rules = &args.rules;
    let offer = OfferedFigures::default().and(OfferedRow::Any, args.kind.name);
    offer.check(&rules.common.goals).map_err(UsageError)?;
    let source = format!("seekstone {}", args.kind.name);
    Ok(StudyInvocation {
        file: StudyFile::made(&source, || definition(args), setup),
        overrides: StudyOverrides {
            replicates: rules.replicates,
            precision: rules.replicates.is_none().then_some(rules.precision),
            budget: Some(rules.budget),
            ..StudyOverrides::default()
        },
        whole: None,
        limits: &[],
        used: Vec::new(),
        common: &rules.common,
        beginning: beginning(rules.resume, rules.restart),
        reserve: rules.reserve,
        permission: args.permission.clone(),
        again: "repeat the command with --resume to continue".into(),
    })
}

/// Every value by itself, so that a mistake names its option.
fn check(args: &KindArgs) -> Result<(), UsageError> {
    let (fixed, varied) = divided(args);
    let first = |(name, values): &(&'static str, Vec<String>)| {
        let value = Value::from(values[0].clone());
        ((*name).to_owned(), value)
    };
    let base: Table = varied.iter().map(first).chain(fixed).collect();
    let with = |name: &str, value: &String| {
        let mut table = base.clone();
        table.insert(name.to_owned(), value.clone().into());
        Everything::default().check(args.kind.name, &table)
    };
    let pairs = varied.iter();
    let mut pairs = pairs.flat_map(|(name, values)| values.iter().map(move |it| (*name, it)));
    Everything::default()
        .check(args.kind.name, &base)
        .and_then(|()| pairs.try_for_each(|(name, value)| with(name, value)))
        .map_err(|mistake| match mistake.key {
            Some(key) if mistake.message.starts_with(&key) => {
                UsageError(format!("--{}", mistake.message))
            }
            Some(key) => UsageError(format!("--{key}: {}", mistake.message)),
            None => UsageError(mistake.message),
        })
}

/// Settings that are the same in all replicates, and those with several values.
fn divided(args: &KindArgs) -> (Table, Vec<(&'static str, Vec<String>)>) {
    let mut fixed = Table::new();
    let mut varied = Vec::new();
    for (setting, values) in &args.settings {
        let text = |it: &String| Value::from(it.clone());
        if is_list(setting) {
            let list = values.iter().map(text).collect();
            fixed.insert(setting.name.into(), Value::Array(list));
        } else if let [value] = values.as_slice() {
            fixed.insert(setting.name.into(), text(value));
        } else {
            varied.push((setting.name, values.clone()));
        }
    }
    (fixed, varied)
}

/// The study that the command is.
fn definition(args: &KindArgs) -> String {
    let (fixed, varied) = divided(args);
    let mut study = Table::new();
    let kind = args.kind;
    study.insert("title".into(), kind.name.into());
    study.insert("target".into(), args.rules.target.as_str().into());
    study.insert("max-repeats".into(), i64::from(ROUNDS_MAX).into());
    let mut measurement = fixed;
    measurement.insert("kind".into(), kind.name.into());
    study.insert("measurement".into(), measurement.into());
    let factors = varied.into_iter().map(|(name, values)| {
        let mut factor = Table::new();
        factor.insert("name".into(), name.into());
        factor.insert("levels".into(), values.into());
        Value::from(factor)
    });
    let factors: Vec<Value> = factors.collect();
    if !factors.is_empty() {
        study.insert("factor".into(), factors.into());
    }
    study.to_string()
}
