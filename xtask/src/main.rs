//! Developer commands.
//!
//! `cargo xtask tidy` checks what no compiler does; `cargo xtask suite` runs all tests,
//! `cargo xtask suite --scratch DIR` does so with their files there,
//! `cargo xtask suite --slowest N` says which cost most;
//! `cargo xtask bench` measures us beside fio, `cargo xtask bench build` the build,
//! `cargo xtask bench web` what those who look at a run cost it;
//! `cargo xtask tables` writes docs/evidence/device-tables.md anew, `cargo xtask schema` the
//! JSON Schema, `cargo xtask metrics` docs/metrics.md; `cargo xtask files-table`
//! remeasures docs/evidence/file-systems.md.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bench_build;
mod bench_web;
mod files_table;
mod house_words;
mod layers;
mod metrics;
mod package;
mod readers;
mod schema;
mod slowest;
mod source;
mod suite;
mod tables;
mod target_names;
mod tidy;
mod type_names;
mod warnings;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::tidy(),
        ["suite"] => suite::suite(),
        ["suite", "--scratch", folder] => suite::suite_in(folder),
        ["suite", "--slowest", count] => match count.parse() {
            Ok(count) => slowest::slowest(count),
            Err(_) => Err(anyhow::anyhow!("--slowest {count}: how many tests?")),
        },
        ["tables"] => tables::tables(),
        ["schema"] => schema::schema(),
        ["metrics"] => metrics::metrics(),
        ["package", options @ ..] => package::package(options),
        ["bench", "build"] => bench_build::bench_build(),
        ["bench", "web", options @ ..] => bench_web::bench_web(options),
        ["bench", options @ ..] => bench::bench(options),
        ["files-table", options @ ..] => files_table::files_table(options),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy | cargo xtask suite [--scratch DIR | --slowest N] | \
                 cargo xtask tables | cargo xtask schema | cargo xtask metrics | \
                 cargo xtask bench [--tiny] [--rounds N] | \
                 cargo xtask bench build | cargo xtask bench web [--tiny] [--rounds N] | \
                 cargo xtask files-table [--budget TIME] [--program PATH] | \
                 cargo xtask package [--binary PATH] [--target TRIPLE] [--out DIRECTORY]"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
