//! `seekstone random`: service times of random access.

use kinds::random_access::{RandomRequest, measure_random};
use lab::simulated::has_file_cache;
use procedure::{RandomOptions, RandomShape, TRIAL_MIN};
use results::{RandomKind, Setup};
use units::{Bytes, Duration};
use workload::Durability;

use crate::args::{CELL_TIME, FilePart, RANDOM_BUDGET, RandomArgs};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::trial::caching;
use crate::exit::UsageError;

/// The longest operation.
const BLOCK_MAX: Bytes = Bytes::from_gib(1);

impl MeasuringCommand for RandomArgs {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [&self.target], self.sharing)
    }

    fn ready(&self, setup: Setup) -> anyhow::Result<Ready<'_>> {
        check(self)?;
        let mut bench = self
            .reach
            .bench(&self.target, "random access", &self.common, setup)?;
        bench.size = self.size;
        bench.storage.caching = caching(self.buffered);
        let target = [&self.target];
        let options = RandomOptions {
            rounds: self.rounds,
            precision: self.precision,
            trial_max: CELL_TIME.fit(self.max_time, target, &mut bench.setup),
            warm_up: self.warm_up,
            budget: RANDOM_BUDGET.fit(self.budget, target, &mut bench.setup),
            durability: if self.durable {
                Durability::Synced
            } else {
                Durability::Volatile
            },
            seed: bench.storage.seed,
        };
        let request = RandomRequest {
            bench,
            shape: shape(self),
            writes_are_asked: self.writes || self.durable,
            options,
        };
        Ok(self.common.ready(request, |it| &it.bench, measure_random))
    }
}

fn check(args: &RandomArgs) -> Result<(), UsageError> {
    if let Some(block) = args.blocks.iter().find(|&&block| block > BLOCK_MAX) {
        refuse!("--blocks {block}: at most {BLOCK_MAX}");
    }
    let least = TRIAL_MIN + args.warm_up.unwrap_or(Duration::ZERO);
    if args.max_time < least {
        let warm_up = args.warm_up.map(|it| format!(" with --warm-up {it}"));
        let warm_up = warm_up.unwrap_or_default();
        refuse!(
            "--max-time {}: a cell{warm_up} needs at least {least}",
            args.max_time
        );
    }
    if args.buffered && args.target.is_model() && !has_file_cache(&args.target) {
        refuse!("--buffered: this model has no file cache. Leave it out");
    }
    Ok(())
}

fn shape(args: &RandomArgs) -> RandomShape {
    let kinds = if args.reads {
        vec![RandomKind::Read]
    } else if args.writes {
        vec![RandomKind::Write]
    } else {
        vec![RandomKind::Read, RandomKind::Write]
    };
    let spans = args.spans.iter().map(|part| match part {
        FilePart::First(bytes) => Some(*bytes),
        FilePart::Whole => None,
    });
    RandomShape {
        kinds,
        spans: given(spans.collect()),
        blocks: given(args.blocks.clone()),
        depths: given(args.depths.clone()),
        is_crossed: args.cross,
    }
}

fn given<T>(values: Vec<T>) -> Option<Vec<T>> {
    (!values.is_empty()).then_some(values)
}
