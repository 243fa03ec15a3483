//! What several readers share.

use std::path::PathBuf;

use engine::Driver;
use units::Instant;
use workload::{ClientId, Durability, Op, Request, TargetId};

/// Requests that a model carries out after its definition was accepted.
const REQUESTS: u64 = 200;

/// What this process makes in memory lies here.
#[must_use]
pub fn scratch_of_process() -> PathBuf {
    PathBuf::from(format!("/dev/shm/seekstone-fuzz-{}", std::process::id()))
}

/// A directory in memory of this process's own, made anew.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn scratch(name: &str) -> PathBuf {
    let path = scratch_of_process().join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory in /dev/shm");
    path
}

/// The pieces of an input that stands for several files, at lines that begin with `%%`.
#[must_use]
pub fn pieces(text: &str) -> Vec<&str> {
    text.split("%%\n").collect()
}

/// Some reads and writes, four at a time, all over the target: each is answered.
///
/// # Panics
/// When a request is lost.
pub fn exercise(driver: &mut dyn Driver, size: u64) {
    const LEN: u32 = 4096;
    let places = size / u64::from(LEN);
    let (mut submitted, mut done) = (0, Vec::new());
    for number in 0..REQUESTS.min(places) {
        let offset = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % places * u64::from(LEN);
        let (target, len) = (TargetId(0), LEN);
        let op = match number % 4 {
            0 => Op::Write {
                target,
                offset,
                len,
                durability: Durability::Volatile,
            },
            _ => Op::Read {
                target,
                offset,
                len,
            },
        };
        let due = driver.now();
        let request = Request::new(ClientId(0), due, op);
        driver.submit(request).expect("a model takes requests");
        submitted += 1;
        while number % 4 == 3 && done.len() < submitted {
            driver
                .wait(None, &mut done)
                .expect("something is in flight");
        }
        if driver.now() > Instant(u64::MAX / 4) {
            return;
        }
    }
}

/// Every form in which a run is shown or exported.
pub fn report(run: &results::Run, style: &report::Style) {
    let _ = report::check_up(run, style);
    let _ = (report::headline(run), report::markdown(run));
    for measurement in &run.measurements {
        let _ = report::measurement(measurement, style);
        let _ = report::series_svg(&run.target.given, measurement);
    }
    for curve in &run.curves {
        let _ = report::curve_table(curve, style);
        let _ = report::curves_svg("fuzz", &[("one", curve)]);
    }
    let _ = (report::csv_figures(run), report::csv_replicates(run));
    let _ = (report::csv_points(run), report::csv_intervals(run));
    let _ = (report::openmetrics(run), report::line_protocol(run));
    let _ = report::comparison(&[run.clone(), run.clone()], style);
}

/// Read a trace; what is accepted keeps the promises of a record, and is summed up and fitted.
pub fn trace(format: trace::Format, inputs: &[Vec<u8>]) {
    let open = || {
        let inputs = inputs.iter().cloned().map(std::io::Cursor::new);
        let named = inputs.map(|input| ("fuzz".to_owned(), input));
        trace::open(format, named.collect()).expect("as many files as the format has")
    };
    let mut reader = open();
    let mut last = 0;
    while let Ok(Some(record)) = reader.next_record() {
        assert!(record.at >= last, "{record:?} after {last}");
        assert!(
            record.offset.checked_add(record.length).is_some(),
            "{record:?}"
        );
        assert!(record.length > 0 || !record.op.has_extent(), "{record:?}");
        assert!((record.file as usize) < reader.files().len(), "{record:?}");
        last = record.at;
    }
    if let Ok(summary) = trace::summarise(open().as_mut(), || true) {
        let fit = trace::fit(&summary, "fuzz");
        let style = report::Style::default();
        let _ = report::trace_sheet(("fuzz", "fuzz"), &summary, fit.as_ref(), &style);
    }
}
