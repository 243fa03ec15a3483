//! Keys of a disk.

use crate::definition::form::{DefinitionKey, Form, keys, needed, optional, or};
use crate::disk::{
    BufferSpec, DiskLayout, DiskSpec, MeasuredSeekCurve, QueueDiscipline, SeekCurve,
    SeekInterference, Split, ZoneSpec,
};

keys! {
    SECTOR = or("sector", "512", "bytes of a sector, such as 512");
    CAPACITY = optional("capacity", "bytes that can be used, such as \"2014 MiB\"");
    HEADS = needed("heads", "surfaces, such as 4");
    CYLINDERS = needed("cylinders", "how many positions the arm has, such as 6138");
    ZONES = optional("zones",
        "cylinders and sectors of a track from the outer edge on, such as [[1000, 232], [5138, \
         150]]");
    OUTER = needed("sectors-outer", "sectors of the outermost track, such as 232");
    INNER = optional("sectors-inner", "sectors of the innermost track, such as 104");
    ZONE_COUNT = or("zone-count", "1", "zones between outer and inner, such as 8");
    INTERLEAVE = or("interleave", "1", "slots from a sector to the next, such as 2");
    RPM = needed("rpm", "turns per minute, such as 5400");
    SEEK = needed("seek",
        "the law of the arm: \"data-sheet\", \"stretched\", \"sqrt-linear\", \"points\" or \
         \"steps\"");
    SEEK_MIN = needed("seek-min", "the time to the next cylinder, such as \"3 ms\"");
    SEEK_AVG = needed("seek-avg", "the mean time of a seek, such as \"10.5 ms\"");
    SEEK_MAX = needed("seek-max", "the time from end to end, such as \"18 ms\"");
    SEEK_SHAPE = or("seek-shape", "rz26", "whose curve: \"rz26\" or \"hp97560\"");
    SEEK_POINTS = needed("seek-points",
        "measured cylinders and milliseconds in rising order, such as [[1, 1.0], [100, 5.2]]");
    SHORT_BASE = needed("seek-short-base", "a of a + b sqrt(d), such as \"3.24 ms\"");
    SHORT_ROOT = needed("seek-short-root", "b of a + b sqrt(d), such as \"400 us\"");
    LONG_BASE = needed("seek-long-base", "c of c + e d, such as \"8 ms\"");
    LONG_STEP = needed("seek-long-step", "e of c + e d, such as \"8 us\"");
    KNEE = needed("seek-knee", "the distance where seeks become long, such as 383");
    STEP = needed("seek-step", "the time for each cylinder, such as \"3 ms\"");
    SETTLE = needed("seek-settle", "the time to settle, such as \"15 ms\"");
    HEAD_SWITCH = or("head-switch", "0", "from track to track, such as \"2 ms\"");
    CYLINDER_SWITCH = optional("cylinder-switch",
        "from a cylinder's last track to the next cylinder, such as \"3 ms\" (default: the \
         shortest seek)");
    TRACK_SKEW = optional("track-skew",
        "how far tracks are shifted, such as \"1.4 ms\" (default: the head switch)");
    CYLINDER_SKEW = optional("cylinder-skew",
        "how far cylinders are shifted, such as \"4.8 ms\" (default: the cylinder switch)");
    WRITE_SETTLE = or("write-settle", "0", "what a write waits longer, \"1 ms\"");
    OVERHEAD = or("overhead", "0", "the controller's time for a command, \"0.5 ms\"");
    OVERHEAD_WRITE = optional("overhead-write", "the same for a write, if it differs");
    BUS = optional("bus", "bytes per second to the host, such as \"10 MB/s\"");
    SEGMENTS = or("segments", "0", "segments of the buffer, such as 8. 0 for none");
    SEGMENT = or("segment", "64KiB", "bytes of a segment, such as \"16 KiB\"");
    READ_AHEAD = optional("read-ahead", "bytes read ahead (default: a whole segment)");
    WRITE_CACHE = or("write-cache", "0", "bytes of writes that may wait, or 0");
    ORDER = or("order", "fifo", "which command is next: \"fifo\" or \"nearest\"");
    UNITS = needed("units", "how many units a controller makes of it, such as 4");
    SPLIT = or("partition", "cylinders",
        "what each unit has of its own: \"cylinders\" or \"platters\"");
    INTERFERENCE = or("seek-interference", "on",
        "\"on\", or \"off\", against the facts: each client's seeks begin where its own last one \
         ended");
}

