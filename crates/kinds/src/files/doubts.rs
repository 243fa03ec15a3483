//! What is doubtful about all rows of file tests.

use procedure::{FileCell, FileItem};
use results::environment::TargetKind;
use results::{FileState, FileSystemRole, Warning, WarningCode};
use workload::DecusTest;

use super::run::{FilesSession, counted};
use super::subject::ColdReach;

/// From this share of the files on, data still in memory are worth a warning.
const KEPT_SHARE: f64 = 0.01;

impl FilesSession<'_> {
    /// Doubts about all rows.
    pub(super) fn doubts(&self) -> Vec<Warning> {
        let mut doubts = Vec::new();
        if self.kept > KEPT_SHARE {
            let text = format!(
                "When caches were dropped, up to {:.0} % of the bytes stayed in memory. Cold rows \
                 are warmer than their name says.",
                100.0 * self.kept
            );
            doubts.push(Warning::warn(WarningCode::StillCached, text));
        }
        let is_11 = |cell: &FileCell| {
            matches!(cell.item, FileItem::Decus(DecusTest::Test11, _))
                && cell.role == FileSystemRole::Target
        };
        let target = &self.subjects[0];
        let is_one_device =
            target.named.is_some() || target.description.kind != TargetKind::Directory;
        if self.request.clients > 1 && is_one_device && self.played.keys().any(is_11) {
            let text = "TEST11: all clients read the same bytes of the device, so all but the \
                        first find them in memory. Ask for one client to see the device's own \
                        figure of merit.";
            doubts.push(Warning::warn(WarningCode::SameDevice, text));
        }
        let is_cold = self.played.keys().any(|cell| cell.state == FileState::Cold);
        if is_cold && target.cold == ColdReach::OwnPages {
            let text = "Cold means that the pages of the test's own files were dropped. Names and \
                        inodes stayed in memory. As root, --drop-caches drops them, too.";
            doubts.push(Warning::info(WarningCode::NamesStayCached, text));
        }
        doubts.extend(self.not_reached());
        doubts.extend(self.verified());
        let wide = self
            .procedure
            .cells()
            .iter()
            .filter(|cell| self.played.contains_key(cell) && !self.procedure.is_precise(cell));
        let wide = wide.count();
        if wide > 0 {
            let text = format!(
                "{wide} of {} {} less precise than requested: raise --budget, or relax \
                 --precision.{}",
                counted(self.played.len() as u64, "row"),
                if wide == 1 { "is" } else { "are" },
                self.overrun(),
            );
            doubts.push(Warning::info(WarningCode::NotPrecise, text));
        }
        doubts
    }

    /// Why it took longer than it was to, where it did: rounds are whole.
    fn overrun(&self) -> String {
        let (elapsed, is_fixed) = (self.elapsed(), self.request.rule.rounds.is_some());
        let budget = self.request.budget().filter(|_| !is_fixed);
        let budget = budget.filter(|&budget| elapsed > budget + budget / 2);
        budget.map_or_else(String::new, |budget| {
            format!(
                " Rounds are whole, and took {elapsed} in all where --budget is {budget}: fewer \
                 --files, or --tests, make them shorter."
            )
        })
    }
}
