//! Developer commands.
//!
//! `cargo xtask tidy` checks what no compiler does; `cargo xtask bench` measures us beside fio;
//! `cargo xtask tables` writes the tables of docs/devices.md anew; `cargo xtask files-table`
//! remeasures the table of docs/files.md.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod files_table;
mod layers;
mod source;
mod tables;
mod tidy;
mod warnings;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::tidy(),
        ["tables"] => tables::tables(),
        ["bench", options @ ..] => bench::bench(options),
        ["files-table", options @ ..] => files_table::files_table(options),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy | cargo xtask tables | cargo xtask bench [--tiny] \
                 [--rounds N] | cargo xtask files-table [--budget TIME] [--program PATH]"
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
