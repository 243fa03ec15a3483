//! What verification finds in the phases of jobs, and what becomes of it.

use engine::RowRecord;
use lab::bench::Bench;
use lab::cells::Killed;
use lab::laboratory::Laboratory as _;
use lab::storage::wrong_data;
use units::TimeSpan;
use verify::{Findings, VerifyMismatch};
use workload::{OpKind, TargetId};

use super::plan::FioPlan;
use super::run::PhaseRunner;
use super::verify::AfterPhase;
use crate::session::{Result, Session};
use crate::stage::Stage;

/// Findings with the names of their files.
pub(super) fn lines_of(findings: &Findings, plan: &FioPlan) -> Vec<String> {
    let line = |it: &VerifyMismatch| {
        let path = plan.files[it.target as usize / 2].path.display();
        format!("{path}: {it}")
    };
    findings.first().iter().map(line).collect()
}

impl PhaseRunner<'_> {
    /// Read all that was written to files of a phase, and hold it against what was written. As in
    /// fio, what the phase wrote, after the write `since`, counts among the reads of its job.
    pub(super) fn read_back(
        &mut self,
        session: &mut Session<'_>,
        (after, since): (&AfterPhase, u64),
    ) -> Result<()> {
        let Session {
            bench,
            show,
            interrupt,
            spent,
            ..
        } = session;
        let real = match bench {
            Bench::Real(real) => real,
            // What was found is not kept: as far as that is known, nothing was read back.
            Bench::Replayed(..) => return Err(Killed.into()),
            _ => return Ok(()),
        };
        let begun = real.now();
        for &(file, row) in &after.reads_back {
            let mut read = RowRecord::default();
            let from = *spent + real.now().since(begun);
            let target = TargetId(file as u32 * 2);
            real.read_back((target, since), after.is_fatal, &mut |piece| {
                let elapsed = *spent + piece.now.since(begun);
                if piece.new > 0 {
                    let took = piece.now.since(piece.begun).as_nanos();
                    read.response.record(took);
                    read.service.record(took);
                    read.submission.record(0);
                    read.bytes += piece.new;
                    read.span = TimeSpan::new(from, elapsed);
                }
                show(&Stage {
                    title: "reading back what was written",
                    done: piece.share,
                    elapsed,
                    ..Stage::default()
                });
                interrupt.is_raised().is_none()
            })?;
            if read.bytes > 0 {
                let records = &mut self.rows[row as usize].records;
                records.entry(OpKind::Read).or_default().merge(&read);
            }
        }
        *spent += real.now().since(begun);
        Ok(())
    }

    pub(super) fn report_wrong(
        &mut self,
        session: &mut Session<'_>,
        after: &AfterPhase,
        findings: &Findings,
    ) {
        for &row in &after.rows {
            self.rows[row as usize].is_wrong = true;
        }
        if let Some(last) = session.measurements.last_mut() {
            last.warnings.push(wrong_data(&last.title, findings));
        }
    }
}
