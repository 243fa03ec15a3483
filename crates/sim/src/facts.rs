//! Facts derived from a machine's values, in words, to compare with a data sheet.

use random::{Purpose, Stream};
use units::{Bytes, Instant, format_count, format_duration_ns};

use crate::device::{Action, Command, Device};
use crate::disk::DiskSpec;
use crate::flash::{FlashSpec, fifo_write_amplification};
use crate::machine::{DeviceSpec, MachineSpec};

/// Size of the reads for the mean read time.
const READ_BYTES: u64 = 4096;
/// Number of reads: the mean is then known to about 1 %.
const READS: u32 = 4000;

/// Name, and value with its unit.
pub type Fact = (&'static str, String);

impl MachineSpec {
    /// Derived facts.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![("capacity", Bytes(self.size()).decimal())];
        match &self.device {
            DeviceSpec::Disk(spec) => {
                disk(spec, &mut facts);
                facts.extend(self.random_read().map(|mean| {
                    let words = format!("about {}, one at a time", time(mean));
                    ("random read of 4 KiB anywhere", words)
                }));
            }
            DeviceSpec::Flash(spec) => flash(spec, &mut facts),
            DeviceSpec::Cd(spec) => {
                facts.push(("rate", rate(spec.rate)));
                let turns = [0, spec.blocks].map(|block| time(spec.turn(block) as f64));
                facts.push((
                    "one turn",
                    format!("{} inside, {} outside", turns[0], turns[1]),
                ));
                let third = spec.blocks / 3;
                facts.push(("access over a third", time(spec.access(0, third) as f64)));
            }
            DeviceSpec::Tape(spec) => {
                facts.push(("streaming rate", rate(spec.streaming_rate())));
                let mean = (spec.locate + spec.track_change) as f64 + spec.search as f64 / 2.0;
                facts.push(("mean search from the beginning", time(mean)));
            }
            DeviceSpec::Memory(spec) => {
                let block = spec.access as f64 + 512e9 / spec.rate;
                facts.push(("a block of 512 bytes", time(block)));
            }
            DeviceSpec::Volume(spec) => {
                let alone = 1e9 / spec.latency as f64;
                let words = format!("{}/s, but for its limits", format_count(alone));
                facts.push(("one operation at a time", words));
            }
        }
        facts.extend(self.limits.facts());
        if let Some(system) = &self.file_system {
            let bytes = self.size().saturating_sub(self.start);
            facts.push((
                "blocks for files",
                format_count(system.data_blocks(bytes) as f64),
            ));
            let rate = system.element as f64 * 1e9 / system.cpu_element.max(1) as f64;
            facts.push(("rate of formatting", self::rate(rate)));
        }
        if let Some(host) = &self.host {
            let cache = host.room(host.cache_max, 0);
            facts.push(("file cache at most", Bytes(cache).to_string()));
        }
        if let Some(link) = &self.link {
            let wire = link.wire_bytes(link.window) as f64 / link.bandwidth;
            let whole = link.round_trip as f64 / 1e9 + wire;
            facts.push((
                "rate of the link's window",
                rate(link.window as f64 / whole),
            ));
        }
        facts
    }

    /// Mean time of a random read at depth 1. Interleave, track ends within a read, buffers, link
    /// and host allow no formula, so it is simulated.
    fn random_read(&self) -> Option<f64> {
        let blocks = self.size().saturating_sub(self.start) / READ_BYTES;
        if blocks == 0 {
            return None;
        }
        let mut device = self.build(0);
        let mut places = Stream::new(0, 0, Purpose::Address);
        let mut now = Instant(0);
        for _ in 0..READS {
            let offset = self.start + places.below(blocks) * READ_BYTES;
            now = after_read(device.as_mut(), now, offset);
        }
        Some(now.0 as f64 / f64::from(READS))
    }
}

/// When a read that starts now completes.
fn after_read(device: &mut dyn Device, now: Instant, offset: u64) -> Instant {
    let mut answers = Vec::new();
    while let Some(at) = device.next().filter(|&at| at <= now) {
        device.step(at, &mut answers);
    }
    device.begin(
        now,
        Command {
            tag: 0,
            action: Action::Read,
            client: None,
            offset,
            len: READ_BYTES,
        },
    );
    let mut at = now;
    while answers.is_empty() {
        at = device.next().expect("a read is under way").max(at);
        device.step(at, &mut answers);
    }
    at
}

fn time(ns: f64) -> String {
    format_duration_ns(ns)
}

fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", Bytes(bytes_per_second as u64).decimal())
}

fn disk(spec: &DiskSpec, facts: &mut Vec<Fact>) {
    let table = spec.seek_table();
    let period = spec.layout.period as f64;
    facts.push(("one turn", time(period)));
    let seeks = [1, table.len() / 3, table.len() - 1].map(|distance| {
        let distance = distance.min(table.len() - 1);
        format!("{} over {distance}", time(table[distance] as f64))
    });
    facts.push(("seeks (cylinders)", seeks.join(", ")));
    facts.push(("mean seek", time(mean_seek(&table))));
    let zones = &spec.layout.zones;
    let ends = [zones.first(), zones.last()]
        .map(|zone| zone.map_or_else(String::new, |zone| rate(spec.sustained_rate(zone))));
    if spec.layout.interleave == 1 {
        facts.push((
            "sustained rate",
            format!("{} outside, {} inside", ends[0], ends[1]),
        ));
    }
}

/// The mean over all pairs of cylinders.
fn mean_seek(table: &[u64]) -> f64 {
    let cylinders = table.len() as f64;
    let part = |(distance, &time): (usize, &u64)| 2.0 * (cylinders - distance as f64) * time as f64;
    table.iter().enumerate().map(part).sum::<f64>() / (cylinders * cylinders)
}

fn flash(spec: &FlashSpec, facts: &mut Vec<Fact>) {
    let bound = |depth| format_count(spec.read_bound(depth).round());
    let reads = [1, 32, 1024].map(|depth| format!("{}/s at depth {depth}", bound(depth)));
    facts.push(("page reads at most", reads.join(", ")));
    let amplification = fifo_write_amplification(spec.spare_factor());
    let words = format!("{amplification:.2} with FIFO cleaning. Greedy cleaning needs less");
    facts.push(("pages programmed for each written at random", words));
    let [fresh, steady] = spec.write_rates().map(|rate| format_count(rate.round()));
    let words = format!("{fresh}/s while spare blocks last, then {steady}/s with FIFO cleaning");
    facts.push(("pages written at random", words));
}
