//! Blocks of a device that nothing was written to: an SSD, a thin volume or a virtual disk answers
//! reads of them without its media.

use std::time::Duration;

use drivers::{TargetFileType, zero_blocks};
use procedure::Trial;
use results::{Measurement, Warning, WarningCode};
use workload::{ClientSpec, Region};

use super::StorageLaboratory;

/// Blocks that are looked at.
const SAMPLES: u64 = 32;
/// A slow device answers fewer within this time.
const LIMIT: Duration = Duration::from_secs(1);
/// From this share of zero blocks on, they are more than what data hold.
const ZERO_SHARE: f64 = 0.125;

impl StorageLaboratory {
    /// Notes which part of a device a trial read, where its workload says.
    pub(super) fn note_read(&mut self, measurement: &Measurement, trial: &Trial) {
        let mut kinds = measurement.kinds.iter();
        let has_read = kinds.any(|it| it.kind == "read" && it.count > 0);
        let device = self.table.targets().first();
        let device = device.filter(|it| has_read && it.kind() == TargetFileType::Device);
        let Some(device) = device else { return };
        let regions: Vec<&Region> = match &trial.spec {
            ClientSpec::Mix(mix) => vec![&mix.addresses.region],
            ClientSpec::Jobs(own) => own.jobs.iter().flat_map(|job| &job.files).collect(),
            _ => Vec::new(),
        };
        let size = device.size();
        // A target is opened past the page cache and through it.
        for region in regions.into_iter().filter(|it| it.target.0 < 2) {
            let end = (region.offset + region.len).min(size);
            let known = self.read_part.clone().unwrap_or(region.offset..end);
            self.read_part = Some(known.start.min(region.offset)..known.end.max(end));
        }
    }

    /// That many of the blocks that were read hold only zeroes, by a sample. Looked for when all is
    /// measured, so that nothing is changed by it; what cannot be read says nothing.
    pub fn unwritten(&self) -> Option<Warning> {
        let device = self.table.targets().first();
        let device = device.filter(|_| self.hung.is_none())?;
        let part = self.read_part.as_ref()?;
        let found = zero_blocks(device, part, SAMPLES, LIMIT).ok()?;
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
