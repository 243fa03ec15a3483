//! The command: round by round on a simulated device, with a histogram of the times.

use procedure::{positioning_found, wider_bin};
use results::{Positioning, PublishedPositioning};
use units::{Bytes, Duration, TargetName};

use super::filled::FilledModel;
use super::kp3;
use host::interrupt::Interrupt;
use lab::bench::BenchError;

/// The model of the drive that times are published of.
const PUBLISHED_MODEL: &str = "dlt2000";

/// What is asked for, as resolved from the command line.
#[derive(Clone, Debug)]
pub struct PositioningRequest {
    /// A model.
    pub target: TargetName,
    /// Files, which fill the target.
    pub files: u32,
    /// Bytes of the first record.
    pub record: Bytes,
    /// How often all are opened.
    pub rounds: u32,
    /// Width of a bin.
    pub bin: Option<Duration>,
    /// Whether the published times of a DLT2000 stand beside.
    pub published: Published,
    /// Seed of the orders.
    pub seed: u64,
}

/// Which published times stand beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// None.
    Nothing,
    /// Those of 91 files on a DLT2000.
    Dlt2000,
}

/// Open all files, round by round; `show` is told how many rounds are done. What was done when a
/// signal came is summed up.
///
/// # Errors
/// When nothing could be measured.
pub fn measure_positioning(
    request: &PositioningRequest,
    interrupt: &Interrupt,
    show: &mut dyn FnMut(u32),
) -> Result<Positioning, BenchError> {
    let usage = |text: String| Err(BenchError::Usage(text));
    let published_of = TargetName::of_model(PUBLISHED_MODEL);
    let Some(target) = request.target.model() else {
        return usage(format!(
            "{}: files are laid out on simulated devices only, as in {published_of}",
            request.target
        ));
    };
    let is_published = target.split('?').next() == Some(published_of.as_str());
    if request.published == Published::Dlt2000 && !is_published {
        return usage(format!(
            "{target}: times are published for {published_of} only. Leave --published out"
        ));
    }
    let mut model = FilledModel::open(target, request.files, request.record, request.seed)?;
    model.plan.bin = match request.published {
        Published::Nothing => request.bin,
        Published::Dlt2000 => Some(Duration::from_secs(kp3::POSITIONING_BIN_S)),
    };
    let mut rounds = Vec::new();
    for round in 0..request.rounds {
        if let Some(signal) = interrupt.is_raised() {
            if rounds.is_empty() {
                return Err(BenchError::Interrupted {
                    signal: signal.name.into(),
                });
            }
            break;
        }
        show(round);
        let times = model.round(round)?;
        let bin = model.plan.bin;
        if let Some((bin, wider)) = bin.and_then(|bin| Some((bin, wider_bin(bin, &times)?))) {
            return usage(format!(
                "--bin {bin}: that makes more than a thousand bins. {wider} would do here"
            ));
        }
        rounds.push(times);
    }
    let mut found = positioning_found(target, &model.plan, &rounds);
    found.published = published(request.published);
    Ok(found)
}

fn published(which: Published) -> Option<PublishedPositioning> {
    (which == Published::Dlt2000).then(|| PublishedPositioning {
        source: kp3::POSITIONING_SOURCE.into(),
        mean_ns: kp3::POSITIONING_MEAN_MS * 1_000_000,
        bins: kp3::POSITIONING_BINS.to_vec(),
    })
}
