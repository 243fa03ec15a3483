//! Activity of a machine and a device while probes ran: kernel counters, read twice. Sources:
//! `block/stat`, `Documentation/accounting/psi.rst`, proc_meminfo(5), proc_stat(5).

use crate::counters::{device_activity, steal_ticks};
use crate::inspect::facts::SystemRoots;

units::words! {
    /// The counters.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MachineCounter {
        DeviceReads = "device_reads",
        DeviceReadBytes = "device_read_bytes",
        DeviceWrites = "device_writes",
        DeviceWrittenBytes = "device_written_bytes",
        /// Time in which the device was busy, ms.
        DeviceBusyMs = "device_busy_ms",
        /// Requests in the device now.
        DeviceQueue = "device_queue_max",
        /// Time in which a task waited for storage, us.
        PressureIoUs = "pressure_io_us",
        /// Time in which a task waited for a processor, us.
        PressureCpuUs = "pressure_cpu_us",
        /// Time in which a task waited for memory, us.
        PressureMemoryUs = "pressure_memory_us",
        /// Bytes of dirty pages now.
        DirtyBytes = "dirty_bytes_max",
        /// Bytes under writeback now.
        WritebackBytes = "writeback_bytes_max",
        /// Steal time, ms.
        StealMs = "steal_ms",
    }
}

/// One reading.
#[derive(Clone, Debug, Default)]
pub struct MachineLook {
    /// Totals since boot.
    sums: Vec<(MachineCounter, u64)>,
    /// Current values.
    levels: Vec<(MachineCounter, u64)>,
}

impl MachineLook {
    /// Reads the counters. `device` is a kernel name such as `sda1`; without it the device is left
    /// out.
    pub fn take(device: Option<&str>) -> Self {
        Self::of(&SystemRoots::default(), device)
    }

    fn of(facts: &SystemRoots, device: Option<&str>) -> Self {
        let mut look = Self::default();
        if let Some(it) = device.and_then(|name| device_activity(facts, name)) {
            look.sums.extend([
                (MachineCounter::DeviceReads, it.reads),
                (MachineCounter::DeviceReadBytes, it.read_bytes),
                (MachineCounter::DeviceWrites, it.writes),
                (MachineCounter::DeviceWrittenBytes, it.written_bytes),
                (MachineCounter::DeviceBusyMs, it.busy_ms),
            ]);
            look.levels
                .push((MachineCounter::DeviceQueue, it.in_flight));
        }
        for (counter, file) in [
            (MachineCounter::PressureIoUs, "pressure/io"),
            (MachineCounter::PressureCpuUs, "pressure/cpu"),
            (MachineCounter::PressureMemoryUs, "pressure/memory"),
        ] {
            let text = facts.proc_text(file);
            let total = text.as_deref().and_then(pressure_total);
            look.sums.extend(total.map(|total| (counter, total)));
        }
        for (counter, name) in [
            (MachineCounter::DirtyBytes, "Dirty"),
            (MachineCounter::WritebackBytes, "Writeback"),
        ] {
            let bytes = facts.memory_bytes(name);
            look.levels.extend(bytes.map(|bytes| (counter, bytes)));
        }
        let tick_ms = 1_000 / rustix::param::clock_ticks_per_second().max(1);
        let steal = facts.proc_text("stat").and_then(|text| steal_ticks(&text));
        look.sums
            .extend(steal.map(|ticks| (MachineCounter::StealMs, ticks.saturating_mul(tick_ms))));
        look
    }

    /// Differences from an `earlier` reading, and current values.
    pub fn since(&self, earlier: &Self) -> Vec<(MachineCounter, u64)> {
        let of = |&(counter, sum): &(MachineCounter, u64)| {
            let mut before = earlier.sums.iter();
            let before = before.find(|(it, _)| *it == counter)?.1;
            Some((counter, sum.saturating_sub(before)))
        };
        let sums = self.sums.iter().filter_map(of);
        sums.chain(self.levels.iter().copied()).collect()
    }

    /// Requests in the device now.
    pub fn queue(&self) -> Option<u64> {
        let mut levels = self.levels.iter();
        let queue = levels.find(|(it, _)| *it == MachineCounter::DeviceQueue);
        queue.map(|(_, level)| *level)
    }
}

/// Total time in which some task waited, microseconds.
fn pressure_total(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut words = some.split_whitespace();
    words
        .find_map(|word| word.strip_prefix("total="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn two_looks_are_sums_and_levels() {
        let top = tempfile::tempdir().expect("a directory");
        let facts = SystemRoots {
            proc: top.path().join("proc"),
            sys: top.path().join("sys"),
        };
        let look = |files: &[(&str, &str)]| {
            for (path, text) in files {
                let path = top.path().join(path);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
                fs::write(path, text).expect("a file");
            }
            MachineLook::of(&facts, Some("sda"))
        };
        let stat = "sys/class/block/sda/stat";
        let first = look(&[
            (stat, "1 0 8 2 3 0 16 4 7 5 6\n"),
            (
                "proc/pressure/io",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=70\nfull avg10=0 total=9\n",
            ),
            ("proc/meminfo", "Dirty: 4 kB\nWriteback: 0 kB\n"),
        ]);
        let last = look(&[
            (stat, "11 0 28 2 3 0 16 4 9 25 6\n"),
            ("proc/pressure/io", "some avg10=0.00 total=100\n"),
        ]);
        assert_eq!(last.queue(), Some(9));
        let expected = [
            (MachineCounter::DeviceReads, 10),
            (MachineCounter::DeviceReadBytes, 20 * 512),
            (MachineCounter::DeviceWrites, 0),
            (MachineCounter::DeviceWrittenBytes, 0),
            (MachineCounter::DeviceBusyMs, 20),
            (MachineCounter::PressureIoUs, 30),
            (MachineCounter::DeviceQueue, 9),
            (MachineCounter::DirtyBytes, 4096),
            (MachineCounter::WritebackBytes, 0),
        ];
        assert_eq!(last.since(&first), expected);
    }
}