/// Parses a disk, or the first unit of one.
pub fn read(form: &mut Form<'_, '_>) -> Option<DiskSpec> {
    let whole = read_whole(form);
    let count = |form: &mut Form<'_, '_>, key: &_| form.count(key, 1..=1024) as u32;
    let splits = [
        ("cylinders", Split::Cylinders),
        ("platters", Split::Platters),
    ];
    let Some(units) = form.whole(|form| form.maybe(&UNITS, count)).flatten() else {
        if form
            .maybe(&SPLIT, |form, key| form.word(key, &splits))
            .is_some()
        {
            count(form, &UNITS);
        }
        return whole;
    };
    let split = form.whole(|form| form.word(&SPLIT, &splits));
    let (split, whole) = (split?, whole?);
    let heads = whole.layout.heads;
    if split == Split::Platters && !heads.is_multiple_of(units) {
        form.disagree(
            &UNITS,
            &HEADS,
            "each unit has as many surfaces as the others",
        );
        return None;
    }
    if split == Split::Cylinders && whole.seek_table().len() < units as usize {
        form.disagree(&UNITS, &CYLINDERS, "each unit has a cylinder at least");
        return None;
    }
    Some(whole.unit(units, split))
}

fn read_whole(form: &mut Form<'_, '_>) -> Option<DiskSpec> {
    let spec = form.whole(|form| {
        let base = form.whole(|form| {
            let sector = form.count(&SECTOR, 64..=65_536);
            (sector, form.count(&HEADS, 1..=1024))
        });
        let zones = read_zones(form);
        let interleave = form.count(&INTERLEAVE, 1..=64) as u32;
        let rpm = form.number(&RPM, 1.0..=1e6);
        let seek = read_seek(form);
        let head_switch = form.span(&HEAD_SWITCH);
        let [cylinder_switch, track_skew, cylinder_skew] =
            [CYLINDER_SWITCH, TRACK_SKEW, CYLINDER_SKEW].map(|key| form.maybe(&key, Form::span));
        let (write_settle, overhead) = (form.span(&WRITE_SETTLE), form.span(&OVERHEAD));
        let overhead_write = form.maybe(&OVERHEAD_WRITE, Form::span);
        let bus = form.maybe(&BUS, Form::rate);
        let buffer = read_buffer(form, base);
        let write_cache = form.size(&WRITE_CACHE);
        let order = form.word(
            &ORDER,
            &[
                ("fifo", QueueDiscipline::Fifo),
                ("nearest", QueueDiscipline::Nearest),
            ],
        );
        let interference = form.word(
            &INTERFERENCE,
            &[("on", SeekInterference::On), ("off", SeekInterference::Off)],
        );
        let capacity = read_capacity(form, zones.as_deref(), base);
        let ((sector, heads), zones, seek) = (base?, zones?, seek?);
        let cylinders = zones.iter().map(|zone| zone.cylinders).sum();
        let shortest = seek.table(cylinders).get(1).copied().unwrap_or(0);
        let cylinder_switch = cylinder_switch.unwrap_or(shortest);
        Some(DiskSpec {
            sector_bytes: sector as u32,
            capacity: capacity?,
            layout: DiskLayout {
                zones,
                heads: heads as u32,
                period: (60e9 / rpm).round() as u64,
                track_skew: track_skew.unwrap_or(head_switch),
                cylinder_skew: cylinder_skew.unwrap_or(cylinder_switch),
                interleave,
            },
            seek,
            head_switch,
            cylinder_switch,
            write_settle,
            overhead_read: overhead,
            overhead_write: overhead_write.unwrap_or(overhead),
            bus,
            buffer: buffer?,
            write_cache,
            order,
            interference,
        })
    });
    spec.flatten()
}

