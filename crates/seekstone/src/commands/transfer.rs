//! `seekstone transfer`: transfer rates, pass by pass.

use drivers::{Caching, Checking};
use kinds::transfer::{Sharing, TransferRequest, measure_transfer};
use lab::bench::BenchRequest;
use lab::simulated::has_file_cache;
use lab::simulated::keep_texts;
use procedure::{OfferedRow, OnError, RoundsRule};
use results::{Setup, TransferMode};
use units::Bytes;

use crate::args::{CheckChoice, EngineArgs, Reach, TransferArgs};
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::exit::UsageError;

/// The longest operation.
const BLOCK_MAX: u64 = 1 << 30;
/// The most passes of a series that does not become precise.
const PASSES_MAX: u32 = 1000;

impl MeasuringCommand for TransferArgs {
    fn outline(&self) -> CommandOutline<'_> {
        let targets = self.beside.iter().chain([&self.target]);
        let is_small = self.mode == Some(TransferMode::SmallFile);
        let outline = CommandOutline::of(&self.common, targets, self.sharing)
            .alone(
                self.beside.is_some(),
                "--beside compares two targets of one host",
            )
            .alone(is_small, "--mode small-file looks for one host's memory")
            .dealt("--streams", "stream", self.streams);
        match has_two_series(self) {
            true => outline.rows(["write", "read"].map(|it| OfferedRow::Named(it.into()))),
            false => outline,
        }
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let args = self;
        setup.resolve("streams", [args.streams().to_string()]);
        check_together(args)?;
        let mode = mode(args);
        if mode == TransferMode::Direct {
            setup.resolve("mode", ["direct".to_owned()]);
        }
        if let Some(beside) = &args.beside {
            keep_texts(beside, &mut setup);
        }
        let caching = match mode {
            TransferMode::Direct | TransferMode::Simulated => Caching::Direct,
            _ => Caching::Buffered,
        };
        let engine = &args.engine;
        let reach = Reach {
            reserve: args.reserve,
            overwrite: false,
            confirm: None,
            engine: EngineArgs {
                // One operation of a stream is outstanding at a time.
                batch: engine.batch.or(Some(1)),
                workers: engine.workers.or(Some(1)),
                ..engine.clone()
            },
        };
        let mut bench = reach.bench(&args.target, "transfer rates", &args.common, setup)?;
        bench.size = args.size;
        bench.storage.caching = caching;
        let beside = args.beside.as_ref().map(|target| BenchRequest {
            target: target.clone(),
            ..bench.clone()
        });
        let request = TransferRequest {
            bench,
            beside,
            mode,
            blocks: blocks(&args.blocks)?,
            streams: args.streams(),
            sharing: if args.same_file {
                Sharing::SameFile
            } else {
                Sharing::OwnFiles
            },
            alone: args.compare_alone,
            rule: RoundsRule {
                rounds: args.passes,
                precision: args.precision,
                rounds_min: 1,
                rounds_max: PASSES_MAX,
                budget: args.budget,
            },
            check: checking(args.check),
        };
        Ok(args.common.ready(request, |it| &it.bench, measure_transfer))
    }
}

const fn checking(choice: CheckChoice) -> Option<Checking> {
    match choice {
        CheckChoice::None => None,
        CheckChoice::Last => Some(Checking::LastStamp),
        CheckChoice::Block => Some(Checking::WholeBlock),
    }
}

fn check_together(args: &TransferArgs) -> Result<(), UsageError> {
    let is_one = args.streams() == 1;
    let problem = if args.engine.errors == OnError::Count {
        "--errors count: a pass moves all of a file, or there is none. Leave it out"
    } else if args.same_file && is_one {
        "--same-file applies to several streams: add --streams N"
    } else if args.compare_alone && is_one && args.beside.is_none() {
        "--compare-alone compares several streams: add --streams N or --beside TARGET"
    } else if args.mode == Some(TransferMode::SmallFile) && (!is_one || args.beside.is_some()) {
        "--mode small-file reads a single file: leave --streams and --beside out"
    } else {
        return Ok(());
    };
    Err(UsageError(problem.into()))
}

fn mode(args: &TransferArgs) -> TransferMode {
    let is_model = args.target.is_model();
    match args.mode {
        None if is_model => TransferMode::Simulated,
        // All that a model with a file cache reads and writes goes through it.
        Some(TransferMode::Buffered) if has_file_cache(&args.target) => TransferMode::Simulated,
        asked => asked.unwrap_or(TransferMode::Direct),
    }
}

fn blocks(asked: &[Bytes]) -> Result<Vec<u32>, UsageError> {
    let mut blocks = Vec::new();
    for block in asked {
        let len = u32::try_from(block.as_u64()).ok();
        let len = len.filter(|&len| u64::from(len) <= BLOCK_MAX);
        let len = len.ok_or_else(|| UsageError(format!("--block {block}: at most 1 GiB")))?;
        if blocks.contains(&len) {
            refuse!("--block names {block} twice");
        }
        blocks.push(len);
    }
    Ok(blocks)
}

/// Whether a transfer is one write and reads of one kind, whose rows are `write` and `read`.
fn has_two_series(args: &TransferArgs) -> bool {
    let [_] = args.blocks.as_slice() else {
        return false;
    };
    let is_growing = matches!(args.mode, Some(TransferMode::SmallFile));
    !args.compare_alone && !is_growing
}
