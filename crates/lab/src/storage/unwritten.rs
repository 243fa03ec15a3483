//! Blocks of a device that nothing was written to: an SSD, a thin volume or a virtual disk answers
//! reads of them without its media.

use drivers::{TargetFileType, zero_blocks};
use procedure::Trial;
use results::{Measurement, Warning, WarningCode};
use workload::ClientSpec;

use super::StorageLaboratory;

/// Blocks that are looked at.
const SAMPLES: u64 = 32;
/// From this share of zero blocks on, they are more than what data hold.
const ZERO_SHARE: f64 = 0.125;

impl StorageLaboratory {
    /// Note up to where a trial read a device.
    pub(super) fn note_read(&mut self, measurement: &Measurement, trial: &Trial) {
        let mut kinds = measurement.kinds.iter();
        let has_read = kinds.any(|it| it.kind == "read" && it.count > 0);
        let device = self.table.targets().first();
        let device = device.filter(|it| has_read && it.kind() == TargetFileType::Device);
        let Some(device) = device else { return };
        let end = match &trial.spec {
            ClientSpec::Mix(mix) => {
                let region = &mix.addresses.region;
                region.offset + region.len
            }
            _ => device.size(),
        };
        self.read_until = self.read_until.max(end);
    }

    /// That many of the blocks that were read hold only zeroes, by a sample. Looked for when all is
    /// measured, so that nothing is changed by it; what cannot be read says nothing.
    #[must_use]
    pub fn unwritten(&self) -> Option<Warning> {
        let device = self.table.targets().first();
        let device = device.filter(|_| self.read_until > 0 && self.hung.is_none())?;
        let found = zero_blocks(device, self.read_until, SAMPLES).ok()?;
        let share = f64::from(found.zero) / f64::from(found.sampled.max(1));
        (share >= ZERO_SHARE).then(|| {
            let text = format!(
                "{} of {} blocks sampled on {} hold only zeroes. Where nothing was ever written, \
                 SSDs, thin volumes and virtual disks answer without reading their media.",
                found.zero,
                found.sampled,
                device.path().display()
            );
            Warning::warn(WarningCode::Unwritten, text)
                .advise("Write the whole device first, or measure a file on it.")
        })
    }
}
