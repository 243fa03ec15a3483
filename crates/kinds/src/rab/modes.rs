//! The mode that results are stamped with: as the user set it, or as the system says.

use std::path::{Path, PathBuf};

use results::environment::RaidState;
use results::{Mode, ModeChange};
use units::{Duration, Instant, TargetName};

use host::inspect::inspect;

/// How often the state of a RAID is read while a trial runs.
const LOOK_EVERY: Duration = Duration::from_millis(1000);

/// Knows the mode.
pub struct ModeKeeper {
    /// `None` of a model.
    target: Option<PathBuf>,
    by_user: Mode,
    detected: Option<RaidState>,
    looked: Option<Instant>,
    begun: Instant,
    changes: Vec<ModeChange>,
}

impl ModeKeeper {
    /// Begins with the user's mode, and looks at the system; of a model, `raid` is known.
    pub fn new(
        target: &TargetName,
        by_user: Mode,
        begun: Instant,
        raid: Option<RaidState>,
    ) -> Self {
        let mut this = Self {
            target: target.path().map(Path::to_owned),
            by_user,
            detected: raid,
            looked: None,
            begun,
            changes: Vec::new(),
        };
        this.look();
        this.note(begun);
        this
    }

    /// The mode now. What the system says of a RAID that is not whole and at rest outweighs what
    /// the user said.
    pub fn mode(&self) -> Mode {
        match self.of_system() {
            Mode::Normal => self.by_user,
            detected => detected,
        }
    }

    /// Whether the mode was read from the system.
    pub fn is_detected(&self) -> bool {
        self.of_system() != Mode::Normal
    }

    /// Whether workloads are run until somebody stops them: only the user can ask for that.
    pub fn is_endless(&self) -> bool {
        self.by_user.is_endless()
    }

    /// The user set the next mode.
    pub fn next(&mut self, now: Instant) {
        self.by_user = self.by_user.next();
        self.note(now);
    }

    /// Look at the system again if it is time; whether the mode changed.
    pub fn watch(&mut self, now: Instant) -> bool {
        let is_due = self
            .looked
            .is_none_or(|looked| now.since(looked) >= LOOK_EVERY);
        if !is_due {
            return false;
        }
        self.looked = Some(now);
        self.look();
        self.note(now)
    }

    /// What a model says of its array after a trial; whether the mode changed.
    pub fn see(&mut self, raid: Option<RaidState>, now: Instant) -> bool {
        if raid.is_none() {
            return false;
        }
        self.detected = raid;
        self.note(now)
    }

    /// Every change so far; the first is the beginning.
    pub fn into_changes(self) -> Vec<ModeChange> {
        self.changes
    }

    fn of_system(&self) -> Mode {
        self.detected
            .as_ref()
            .map_or(Mode::Normal, |raid| Mode::of_raid(raid.state))
    }

    fn look(&mut self) {
        let Some(target) = &self.target else { return };
        // A target that cannot be looked at any more will fail the next operation; that is told.
        if let Ok((description, _)) = inspect(target) {
            self.detected = description.raid;
        }
    }

    fn note(&mut self, now: Instant) -> bool {
        let mode = self.mode();
        if self.changes.last().is_some_and(|last| last.mode == mode) {
            return false;
        }
        let text = match (&self.detected, self.is_detected()) {
            (Some(raid), true) => describe(raid),
            (Some(raid), false) => format!("set by the user. {}", describe(raid)),
            (None, _) => "set by the user. No layer below reports the state of a RAID".into(),
        };
        self.changes.push(ModeChange {
            at_ns: now.since(self.begun).as_nanos(),
            mode,
            is_detected: self.is_detected(),
            text,
        });
        true
    }
}

fn describe(raid: &RaidState) -> String {
    use results::environment::RaidActivity;
    let level = raid.level.as_deref().unwrap_or("an array");
    let members = match (raid.members, raid.missing) {
        (Some(members), Some(0)) => format!(" of {members} members"),
        (Some(members), Some(missing)) => format!(" of {members} members, {missing} missing"),
        _ => String::new(),
    };
    let state = match raid.state {
        RaidActivity::Normal => "whole and at rest".to_owned(),
        RaidActivity::Degraded => "degraded".to_owned(),
        RaidActivity::Replacing => "copying a member to its replacement".to_owned(),
        RaidActivity::Rebuilding { percent: None } => "rebuilding".to_owned(),
        RaidActivity::Rebuilding {
            percent: Some(percent),
        } => format!("rebuilding, {percent:.0} % done"),
        RaidActivity::Checking { .. } => "being checked".to_owned(),
    };
    format!("{} {level}{members}: {state} ({})", raid.kind, raid.source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::environment::RaidActivity;

    fn raid(state: RaidActivity) -> RaidState {
        RaidState {
            kind: "btrfs".into(),
            level: Some("raid1".into()),
            members: Some(2),
            missing: Some(0),
            state,
            source: "sysfs".into(),
        }
    }

    fn keeper(by_user: Mode) -> ModeKeeper {
        ModeKeeper::new(&"sim:mm1".into(), by_user, Instant::START, None)
    }

    #[test]
    fn a_raid_that_is_not_whole_outweighs_the_user() {
        let mut modes = keeper(Mode::Continuous);
        assert_eq!(
            (modes.mode(), modes.is_detected()),
            (Mode::Continuous, false)
        );
        modes.detected = Some(raid(RaidActivity::Replacing));
        assert!(modes.note(Instant(5)));
        assert_eq!((modes.mode(), modes.is_detected()), (Mode::Exchange, true));
        assert!(modes.is_endless());
        modes.detected = Some(raid(RaidActivity::Normal));
        assert!(modes.note(Instant(9)));
        assert!(!modes.note(Instant(10)), "nothing changed");
        let modes: Vec<(u64, Mode)> = modes
            .into_changes()
            .iter()
            .map(|change| (change.at_ns, change.mode))
            .collect();
        let expected = [
            (0, Mode::Continuous),
            (5, Mode::Exchange),
            (9, Mode::Continuous),
        ];
        assert_eq!(modes, expected);
    }

    #[test]
    fn a_detected_mode_does_not_make_a_run_endless() {
        let mut modes = keeper(Mode::Normal);
        modes.detected = Some(raid(RaidActivity::Degraded));
        modes.note(Instant(1));
        assert_eq!(modes.mode(), Mode::Reduced);
        assert!(!modes.is_endless());
    }

    #[test]
    fn the_key_goes_on_to_the_next_mode() {
        let mut modes = keeper(Mode::Normal);
        modes.next(Instant(3));
        assert_eq!(modes.mode(), Mode::Continuous);
        assert_eq!(modes.into_changes().len(), 2);
    }
}
