//! `seekstone io500`: IO500's phases, score and files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hpc::{Io500Config, io500_result, io500_summary};
use kinds::files::{Io500Outcome, Io500Request, measure_io500};
use lab::bench::{BenchError, BenchRequest};
use lab::hosts::TargetSharing;
use results::{Run, Setup};
use units::{Bytes, TargetName};

use crate::args::Io500Args;
use crate::commands::drive::Ready;
use crate::commands::measuring::{CommandOutline, MeasuringCommand};
use crate::commands::setup::{recorded_text, seeded};
use crate::exit::UsageError;
use crate::output;

/// How large a configuration is at most, and what it is called.
const CONFIG: (Bytes, &str) = (Bytes::from_mib(1), "a configuration of IO500");

impl MeasuringCommand for Io500Args {
    fn outline(&self) -> CommandOutline<'_> {
        CommandOutline::of(&self.common, [], TargetSharing::Never)
            .dealt("--clients", "client", self.clients)
            .reads([self.config.clone()])
    }

    fn ready(&self, mut setup: Setup) -> anyhow::Result<Ready<'_>> {
        let text = recorded_text(&self.config, CONFIG, &mut setup)?;
        let config = Io500Config::read(&text)
            .map_err(|why| UsageError(format!("{}: {why}", self.config.display())))?;
        let results_directory = config.results.clone();
        let clients = self.clients.unwrap_or_else(|| self.common.rank_count());
        setup.resolve("clients", [clients.to_string()]);
        seeded(self.common.seed, &mut setup);
        let bench = BenchRequest {
            reserve: self.reserve,
            ranks: self.common.ranks.clone(),
            ..BenchRequest::new(TargetName::from(config.data.as_str()), "IO500", setup)
        };
        let request = Io500Request {
            bench: bench.clone(),
            clients,
            config,
        };
        Ok(Ready {
            // Nothing of it is kept against a kill.
            cells: None,
            ..Ready::on(&self.common, &bench, move |looking| {
                let mut found = None;
                let (run, mut delivery) = looking.watch(|interrupt, show| {
                    let outcome = measure_io500(&request, interrupt, show)?;
                    let Io500Outcome {
                        run,
                        results,
                        reasons,
                    } = outcome;
                    found = Some((results, reasons));
                    Ok::<_, BenchError>(run)
                })?;
                let (results, reasons) = found.expect("it was measured");
                let summary = io500_summary(&results, &reasons);
                let printed = summary.clone();
                let report = delivery.show;
                delivery.show = Box::new(move |run, is_free| {
                    if is_free {
                        output::print(&printed)?;
                    }
                    report(run, is_free)
                });
                let delivery = delivery.and_after(move |run| {
                    let result = io500_result(host::VERSION, &results, &reasons);
                    let files = [("result.txt", &result), ("result_summary.txt", &summary)];
                    let directory = written(&results_directory, run, &files)?;
                    output::complain(&format!("Wrote {}", directory.display()));
                    Ok(())
                });
                Ok((run, delivery))
            })
        })
    }
}

/// Write result files into a directory below `results`, named after when the run began.
fn written(results: &str, run: &Run, files: &[(&str, &String)]) -> anyhow::Result<PathBuf> {
    let began = run.environment.started_at.replace(':', ".");
    let directory = Path::new(results).join(began);
    let failed = || format!("result files cannot be written to {}", directory.display());
    fs::create_dir_all(&directory).with_context(failed)?;
    for (name, text) in files {
        fs::write(directory.join(name), text).with_context(failed)?;
    }
    Ok(directory)
}
