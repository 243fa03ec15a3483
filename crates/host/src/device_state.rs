//! Temperature and wear of a drive, and its volatile write cache, which can be switched off
//! temporarily.
//!
//! The kernel's `queue/write_cache` is only read: writing it changes what the kernel assumes, not
//! the drive (`ABI/stable/sysfs-block`), so that flushes would be omitted. `cache_type` is written,
//! since it switches the drive itself (`ABI/testing/sysfs-class-scsi_disk`, and that of
//! virtio-blk).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use results::DeviceHealth;
use serde_json::Value;

use crate::inspect::block::directory;
use crate::inspect::facts::{SystemRoots, names, number, text};

/// Locations of a drive's sensors below its directory. For NVMe they are at the controller.
const SENSORS: [&str; 4] = [
    "device",
    "device/hwmon",
    "device/device/hwmon",
    "device/device",
];
/// The tool to query a drive's health, and its arguments.
const TOOL: &str = "smartctl";
const TOOL_ARGUMENTS: [&str; 3] = ["--json", "--attributes", "--nocheck=standby"];
/// The values of `cache_type`.
const ON: &str = "write back";
const OFF: &str = "write through";

/// Health of the drive `device`, from the kernel's sensors, and from `smartctl` if installed and
/// permitted; `None` if unknown.
pub fn device_health(roots: &SystemRoots, device: &str) -> Option<DeviceHealth> {
    let reported = asked(device).map(|report| reported(&report));
    let reported = reported.unwrap_or_default();
    let health = DeviceHealth {
        celsius: sensed(roots, device).or(reported.celsius),
        ..reported
    };
    (health.celsius.is_some() || health.wear.is_some()).then_some(health)
}

/// Temperature in degrees Celsius from the first sensor.
fn sensed(roots: &SystemRoots, device: &str) -> Option<f64> {
    let own = directory(roots, device)?;
    let places = SENSORS.iter().map(|it| own.join(it));
    let sensors = places.flat_map(|place| {
        let found = names(&place).into_iter();
        let found = found.filter(|it| it.starts_with("hwmon"));
        found.map(move |it| place.join(it).join("temp1_input"))
    });
    let mut values = sensors.filter_map(|it| number(&it));
    values.next().map(|milli| milli as f64 / 1000.0)
}

fn asked(device: &str) -> Option<Vec<u8>> {
    let mut tool = Command::new(TOOL);
    tool.args(TOOL_ARGUMENTS).arg(format!("/dev/{device}"));
    // Its exit status has a bit for each finding. The output is JSON in any case.
    let output = tool
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(output.stdout)
}

/// Parses a report of `smartctl` as far as possible.
// fuzzed: system_text
pub(crate) fn reported(report: &[u8]) -> DeviceHealth {
    let report: Value = serde_json::from_slice(report).unwrap_or_default();
    DeviceHealth {
        celsius: report["temperature"]["current"].as_f64(),
        wear: worn(&report),
    }
}

/// Share of the rated writes that is used up, if reported.
fn worn(asked: &Value) -> Option<f64> {
    let nvme = asked["nvme_smart_health_information_log"]["percentage_used"].as_f64();
    let scsi = asked["scsi_percentage_used_endurance_indicator"].as_f64();
    let ata = asked["endurance_used"]["current_percent"].as_f64();
    nvme.or(scsi).or(ata).map(|percent| percent / 100.0)
}

/// A write cache that is switched off, and restored on drop.
#[derive(Debug)]
pub struct CacheOff {
    file: PathBuf,
    was: String,
}

impl CacheOff {
    /// Switches off the volatile write cache of a drive; `None` if it is already off.
    ///
    /// # Errors
    /// If the system has no switch for it or refuses, or the drive does not comply.
    pub fn new(roots: &SystemRoots, device: &str) -> io::Result<Option<Self>> {
        let file = switch(roots, device).ok_or(io::ErrorKind::Unsupported)?;
        let was = text(&file).unwrap_or_default();
        if was == OFF {
            return Ok(None);
        }
        fs::write(&file, OFF)?;
        let switched = Self { file, was };
        match text(&switched.file) {
            Some(now) if now == OFF => Ok(Some(switched)),
            // Dropping it restores the previous state.
            _ => Err(io::Error::other("the drive keeps its cache on")),
        }
    }
}

impl Drop for CacheOff {
    fn drop(&mut self) {
        // Errors cannot be reported here. A cache that stays off loses no data.
        let _ = fs::write(&self.file, if self.was.is_empty() { ON } else { &self.was });
    }
}

/// The file that controls the drive's cache.
fn switch(roots: &SystemRoots, device: &str) -> Option<PathBuf> {
    let own = directory(roots, device)?;
    let scsi: &Path = &own.join("device/scsi_disk");
    let scsi = names(scsi).into_iter().map(|it| scsi.join(it));
    let mut places = std::iter::once(own.clone())
        .chain(scsi)
        .map(|it| it.join("cache_type"));
    places.find(|it| it.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(files: &[(&str, &str)]) -> (tempfile::TempDir, SystemRoots) {
        let top = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = top.path().join("class/block/sdz").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let roots = SystemRoots {
            sys: top.path().to_owned(),
            ..SystemRoots::default()
        };
        (top, roots)
    }

    #[test]
    fn the_temperature_is_that_of_the_sensor() {
        let check = |file: &str| {
            let (_top, roots) = drive(&[(file, "41500\n")]);
            let found = device_health(&roots, "sdz").expect("a sensor");
            assert_eq!((found.celsius, found.wear), (Some(41.5), None), "{file}");
        };
        check("device/hwmon/hwmon3/temp1_input");
        check("device/hwmon0/temp1_input");
        check("device/device/hwmon/hwmon1/temp1_input");
        let (_top, roots) = drive(&[("size", "1\n")]);
        assert_eq!(device_health(&roots, "sdz"), None);
    }

    #[test]
    fn wear_is_read_where_each_kind_of_drive_has_it() {
        let check = |text: &str, expected: Option<f64>| {
            let asked: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(worn(&asked), expected, "{text}");
        };
        let nvme = r#"{"nvme_smart_health_information_log": {"percentage_used": 3}}"#;
        check(nvme, Some(0.03));
        check(r#"{"endurance_used": {"current_percent": 7}}"#, Some(0.07));
        check(
            r#"{"scsi_percentage_used_endurance_indicator": 1}"#,
            Some(0.01),
        );
        check(r#"{"smartctl": {"exit_status": 2}}"#, None);
    }

    #[test]
    fn a_cache_is_off_for_a_while() {
        for place in ["cache_type", "device/scsi_disk/0:0:0:0/cache_type"] {
            let (top, roots) = drive(&[(place, "write back\n")]);
            let file = top.path().join("class/block/sdz").join(place);
            let off = CacheOff::new(&roots, "sdz").expect("a switch");
            assert!(off.is_some(), "{place}");
            assert_eq!(fs::read_to_string(&file).expect("a file"), OFF);
            drop(off);
            assert_eq!(fs::read_to_string(&file).expect("a file"), ON);
        }
        let (_top, roots) = drive(&[("cache_type", "write through\n")]);
        assert!(CacheOff::new(&roots, "sdz").expect("a switch").is_none());
        let (_top, roots) = drive(&[("queue/write_cache", "write back\n")]);
        let none = CacheOff::new(&roots, "sdz").expect_err("no switch");
        assert_eq!(none.kind(), io::ErrorKind::Unsupported);
    }
}
