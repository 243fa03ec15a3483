//! `seekstone positioning`: times to the first record of files that are opened in random order.

use kinds::positioning::{PositioningRequest, Published, measure_positioning};
use lab::bench::BenchRequest;
use lab::hosts::TargetSharing;
use lab::simulated::keep_texts;
use results::Setup;

use crate::args::PositioningArgs;
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::seeded;

/// The longest record.
const RECORD_MAX: u64 = 1 << 30;

impl MeasuringCommand for PositioningArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], TargetSharing::Never)
            .for_hosts(false)
            .drawn(None)
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        if self.record.0 > RECORD_MAX {
            refuse!("--record {}: at most 1 GiB", self.record);
        }
        seeded(self.common.seed, &mut setup);
        keep_texts(&self.target, &mut setup);
        let request = PositioningRequest {
            bench: BenchRequest::new(self.target.clone(), "positioning", setup),
            files: self.files,
            record: self.record,
            rounds: self.rounds,
            budget: self.budget,
            bin: self.bin,
            published: match self.published {
                true => Published::Dlt2000,
                false => Published::Nothing,
            },
        };
        Ok(self
            .common
            .ready(request, |it| &it.bench, measure_positioning))
    }
}
