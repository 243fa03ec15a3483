//! The verdict of a run: the answer in a sentence, one word of trust, the goals' outcome.
//!
//! A rule for each kind lists possible statements, the most important first, each with the rows
//! that it concerns. This module chooses among them: it never quotes a row that is not reliable. If
//! no statement is left, the responsible warning is given instead.

mod reason;
mod rules;
mod trials;

use results::environment::TargetKind;
use results::{
    Row, Run, RunVerdict, Severity, Status, Table, Trust, Warning, WarningCode, main_rows,
};
use units::{capitalised, format_duration_ns};

use reason::{blamed, bound, in_words};

/// A statement about rows.
struct Statement<'a> {
    rows: Vec<&'a Row>,
    /// The text without a full stop; `None` if there is nothing to say about the rows.
    text: Option<String>,
    /// Whether it quotes their figures, which requires reliable rows.
    is_quoting: bool,
    /// How long they were measured, for devices that may change later.
    brief: Option<Brief>,
}

/// A time too short to show what storage does over minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Brief {
    ns: u64,
    /// What was measured for that long, to follow the time: `at each load`.
    of: &'static str,
}

impl Brief {
    /// Minimum length of a quotable measurement of storage.
    const BELOW_NS: u64 = 30_000_000_000;

    /// `ns` on the target of `run`; `None` if long enough, or on a model.
    fn of(run: &Run, ns: u64, of: &'static str) -> Option<Self> {
        let is_real = run.target.kind != TargetKind::Simulated;
        Self::short(ns, of).filter(|_| is_real)
    }

    /// `ns` on any target; `None` if long enough.
    fn short(ns: u64, of: &'static str) -> Option<Self> {
        (ns < Self::BELOW_NS).then_some(Self { ns, of })
    }

    fn in_words(self) -> String {
        let seconds = self.ns as f64 / 1e9;
        let time = match seconds < 1.0 {
            true => format_duration_ns(self.ns as f64),
            false => format!("{seconds:.0} s"),
        };
        format!(", over {time}{}", self.of)
    }
}

/// Possible statements about a run.
struct Candidates<'a> {
    /// The most important first.
    statements: Vec<Statement<'a>>,
    /// Number of statements in the sentence.
    count: usize,
    /// Whether it starts with a name as typed, which keeps its lower case.
    begins_with_name: bool,
}

impl<'a> Candidates<'a> {
    fn of(statements: impl IntoIterator<Item = Statement<'a>>, count: usize) -> Self {
        Self {
            statements: statements.into_iter().collect(),
            count,
            begins_with_name: false,
        }
    }

    fn beginning_with_name(self) -> Self {
        Self {
            begins_with_name: true,
            ..self
        }
    }
}

impl<'a> Statement<'a> {
    fn quoting(rows: Vec<&'a Row>, text: Option<String>) -> Self {
        Self {
            rows,
            text,
            is_quoting: true,
            brief: None,
        }
    }

    fn over(self, brief: Option<Brief>) -> Self {
        Self { brief, ..self }
    }

    /// Also holds for unstable rows.
    fn without_figures(rows: Vec<&'a Row>, text: Option<String>) -> Self {
        Self {
            is_quoting: false,
            ..Self::quoting(rows, text)
        }
    }

    fn is_quotable(&self) -> bool {
        let worst = self.rows.iter().map(|row| row.trust).max();
        self.text.is_some()
            && match worst {
                None | Some(Trust::Reliable) => true,
                Some(Trust::Unstable) => !self.is_quoting,
                Some(Trust::Invalid) => false,
            }
    }
}