fn read_zones(form: &mut Form<'_, '_>) -> Option<Vec<ZoneSpec>> {
    let cylinders = form.whole(|form| form.count(&CYLINDERS, 1..=1_000_000));
    if let Some(pairs) = form.pairs(&ZONES) {
        let zones: Vec<ZoneSpec> = pairs
            .iter()
            .map(|&(cylinders, sectors)| ZoneSpec {
                cylinders,
                sectors: sectors as u32,
            })
            .collect();
        if zones
            .iter()
            .any(|zone| zone.cylinders == 0 || !(1..=100_000).contains(&zone.sectors))
        {
            form.disagree(
                &ZONES,
                &CYLINDERS,
                "a zone has cylinders, and a track has from 1 to 100000 sectors",
            );
            return None;
        }
        let sum: u64 = zones.iter().map(|zone| u64::from(zone.cylinders)).sum();
        if cylinders.is_some_and(|cylinders| cylinders != sum) {
            form.disagree(
                &ZONES,
                &CYLINDERS,
                format!("the zones have {sum} cylinders"),
            );
            return None;
        }
        return Some(zones);
    }
    let sectors = |form: &mut Form<'_, '_>, key: &_| form.count(key, 1..=100_000);
    let asked = form.whole(|form| {
        let outer = sectors(form, &OUTER);
        let inner = form.maybe(&INNER, sectors).unwrap_or(outer);
        (outer, inner, form.count(&ZONE_COUNT, 1..=1000))
    });
    let ((outer, inner, count), cylinders) = (asked?, cylinders?);
    if inner > outer {
        form.disagree(&INNER, &OUTER, "inner tracks are shorter");
        return None;
    }
    if count > cylinders {
        form.disagree(&ZONE_COUNT, &CYLINDERS, "a zone has a cylinder at least");
        return None;
    }
    Some(linear_zones(outer, inner, count, cylinders))
}

/// Zones of about equally many cylinders, with sectors per track decreasing in even steps.
fn linear_zones(outer: u64, inner: u64, count: u64, cylinders: u64) -> Vec<ZoneSpec> {
    let steps = (count - 1).max(1);
    let zone = |index: u64| ZoneSpec {
        cylinders: ((index + 1) * cylinders / count - index * cylinders / count) as u32,
        sectors: (outer - ((outer - inner) * index + steps / 2) / steps) as u32,
    };
    (0..count).map(zone).collect()
}

units::words! {
    /// How the time of a seek is given.
    #[derive(Clone, Copy)]
    pub enum SeekLaw {
        DataSheet = "data-sheet",
        Stretched = "stretched",
        SqrtLinear = "sqrt-linear",
        Points = "points",
        Steps = "steps",
    }
}

fn read_seek(form: &mut Form<'_, '_>) -> Option<SeekCurve> {
    let laws = SeekLaw::ALL.map(|law| (law.name(), law));
    let law = form.whole(|form| form.word(&SEEK, &laws))?;
    match law {
        SeekLaw::DataSheet => {
            let keys = [SEEK_MIN, SEEK_AVG, SEEK_MAX];
            let [min, avg, max] = form.whole(|form| keys.map(|key| form.span(&key)))?;
            if min > avg {
                form.disagree(
                    &SEEK_MIN,
                    &SEEK_AVG,
                    "the shortest seek is longer than the mean",
                );
            } else if avg > max {
                form.disagree(
                    &SEEK_AVG,
                    &SEEK_MAX,
                    "the mean seek is longer than the longest",
                );
            }
            let (min, avg, max) = (min as f64, avg as f64, max as f64);
            Some(SeekCurve::Lee { min, avg, max })
        }
        SeekLaw::Stretched => read_stretched(form),
        SeekLaw::SqrtLinear => form.whole(|form| SeekCurve::SqrtLinear {
            a: form.span(&SHORT_BASE) as f64,
            b: form.span(&SHORT_ROOT) as f64,
            c: form.span(&LONG_BASE) as f64,
            e: form.span(&LONG_STEP) as f64,
            knee: form.count(&KNEE, 1..=1_000_000) as u32,
        }),
        SeekLaw::Points => read_points(form),
        SeekLaw::Steps => form.whole(|form| SeekCurve::Steps {
            step: form.span(&STEP) as f64,
            settle: form.span(&SETTLE) as f64,
        }),
    }
}

