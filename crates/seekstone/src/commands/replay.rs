//! `seekstone replay`: a recorded trace on another storage.

use kinds::replay::{ReplayRequest, TraceFile, measure_replay};
use results::{ReplayPace, Setup};

use crate::args::{DEPTH_FAST, ReplayArgs};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::trial::caching;

impl MeasuringCommand for ReplayArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .dealt("--depth", "request", self.depth_known())
            .reads([self.trace.clone()])
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let mut bench = self
            .reach
            .bench(&self.target, "replay", &self.common, setup)?;
        bench.size = self.size;
        bench.storage.caching = caching(self.buffered);
        let request = ReplayRequest {
            bench,
            trace: TraceFile::find(&self.trace, self.format, self.devices.clone())?,
            pace: match self.as_fast_as_possible {
                true => ReplayPace::Fast {
                    depth: self.depth.unwrap_or(DEPTH_FAST),
                },
                false => ReplayPace::Recorded {
                    scale: self.scale.0,
                },
            },
            depth: self.depth,
            fit: self.fit,
            duration: self.duration,
        };
        Ok(self.common.ready(request, |it| &it.bench, measure_replay))
    }
}
