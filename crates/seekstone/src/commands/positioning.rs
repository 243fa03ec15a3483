//! `seekstone positioning`: times to the first record of files that are opened in random order.

use kinds::positioning::{PositioningRequest, Published, measure_positioning};
use lab::cells::Cells;
use lab::simulated::keep_texts;
use results::Setup;

use crate::args::{PositioningArgs, RankSharing};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::seeded;
use crate::exit::UsageError;

/// The longest record.
const RECORD_MAX: u64 = 1 << 30;

impl MeasuringCommand for PositioningArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], RankSharing { shared: false })
            .for_hosts(false)
            .drawn(None)
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        if self.record.0 > RECORD_MAX {
            let text = format!("--record {}: at most 1 GiB", self.record);
            return Err(UsageError(text).into());
        }
        seeded(self.common.seed, &mut setup);
        keep_texts(&self.target, &mut setup);
        let request = PositioningRequest {
            target: self.target.clone(),
            files: self.files,
            record: self.record,
            rounds: self.rounds,
            budget: self.budget,
            bin: self.bin,
            published: match self.published {
                true => Published::Dlt2000,
                false => Published::Nothing,
            },
            setup,
            cells: Cells::default(),
        };
        Ok(Ready {
            common: &self.common,
            goals: self.common.goals.clone(),
            places: Vec::new(),
            setup: request.setup.clone(),
            cells: Some(request.cells.clone()),
            measure: Box::new(move |looking| {
                looking.watch(|interrupt, show| measure_positioning(&request, interrupt, show))
            }),
        })
    }
}
