//! State of a test for the full screen.

use crate::rpt::log::Block;
use crate::rpt::{Sums, Workload, curve_points};

use super::{Glance, RptSession, SessionState};
use results::Curve;
use results::live::{
    Live, LiveConvergence, LiveLevel, LiveRow, LiveState, LiveWorkload, Verbosity,
};

/// Maximum number of warnings passed to the screen.
const WARNINGS_MAX: usize = 200;
/// Number of workloads with response times and loads in the summary: "the first four workloads
/// (three transaction and one batch)". A batch one has one result, at no load.
const IN_FULL: usize = 4;

/// The current state of the test, with its latest warnings.
pub fn live(session: &RptSession, elapsed_s: f64, warnings: &[String]) -> Live {
    let plan = session.plan();
    let (run, workload) = session.position();
    let names = ["Test File", "Config File", "Param File", "Report File"];
    let files = names.iter().zip(&plan.files);
    let workloads = plan.workloads.iter().zip(&session.results).enumerate();
    Live {
        state: match session.state() {
            SessionState::Stopped => LiveState::Stopped,
            SessionState::Execute => LiveState::Execute,
            SessionState::Finished => LiveState::Finished,
        },
        run,
        mode: session.mode,
        is_mode_detected: false,
        workload,
        threads: u64::from(session.threads()),
        elapsed_ns: (elapsed_s * 1e9) as u64,
        configuration: files
            .map(|(name, file)| ((*name).to_owned(), file.clone()))
            .collect(),
        workloads: workloads
            .map(|(index, (workload, block))| LiveWorkload {
                curve: curve(&session.looks[index]),
                ..live_workload(index, workload, block.as_ref())
            })
            .collect(),
        verbosity: match session.verbose() {
            0 => Verbosity::None,
            1 => Verbosity::Summary,
            _ => Verbosity::Detail,
        },
        current_message: message_row(session),
        current_thread: row(session.now),
        last_thread: row(session.last),
        last_response: row(session.response),
        activity: activity(session),
        convergence: LiveConvergence {
            relative_half_widths: factors(session),
            goal: Some(plan.rules.dlmax),
        },
        warnings: warnings[warnings.len().saturating_sub(WARNINGS_MAX)..].to_vec(),
        ..Live::default()
    }
}

/// Current or remaining activity.
fn activity(session: &RptSession) -> String {
    let (_, workload) = session.position();
    let workload = &session.plan().workloads[workload].name;
    match session.state() {
        SessionState::Execute => workload.clone(),
        SessionState::Stopped => format!("{workload}: S starts"),
        SessionState::Finished => session
            .told
            .unwrap_or("finished, the report is written; Q or X ends")
            .to_owned(),
    }
}

fn curve(looks: &[(Sums, f64)]) -> Curve {
    Curve {
        points: curve_points(looks.iter().map(|(sums, _)| sums)),
        ..Curve::default()
    }
}

/// Factors of the sums of the current number of threads, as they grew.
fn factors(session: &RptSession) -> Vec<f64> {
    let looks = &session.looks[session.workload];
    let threads = looks.last().map(|(sums, _)| sums.threads);
    let mut factors: Vec<f64> = looks
        .iter()
        .rev()
        .take_while(|(sums, _)| Some(sums.threads) == threads)
        .map(|(_, factor)| *factor)
        .collect();
    factors.reverse();
    factors
}

fn live_workload(index: usize, workload: &Workload, block: Option<&Block>) -> LiveWorkload {
    let name = workload.name.strip_suffix("Workload");
    let mut found = LiveWorkload {
        number: index as u32 + 1,
        name: name.unwrap_or(&workload.name).to_owned(),
        has_levels: index < IN_FULL || !workload.is_batch(),
        ..LiveWorkload::default()
    };
    if let Some(block) = block {
        for row in &block.rows {
            if let Some(level) = found.levels.get_mut(row.level) {
                *level = LiveLevel {
                    response_ms: Some(row.response_ms),
                    iops: Some(row.load),
                    relative_half_width: None,
                };
            }
        }
        found.rabmark_r = Some(block.rabmark_r);
        found.rabmark_s = Some(block.rabmark_s);
    }
    found
}

fn message_row(session: &RptSession) -> LiveRow {
    let Some(message) = session.message else {
        return LiveRow::default();
    };
    let sums = message.sums;
    let calculation = sums.calculation();
    LiveRow {
        count: Some(session.procedure.sums().messages as u64),
        threads: Some(u64::from(message.thread)),
        ..row(Some(Glance { sums, calculation }))
    }
}

fn row(glance: Option<Glance>) -> LiveRow {
    let Some(Glance { sums, calculation }) = glance else {
        return LiveRow::default();
    };
    LiveRow {
        count: Some(sums.messages as u64),
        threads: Some(sums.threads as u64),
        operations: Some(sums.nios as u64),
        kib: Some(sums.kbytes as u64),
        response_ms: Some(calculation.response_ms),
        iops: Some(calculation.load),
        rabmark_r: Some(calculation.rabmark_r),
        rabmark_s: Some(calculation.rabmark_n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpt::{TestPlan, shipped};

    /// Bug: of the fourth workload of the shipped test, a batch one, only the throughput was shown.
    #[test]
    fn the_first_four_workloads_are_shown_in_full() {
        let text = |name: &str| shipped::text_of(name).expect("a shipped file");
        let mut include = |name: &str| Ok(text(name).to_owned());
        let (plan, _) = TestPlan::read("rpt.rpt", text("rpt.rpt"), &Vec::new(), &mut include);
        let session = RptSession::new(plan.expect("the shipped test"));
        let shown = live(&session, 0.0, &[]);
        let in_full: Vec<bool> = shown.workloads.iter().map(|it| it.has_levels).collect();
        assert_eq!(in_full, [true, true, true, true, false, false, false]);
    }
}