fn read_stretched(form: &mut Form<'_, '_>) -> Option<SeekCurve> {
    let shapes = [
        ("rz26", MeasuredSeekCurve::Rz26),
        ("hp97560", MeasuredSeekCurve::Hp97560),
    ];
    form.whole(|form| {
        let shape = form.word(&SEEK_SHAPE, &shapes);
        let (min, max) = (form.span(&SEEK_MIN), form.span(&SEEK_MAX));
        // What a data sheet says besides is kept for the reader.
        if form.has(&SEEK_AVG) {
            form.span(&SEEK_AVG);
        }
        if min > max {
            let why = "the shortest seek is longer than the longest";
            form.disagree(&SEEK_MIN, &SEEK_MAX, why);
        }
        let (min, max) = (min as f64, max as f64);
        SeekCurve::Stretched { shape, min, max }
    })
}

fn read_points(form: &mut Form<'_, '_>) -> Option<SeekCurve> {
    if !form.has(&SEEK_POINTS) {
        // Reports that it is missing.
        form.text(&SEEK_POINTS);
        return None;
    }
    let points = form.pairs(&SEEK_POINTS)?;
    let rises = |pair: &[(u32, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
    if points[0].0 == 0 || !points.windows(2).all(rises) {
        form.disagree(
            &SEEK_POINTS,
            &SEEK,
            "points begin at 1 cylinder or more, and rise",
        );
        return None;
    }
    let points = points.into_iter().map(|(d, ms)| (d, ms * 1e6));
    Some(SeekCurve::Points(points.collect()))
}

fn read_buffer(form: &mut Form<'_, '_>, base: Option<(u64, u64)>) -> Option<Option<BufferSpec>> {
    form.whole(|form| {
        let segments = form.count(&SEGMENTS, 0..=1024);
        let segment = form.size_in(&SEGMENT, 512..=1 << 30);
        let read_ahead = form.maybe(&READ_AHEAD, Form::size).unwrap_or(segment);
        if read_ahead > segment {
            let why = "what is read ahead must fit into a segment";
            form.disagree(&READ_AHEAD, &SEGMENT, why);
        }
        let (sector, _) = base.filter(|_| segments > 0)?;
        Some(BufferSpec {
            segments: segments as u32,
            segment_sectors: segment / sector,
            read_ahead: read_ahead / sector,
        })
    })
}

fn read_capacity(
    form: &mut Form<'_, '_>,
    zones: Option<&[ZoneSpec]>,
    base: Option<(u64, u64)>,
) -> Option<u64> {
    let stated = form
        .whole(|form| form.maybe(&CAPACITY, Form::size))
        .flatten();
    let tracks = zones?.iter();
    let sectors: u64 = tracks
        .map(|zone| u64::from(zone.cylinders) * u64::from(zone.sectors))
        .sum();
    let (sector, heads) = base?;
    let laid_out = sectors * heads * sector;
    let Some(stated) = stated else {
        return Some(laid_out);
    };
    let is_close = stated <= laid_out && stated as f64 >= 0.9 * laid_out as f64;
    if !is_close {
        let why = format!(
            "cylinders, heads and sectors make {laid_out} bytes. Up to 10 % less may be stated"
        );
        form.disagree(&CAPACITY, &CYLINDERS, why);
        return None;
    }
    Some(stated)
}
