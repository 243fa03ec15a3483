//! How long a first record took, as bars.

use results::{Positioning, Unit};
use units::{Bytes, format_count, format_duration_ns};

use super::over_time::SECOND;
use crate::plot::axis::AxisScale;
use crate::plot::{Extent, PlaceLook, Plot, PlotPoint, Series, SideOf};

/// How much of a bin the bars in it take together.
const BAR_SHARE: f64 = 0.8;

/// The histogram of times to a first record as a file, with what a document found beside it.
#[must_use]
pub fn positioning_svg(found: &Positioning) -> String {
    let ours = format!(
        "simulated: mean {} ({} .. {}). Bars: 95 % of {} rounds",
        format_duration_ns(found.mean.value),
        format_duration_ns(found.mean.low),
        format_duration_ns(found.mean.high),
        format_count(f64::from(found.rounds))
    );
    let counts = found.bins.iter().map(|bin| Extent::of(*bin, 1.0));
    let mut shown: Vec<(String, Vec<Extent>)> = vec![(ours, counts.collect())];
    if let Some(published) = &found.published {
        let mean = format_duration_ns(published.mean_ns as f64);
        let counts = published.bins.iter();
        let counts = counts.map(|&count| Extent::exact(f64::from(count)));
        shown.push((
            format!("published: mean {mean}, one round"),
            counts.collect(),
        ));
    }
    let width = found.bin_ns as f64 / SECOND;
    let each = width * BAR_SHARE / shown.len() as f64;
    let series = shown.iter().enumerate().map(|(part, (name, counts))| {
        let places = counts.iter().enumerate().map(|(bin, &height)| {
            let low = (bin as f64 + 0.5 * (1.0 - BAR_SHARE)) * width + part as f64 * each;
            let (value, high) = (low + 0.5 * each, low + each);
            let at = [Extent { value, low, high }, height];
            PlotPoint::new(at, format_count(height.value))
        });
        Series {
            look: PlaceLook::Bars,
            ..Series::joined(name, places)
        }
    });
    let sides = [
        ("time to the first record, s", AxisScale::FromZero),
        ("files of one round", AxisScale::Fitting),
    ];
    let sides = sides.map(|(name, scale)| SideOf {
        name,
        unit: Unit::Count,
        scale,
    });
    let title = format!(
        "{}: time to the first record of {} files of {}",
        found.target,
        found.files,
        Bytes(found.file_bytes).decimal()
    );
    let plot = Plot::new(sides, series.collect(), Vec::new());
    plot.titled(title, "").file()
}
