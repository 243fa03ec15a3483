//! `seekstone replay`: a recorded trace on another storage.

use kinds::replay::{ReplayRequest, TraceFile, measure_replay};
use kinds::stage::Show;
use results::{ReplayPace, Setup};

use crate::args::{DEPTH_FAST, ReplayArgs, TraceFormat};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::bench_request;
use crate::commands::trial::caching;

impl MeasuringCommand for ReplayArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
            .dealt("--depth", "request", self.depth_known())
            .reads([self.trace.clone()])
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        let bench = bench_request(
            &self.target,
            "replay",
            self.size,
            caching(self.buffered),
            &self.reach,
            (&self.common, setup),
        )?;
        let format = self.format.map(TraceFormat::format);
        let request = ReplayRequest {
            bench,
            trace: TraceFile::find(&self.trace, format, self.devices.clone())?,
            pace: match self.as_fast_as_possible {
                true => ReplayPace::Fast {
                    depth: self.depth.unwrap_or(DEPTH_FAST),
                },
                false => ReplayPace::Recorded {
                    scale: self.scale.0,
                },
            },
            depth: self.depth,
            fit: self.fit.fit(),
            duration: self.duration,
        };
        let bench = request.bench.clone();
        let measure =
            move |interrupt: &_, show: Show<'_>| measure_replay(&request, interrupt, show);
        Ok(Ready::new(&self.common, &bench, measure))
    }
}
