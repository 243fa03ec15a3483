//! What verification finds in the phases of jobs, and what becomes of it.

use lab::bench::{Bench, BenchError};
use lab::cells::Killed;
use lab::laboratory::Laboratory as _;
use lab::storage::wrong_data;
use units::Duration;
use verify::{Findings, VerifyMismatch};
use workload::TargetId;

use super::plan::FioPlan;
use super::run::FioSession;
use super::verify::AfterPhase;
use crate::stage::Stage;

/// Findings with the names of their files.
pub(super) fn lines_of(findings: &Findings, plan: &FioPlan) -> Vec<String> {
    let line = |it: &VerifyMismatch| {
        let path = plan.files[it.target as usize / 2].path.display();
        format!("{path}: {it}")
    };
    findings.first().iter().map(line).collect()
}

impl FioSession<'_, '_> {
    /// Read what a phase wrote, and hold it against what was written.
    pub(super) fn read_back(
        &mut self,
        after: &AfterPhase,
        bench: &mut Bench,
    ) -> Result<(), BenchError> {
        let Self {
            show,
            interrupt,
            spent,
            ..
        } = self;
        let real = match bench {
            Bench::Real(real) => real,
            // What was found is not kept: as far as that is known, nothing was read back.
            Bench::Replayed(..) => return Err(Killed.into()),
            _ => return Ok(()),
        };
        let begun = real.now();
        for &file in &after.reads_back {
            real.read_back(
                TargetId(file as u32 * 2),
                after.is_fatal,
                &mut |done, now| {
                    show(&Stage {
                        title: "reading back what was written",
                        done,
                        elapsed: *spent + now.since(begun),
                        left: Duration::ZERO,
                        glimpse: None,
                    });
                    interrupt.is_raised().is_none()
                },
            )?;
        }
        *spent += real.now().since(begun);
        Ok(())
    }

    pub(super) fn report_wrong(&mut self, after: &AfterPhase, findings: &Findings) {
        for &row in &after.rows {
            self.rows[row as usize].is_wrong = true;
        }
        if let Some(last) = self.measurements.last_mut() {
            last.warnings.push(wrong_data(&last.title, findings));
        }
    }
}