/// The verdict of the run.
pub fn verdict(run: &Run) -> RunVerdict {
    let tables = run.tables();
    let answer = rules::answer(run, &tables);
    let statements = answer.statements.iter();
    let quoted: Vec<&Statement<'_>> = statements
        .filter(|it| it.is_quotable())
        .take(answer.count)
        .collect();
    let texts = quoted.iter().filter_map(|it| it.text.as_deref());
    let quoting = quoted.iter().filter(|it| it.is_quoting);
    let briefest = quoting.filter_map(|it| it.brief).min();
    let sentences = texts.filter_map(|it| sentence(it, answer.begins_with_name));
    let text = sentences.collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches('.').to_owned();
    let text = text + &briefest.map_or_else(String::new, Brief::in_words);
    let answered = sentence(&text, answer.begins_with_name);
    // For storage that changed, only statements that still hold are made.
    let answered = match (answered, run.change()) {
        (Some(answered), None) => Ok(answered),
        (answered, _) => Err(answered),
    };
    let about: Vec<&Row> = match answered {
        Ok(_) => quoted.iter().flat_map(|it| it.rows.clone()).collect(),
        Err(_) => rows_at_issue(&answer, &tables),
    };
    let worst = about.iter().map(|row| row.trust).max();
    let mostly_marked = mostly_marked(run, &tables);
    let blamed = match (&mostly_marked, worst) {
        (Some(rows), Some(Trust::Reliable)) => blamed(run, rows),
        _ => blamed(run, &about),
    };
    let (sentence, trust) = match (answered, worst) {
        (Ok(answered), _) => {
            let is_invalid = |it: &Warning| it.severity == Severity::Invalid;
            let is_marked = mostly_marked.is_some() || run.warnings.iter().any(is_invalid);
            let of_run = Trust::reliable_if(!is_marked);
            (answered, of_run.max(worst.unwrap_or(of_run)))
        }
        (Err(_), None) => (nothing_measured(run), Trust::Invalid),
        (Err(still), Some(worst)) => {
            let why = in_words(run, &about, blamed.first().copied());
            let still = still.or_else(|| bound(run));
            let still = still.map_or_else(String::new, |it| format!(" {it}"));
            let sentence = format!("Cannot tell: {why}.{still}");
            (sentence, worst.max(Trust::Unstable))
        }
    };
    let mut because = Vec::new();
    for warning in blamed.iter().filter(|_| trust != Trust::Reliable) {
        if !because.contains(&warning.code) {
            because.push(warning.code.clone());
        }
    }
    // With verification, its result comes first.
    let mut warnings = run.warnings.iter();
    let verified = warnings.find(|it| it.code == WarningCode::Verified);
    RunVerdict {
        sentence: match verified {
            Some(verified) => format!("{} {sentence}", verified.cause),
            None => sentence,
        },
        trust,
        because,
        goals: run.goals_outcome(),
    }
}

/// The results of the run if most of them cannot be quoted. The points and levels of a curve are
/// of one result.
fn mostly_marked<'a>(run: &Run, tables: &'a [Table]) -> Option<Vec<&'a Row>> {
    let rows: Vec<&Row> = main_rows(tables).iter().collect();
    let reliable = rows.iter().filter(|row| row.trust.is_usable()).count();
    let is_of_rows = run.curve().is_none() || !run.measurements.is_empty();
    (is_of_rows && 2 * reliable < rows.len()).then_some(rows)
}

/// The rows that an answer would be about; if there are none, all.
fn rows_at_issue<'a>(answer: &Candidates<'a>, tables: &'a [Table]) -> Vec<&'a Row> {
    let rows: Vec<&Row> = answer
        .statements
        .iter()
        .flat_map(|it| it.rows.clone())
        .collect();
    match rows.is_empty() {
        true => tables.iter().flat_map(|table| &table.rows).collect(),
        false => rows,
    }
}

fn nothing_measured(run: &Run) -> String {
    match &run.status {
        Status::Partial { reason } if !run.curves.is_empty() => {
            format!("Cannot tell: {reason}, and all points so far are estimates.")
        }
        Status::Partial { reason } => {
            format!("Nothing was measured: {}.", reason.trim_end_matches('.'))
        }
        Status::Complete => "Nothing was measured.".to_owned(),
    }
}

/// Text as a sentence, with a full stop.
fn sentence(text: &str, begins_with_name: bool) -> Option<String> {
    let begun = match begins_with_name {
        true => text.to_owned(),
        false => capitalised(text),
    };
    let end = if text.ends_with('.') { "" } else { "." };
    (!text.is_empty()).then(|| begun + end)
}

/// The rows of a table; none if the run has no such table.
fn rows_of<'a>(tables: &'a [Table], name: &str) -> &'a [Row] {
    let table = tables.iter().find(|table| table.name == name);
    table.map_or(&[], |table| &table.rows)
}
