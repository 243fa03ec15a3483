//! Keys of a machine's parts around its device: host, array, controller.

use units::{Duration, Instant};

use crate::controller::ControllerSpec;
use crate::definition::form::{DefinitionKey, Form, keys, needed, optional, or};
use crate::host::{HostSpec, IoWait, WritePolicy};
use crate::raid::{ArrayLayout, ArrayMode, ArraySpec, RaidLevel};

keys! {
    CPUS = or("cpus", "1", "processors, such as 1");
    CPU_UNIT = optional("cpu-unit", "what a second of an 80486DX2/66 takes, such as \"100 ms\"");
    CPU_HIT = needed("cpu-hit", "processor time of a cached I/O, such as \"1.2 ms\"");
    CPU_OVERLAPPED = or("cpu-overlapped", "0", "at the same time as the storage, \"0.6 ms\"");
    CPU_SERIAL = needed("cpu-serial", "after the storage, such as \"1.4 ms\"");
    CPU_MIB = or("cpu-per-mib", "0", "for data of the storage, at the same time, \"0.7 s\"");
    CPU_MIB_SERIAL = or("cpu-per-mib-serial", "0",
        "for data of the storage, after it, such as \"50 ms\"");
    CPU_MIB_SENT = or("cpu-per-mib-sent", "0",
        "of a server, for data on the link, at the same time, \"0.65 s\"");
    WAITING = or("waiting", "free", "while the storage works: \"free\", \"polling\", \"spinning\"");
    MEMORY = needed("memory", "all memory, such as \"32 MiB\"");
    SYSTEM = or("system", "0", "what system and programs keep, such as \"12 MiB\"");
    TAKEN = or("taken", "0", "memory that other programs take, such as \"12 MiB\"");
    CACHE = needed("file-cache", "the file cache at the start, \"13 MiB\"");
    CACHE_MAX = optional("file-cache-max", "up to which it grows, such as \"16 MiB\"");
    GROWTH = or("file-cache-growth", "0", "with each read of the storage, \"512\"");
    HOST_PAGE = or("page", "4 KiB", "a page of the file cache");
    AHEAD = or("file-read-ahead", "0", "bytes, for reads in order");
    AHEAD_STREAMS = or("read-ahead-streams", "16",
        "streams that it reads ahead for: 1 where it loses one that another interrupts");
    READ_RUN = or("read-run", "1 GiB",
        "the longest read of the storage, but where it reads ahead, \"64 KiB\"");
    WRITES = or("writes", "back", "\"back\" or \"through\" the file cache");
    DIRTY = or("dirty-share", "50%", "share of the cache above which writes go out");
    DIRTY_AGE = or("dirty-age", "5s", "after which dirty pages go out");
    WRITE_RUN = or("write-run", "64 KiB", "the longest write of dirty pages");
    // An array.
    RAID = needed("raid", "the level: 0, 1 or 5");
    DISKS = needed("disks", "disks in all, such as 5");
    UNIT = or("unit", "64 KiB", "bytes on a disk before the next one's turn");
    MODE = or("mode", "normal", "\"normal\", \"reduced\" or \"rebuild\"");
    AT_A_TIME = or("rebuild-at-a-time", "1", "stripes rebuilt at a time");
    HELD_AT = optional("rebuild-held-at",
        "the share at which the rebuild is held while it is measured, such as \"50%\"");
    REBUILD_RATE = optional("rebuild-rate", "bytes per second at most, \"1 MB/s\"");
    LOST = optional("lost", "a disk and when it is lost, such as 2@60s");
    SLOW = optional("slow", "a disk and how much slower, such as 2:1.5");
    // A controller.
    CONTROLLER_CACHE = optional("cache", "bytes of its cache, such as \"512 KiB\", or 0");
    CONTROLLER_TIME = or("time", "1 ms", "for an answer from it, such as \"2 ms\"");
    CONTROLLER_RATE = optional("rate", "from it to the host, such as \"500 kB/s\"");
}

/// Parses a host or a server.
pub fn host(form: &mut Form<'_, '_>) -> Option<HostSpec> {
    form.whole(|form| {
        let cpus = form.count(&CPUS, 1..=1024) as usize;
        let cpu_unit = form.maybe(&CPU_UNIT, Form::span);
        let [cpu_hit, cpu_overlapped, cpu_serial] =
            [CPU_HIT, CPU_OVERLAPPED, CPU_SERIAL].map(|key| form.span(&key));
        let [cpu_byte, cpu_byte_serial, cpu_byte_sent] = [CPU_MIB, CPU_MIB_SERIAL, CPU_MIB_SENT]
            .map(|key| form.span(&key) as f64 / f64::from(1 << 20));
        let waiting = [
            ("free", IoWait::Free),
            ("polling", IoWait::Polling),
            ("spinning", IoWait::Spinning),
        ];
        let waiting = form.word(&WAITING, &waiting);
        let [memory, system, taken, cache] =
            [MEMORY, SYSTEM, TAKEN, CACHE].map(|key| form.size(&key));
        let cache_max = form.maybe(&CACHE_MAX, Form::size).unwrap_or(cache);
        let spec = HostSpec {
            cpus,
            cpu_unit,
            cpu_hit,
            cpu_overlapped,
            cpu_serial,
            cpu_byte,
            cpu_byte_serial,
            cpu_byte_sent,
            waiting,
            memory,
            // Both are kept from the file cache.
            system: system + taken,
            cache,
            cache_max,
            cache_growth: form.size(&GROWTH),
            page: form.size_in(&HOST_PAGE, 512..=1 << 24),
            read_ahead: form.size(&AHEAD),
            read_ahead_streams: form.count(&AHEAD_STREAMS, 1..=1024) as usize,
            read_run: form.size(&READ_RUN),
            writes: {
                let is_back = form.word(&WRITES, &[("back", true), ("through", false)]);
                let (dirty_share, interval) = (form.share(&DIRTY), form.span(&DIRTY_AGE));
                match is_back {
                    true => WritePolicy::Back {
                        dirty_share,
                        interval,
                    },
                    false => WritePolicy::Through,
                }
            },
            write_run: form.size(&WRITE_RUN),
        };
        if system >= memory {
            form.disagree(&SYSTEM, &MEMORY, "nothing would be left");
        } else if cache > memory {
            form.disagree(&CACHE, &MEMORY, "the file cache is part of the memory");
        } else if cache_max < cache {
            form.disagree(&CACHE_MAX, &CACHE, "it is the larger one");
        }
        spec
    })
}

