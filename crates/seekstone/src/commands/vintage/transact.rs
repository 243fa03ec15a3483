//! `seekstone transact`: one control thread by itself.

use anyhow::Context as _;
use host::interrupt::Interrupt;
use vintage::rpt::log::LogEntry;
use vintage::rpt::{Transact, general};
use vintage::run::{Detail, IoDetail, SoloReport, SoloRequest, run_solo};
use workload::Op;

use crate::args::TransactArgs;
use crate::commands::vintage::rpt::{access, in_words};
use crate::commands::vintage::status::FillingTenths;
use crate::exit::{Exit, UsageError};
use crate::output;

/// The verbosity that shows each I/O with its waiting, and ends after the first message.
const VERY_FINE: i64 = 4;
/// The verbosity that shows each I/O.
const FINE: i64 = 3;

/// Run one control thread.
///
/// # Errors
/// When a switch is wrong, the data file cannot be used, an I/O fails, or a signal comes.
pub fn transact(args: &TransactArgs) -> anyhow::Result<Exit> {
    let mut transact = Transact::default();
    for (flag, value) in switches(args) {
        transact
            .set(flag, value)
            .map_err(|reason| UsageError(format!("{flag}: {reason}")))?;
    }
    if transact.control_threads == 0 {
        refuse!("-C is missing: say into how many parts the data file is divided, such as -C 1");
    }
    let verbose = transact.verbose;
    let interrupt = Interrupt::install().context("cannot set up signal handling")?;
    let request = SoloRequest {
        messages: match verbose {
            VERY_FINE => Some(1),
            _ => args.messages,
        },
        detail: if verbose >= FINE {
            Detail::EachIo
        } else {
            Detail::Messages
        },
        transact,
        access: access(&args.reach),
    };
    let quiet = args.reach.quiet;
    let mut filling = FillingTenths::new(quiet);
    let mut filling = |done, all| filling.show(done, all);
    let mut show = |report: &SoloReport<'_>| {
        match report {
            SoloReport::Note(text) if !quiet => output::complain(text),
            SoloReport::Note(_) => {}
            SoloReport::Message(message) => {
                let _ = output::print(LogEntry::Message(**message).render().trim_start());
            }
            SoloReport::Io(at, detail) => {
                let _ = output::print(&io_line(*at, detail, verbose == VERY_FINE));
            }
        }
        Ok(())
    };
    run_solo(&request, &interrupt, &mut filling, &mut show).map_err(in_words)?;
    Ok(Exit::Done)
}

/// One I/O: when it ended, what it was, where, how much, and the time that it took; in very fine
/// detail also how long it waited after it was due, and for being handed over.
fn io_line(at: f64, detail: &IoDetail, is_very_fine: bool) -> String {
    let (letter, offset, len) = match detail.op {
        Op::Write { offset, len, .. } => ('w', offset, len),
        Op::Read { offset, len, .. } => ('r', offset, len),
        _ => ('?', 0, 0),
    };
    let xfer = general(detail.xfer);
    let line = format!("{at:.6} {letter} {offset} {len}  {xfer}");
    if is_very_fine {
        let (wait, seek) = (general(detail.wait), general(detail.seek));
        return format!("{line}  wait {wait} seek {seek}");
    }
    line
}

/// The switches with their values.
fn switches(args: &TransactArgs) -> Vec<(&'static str, &str)> {
    let mut switches = vec![
        ("-a", &args.access_mode),
        ("-b", &args.block_size),
        ("-c", &args.control_thread),
        ("-C", &args.control_threads),
        ("-i", &args.io_offset),
        ("-I", &args.io_size),
        ("-n", &args.nios),
        ("-r", &args.reads),
        ("-w", &args.writes),
        ("-s", &args.spatial_scale),
        ("-S", &args.spatial),
        ("-t", &args.time_scale),
        ("-T", &args.time),
        ("-f", &args.data_file),
        ("-v", &args.verbose),
    ];
    switches.extend(args.data_size.as_ref().map(|size| ("-B", size)));
    switches
        .into_iter()
        .map(|(flag, value)| (flag, value.as_str()))
        .collect()
}
