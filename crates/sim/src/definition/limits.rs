//! Keys of a device's limits: shingles, burst credits, the SLC cache of a consumer SSD, heat.

use crate::burst::{BurstLimits, LIMITS, parse_left};
use crate::definition::form::{DefinitionKey, Form, keys, needed, optional, or};
use crate::shingled::{ShinglesSpec, Shingling};
use crate::ssd::{DeviceLimits, HeatSpec, SlcCacheSpec};

keys! {
    IO_SIZE = optional("io-size", "what one operation moves for one credit, such as \"256 KiB\"");
    CREDITS = or("credits", "100%",
        "the share of each bucket that is there at the start, such as \"5%\"");
    // Shingles.
    SHINGLES = optional("shingles",
        "who keeps the order of writes: \"host-aware\", \"drive-managed\"");
    BAND = or("band", "32 MiB", "bytes written in order, such as \"32 MiB\"");
    MEDIA_CACHE = or("media-cache", "20 GB", "bytes for other writes, \"20 GB\"");
    CLEANS_AFTER = or("cleans-after", "1s",
        "without a command before bands are cleaned, such as \"1 s\"");
    // The SLC cache.
    SLC_CACHE = optional("slc-cache",
        "bytes of writes that one-bit cells take at their rate, such as \"42 GB\"");
    SLC_RATE = needed("slc-rate", "of writing them, such as \"520 MB/s\"");
    RATE_PAST = needed("slc-past", "of writing all else, such as \"80 MB/s\"");
    SLC_EMPTYING = or("slc-emptying", "80 MB/s",
        "at which they are emptied while nobody writes, such as \"80 MB/s\"");
    SLC_IDLE = or("slc-idle", "1s", "without a write before that begins, such as \"1 s\"");
    // Heat.
    HEAT = optional("heat-per-gib", "degrees that a GiB adds, such as 0.5");
    COOLING = needed("cooling", "its time constant, such as \"2 min\"");
    AMBIENT = or("ambient", "40", "degrees around it, such as 40");
    THROTTLE_AT = or("throttle-at", "70", "degrees at which its rate is cut");
    THROTTLE_BELOW = or("throttle-below", "65", "degrees at which it is given back");
    THROTTLE_RATE = needed("throttle-rate", "while it is cut, such as \"200 MB/s\"");
}

/// Parses the limits of a device.
pub fn read(form: &mut Form<'_, '_>) -> Option<DeviceLimits> {
    let shingles = shingles(form);
    let (burst, slc, heat) = (burst(form), slc(form), heat(form));
    Some(DeviceLimits {
        shingles: shingles?,
        burst: burst?,
        slc: slc?,
        heat: heat?,
    })
}

fn burst(form: &mut Form<'_, '_>) -> Option<BurstLimits> {
    let mut limits = Vec::new();
    let mut is_read = true;
    for limit in &LIMITS {
        let key = optional(limit.name, limit.meaning);
        if form.has(&key) {
            let read = form.read(&key, |text| limit.parse(text).ok());
            is_read &= read.is_some();
            limits.extend(read.map(|read| (limit, read)));
        } else {
            form.knows(&key);
        }
    }
    if limits.is_empty() && is_read {
        form.knows(&IO_SIZE);
        form.knows(&CREDITS);
        return Some(BurstLimits::default());
    }
    let io_size =
        form.whole(|form| form.maybe(&IO_SIZE, |form, key| form.size_in(key, 512..=1 << 30)));
    let left = form.read(&CREDITS, |text| parse_left(text).ok());
    is_read.then_some(BurstLimits::new(limits, io_size?, left?))
}

fn shingles(form: &mut Form<'_, '_>) -> Option<Option<ShinglesSpec>> {
    let words = [
        ("host-aware", Shingling::HostAware),
        ("drive-managed", Shingling::DriveManaged),
    ];
    let keys = [SHINGLES, BAND, MEDIA_CACHE, CLEANS_AFTER];
    form.part(&keys, |form| ShinglesSpec {
        shingling: form.word(&SHINGLES, &words),
        band: form.size_in(&BAND, 1 << 16..=1 << 40),
        cache: form.size_in(&MEDIA_CACHE, 1 << 20..=1 << 40),
        idle: form.span(&CLEANS_AFTER),
    })
}

fn slc(form: &mut Form<'_, '_>) -> Option<Option<SlcCacheSpec>> {
    let keys = [SLC_CACHE, SLC_RATE, RATE_PAST, SLC_EMPTYING, SLC_IDLE];
    form.part(&keys, |form| SlcCacheSpec {
        bytes: form.size(&SLC_CACHE),
        rate: form.rate(&SLC_RATE),
        rate_past: form.rate(&RATE_PAST),
        emptying: form.rate(&SLC_EMPTYING),
        idle: form.span(&SLC_IDLE),
    })
}

fn heat(form: &mut Form<'_, '_>) -> Option<Option<HeatSpec>> {
    let throttle = [THROTTLE_AT, THROTTLE_BELOW, THROTTLE_RATE];
    let keys = [&[HEAT, COOLING, AMBIENT], &throttle[..]].concat();
    form.part(&keys, |form| {
        let byte = form.number(&HEAT, 1e-6..=1e6) / f64::from(1 << 30);
        let cooling = form.span(&COOLING).max(1) as f64;
        let [ambient, limit, below] =
            [AMBIENT, THROTTLE_AT, THROTTLE_BELOW].map(|key| form.number(&key, 0.1..=200.0));
        let rate = form.rate(&THROTTLE_RATE);
        if limit <= ambient {
            form.disagree(&THROTTLE_AT, &AMBIENT, "it is never cooler than that");
        } else if below > limit {
            form.disagree(&THROTTLE_BELOW, &THROTTLE_AT, "it is the lower one");
        }
        HeatSpec {
            ambient,
            byte,
            cooling,
            limit,
            below,
            rate,
        }
    })
}