/// The array around the disks, if any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArrayPart {
    pub array: Option<ArraySpec>,
    /// A disk that is slower by a factor.
    pub slow: Option<(usize, f64)>,
}

/// Parses an array, or the settings of a single disk.
pub fn array(form: &mut Form<'_, '_>) -> Option<ArrayPart> {
    let levels = [
        ("0", RaidLevel::Raid0),
        ("1", RaidLevel::Raid1),
        ("5", RaidLevel::Raid5),
    ];
    let level = |form: &mut Form<'_, '_>, key: &_| form.word(key, &levels);
    let count = |form: &mut Form<'_, '_>, key: &_| form.count(key, 1..=256) as usize;
    let known = form.whole(|form| form.maybe(&RAID, level)).flatten();
    let disks = form.whole(|form| match known {
        Some(_) => Some(count(form, &DISKS)),
        None => form.maybe(&DISKS, count),
    });
    let disks = disks.flatten();
    if known.is_none() && disks.is_some() {
        level(form, &RAID);
        return None;
    }
    let slow = form.read(&SLOW, |text| {
        let (disk, factor) = text.split_once(':')?;
        let disk = disk.parse::<usize>().ok()?.checked_sub(1)?;
        let factor = factor.parse::<f64>().ok()?;
        (0.01..=1000.0).contains(&factor).then_some((disk, factor))
    });
    if slow.is_some_and(|(disk, _)| disk >= disks.unwrap_or(1)) {
        form.disagree(&SLOW, &DISKS, "there is no such disk");
    }
    let array = match known {
        Some(level) => Some(array_of(form, level, disks?)?),
        None => None,
    };
    Some(ArrayPart { array, slow })
}

fn array_of(form: &mut Form<'_, '_>, level: RaidLevel, disks: usize) -> Option<ArraySpec> {
    form.whole(|form| {
        let unit = form.size_in(&UNIT, 512..=1 << 40);
        let mode = form.word(&MODE, &[("normal", 0), ("reduced", 1), ("rebuild", 2)]);
        let at_a_time = form.count(&AT_A_TIME, 1..=1024) as u32;
        let rate_max = form.maybe(&REBUILD_RATE, Form::rate);
        let held_at = form.maybe(&HELD_AT, Form::share);
        let lost = form.read(&LOST, |text| {
            let (disk, at) = text.split_once('@')?;
            let at = at.parse::<Duration>().ok()?;
            let disk = disk.parse::<usize>().ok().filter(|&disk| disk >= 1)?;
            Some((disk - 1, Instant(at.as_nanos())))
        });
        let wrong = match level {
            RaidLevel::Raid0 if disks < 2 => Some("it has two disks at least"),
            RaidLevel::Raid1 if !disks.is_multiple_of(2) => Some("its disks are pairs"),
            RaidLevel::Raid5 if disks < 3 => Some("it has three disks at least"),
            _ => None,
        };
        if let Some(why) = wrong {
            form.disagree(&DISKS, &RAID, why);
        }
        if mode > 0 && level == RaidLevel::Raid0 {
            let why = "without redundancy nothing is left when a disk is lost";
            form.disagree(&MODE, &RAID, why);
        }
        if held_at.is_some_and(|share| share >= 1.0) {
            form.disagree(&HELD_AT, &MODE, "at 100% nothing is left to rebuild");
        }
        if lost.is_some_and(|(disk, _)| disk >= disks) {
            form.disagree(&LOST, &DISKS, "there is no such disk");
        }
        if lost.is_some() && mode > 0 {
            let why = "one disk is lost already, and only one loss is modelled";
            form.disagree(&LOST, &MODE, why);
        }
        ArraySpec {
            layout: ArrayLayout { level, disks, unit },
            mode: match mode {
                0 => ArrayMode::Normal,
                1 => ArrayMode::Reduced,
                _ => ArrayMode::Rebuild {
                    at_a_time,
                    rate_max,
                    held_at,
                },
            },
            lost,
        }
    })
}

/// Parses a controller, if it has a cache.
pub fn controller(form: &mut Form<'_, '_>) -> Option<Option<ControllerSpec>> {
    let spec = form.part(&[CONTROLLER_CACHE], |form| {
        let (cache, time) = (form.size(&CONTROLLER_CACHE), form.span(&CONTROLLER_TIME));
        let rate = form.maybe(&CONTROLLER_RATE, Form::rate);
        (cache > 0).then_some(ControllerSpec { cache, time, rate })
    });
    spec.map(Option::flatten)
}
