//! What makes a consumer's SSD fast for a while: a cache of flash cells that hold one bit (SLC),
//! and a temperature that is still low.
//!
//! Cells of four bits (QLC) are slow to write, so that some are used with one bit each, and emptied
//! into the others when nobody writes. Until that cache is full, writes have its rate; after that
//! what the others take. Heat: each byte warms the device, which cools towards its surroundings
//! with a time constant, T' = k rate - (T - ambient) / tau. At one temperature its rate is cut, and
//! given back at a lower one. From cold a rate r is cut after
//! -tau ln(1 - (limit - ambient) / (k r tau)).

use units::{Bytes, format_duration_ns};

use crate::burst::BurstLimits;
use crate::device::{Action, Command, Device};
use crate::paced::{PacedDevice, Pacer};
use crate::shingled::{ShingledDisk, ShinglesSpec};

/// The cache of a consumer's SSD for writes. Rates are bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct SlcCacheSpec {
    pub bytes: u64,
    /// At which it is written.
    pub rate: f64,
    /// At which all else is written.
    pub rate_past: f64,
    /// At which it is emptied.
    pub emptying: f64,
    /// Nanoseconds without a write before it is emptied.
    pub idle: u64,
}

/// How a device warms, and what it does against it. Temperatures are degrees Celsius.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatSpec {
    pub ambient: f64,
    /// Degrees for each byte.
    pub byte: f64,
    /// The time constant of cooling, nanoseconds.
    pub cooling: f64,
    /// Where its rate is cut.
    pub limit: f64,
    /// Where it is given back.
    pub below: f64,
    /// Bytes per second while it is cut.
    pub rate: f64,
}

/// What a device is held to besides its own times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceLimits {
    pub shingles: Option<ShinglesSpec>,
    pub burst: BurstLimits,
    pub slc: Option<SlcCacheSpec>,
    pub heat: Option<HeatSpec>,
}

impl DeviceLimits {
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The device behind all of them.
    #[must_use]
    pub fn around(&self, mut device: Box<dyn Device>) -> Box<dyn Device> {
        if let Some(spec) = &self.shingles {
            device = Box::new(ShingledDisk::new(spec.clone(), device));
        }
        if let Some(spec) = &self.slc {
            let writing = SlcWriting {
                spec: spec.clone(),
                used: 0.0,
                free: 0.0,
            };
            device = Box::new(PacedDevice::new(writing, device));
        }
        if let Some(spec) = &self.heat {
            let warming = Warming {
                temperature: spec.ambient,
                at: 0.0,
                free: 0.0,
                is_cut: false,
                spec: spec.clone(),
            };
            device = Box::new(PacedDevice::new(warming, device));
        }
        self.burst.around(device)
    }

    /// What follows from them.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let rate = |rate: f64| format!("{}/s", Bytes(rate as u64).decimal());
        let mut facts = self.burst.facts();
        facts.extend(self.shingles.as_ref().map(|it| {
            let (cache, band) = (Bytes(it.cache).decimal(), Bytes(it.band));
            let words = format!("{cache} anywhere. Then a band of {band} is cleaned for each");
            ("written out of order", words)
        }));
        facts.extend(self.slc.as_ref().map(|it| {
            let words = format!(
                "{} for {} written in one go, then {}. Empty again after {} without a write",
                rate(it.rate),
                Bytes(it.bytes).decimal(),
                rate(it.rate_past),
                format_duration_ns(it.idle as f64 + it.bytes as f64 * 1e9 / it.emptying)
            );
            ("writing", words)
        }));
        facts.extend(self.heat.as_ref().map(|it| {
            let words = format!(
                "{} for ever stay below {} degrees. Faster, its rate falls to {} in turn",
                rate(it.sustainable()),
                it.limit,
                rate(it.rate)
            );
            ("heat", words)
        }));
        facts
    }
}

impl HeatSpec {
    /// The rate that warms it to its limit in the long run.
    fn sustainable(&self) -> f64 {
        (self.limit - self.ambient) * 1e9 / self.cooling / self.byte
    }
}

/// How much of the cache is used. Reads have nothing to do with it.
#[derive(Debug)]
struct SlcWriting {
    spec: SlcCacheSpec,
    used: f64,
    /// When the last write has been taken.
    free: f64,
}

impl Pacer for SlcWriting {
    fn begin(&mut self, now: f64, command: &Command) -> f64 {
        if !matches!(command.action, Action::Write(_)) {
            return now;
        }
        let begin = now.max(self.free);
        let emptied =
            (begin - self.free - self.spec.idle as f64).max(0.0) * self.spec.emptying / 1e9;
        self.used = (self.used - emptied).max(0.0);
        let len = command.len as f64;
        let fast = len.min(self.spec.bytes as f64 - self.used);
        self.used += fast;
        let seconds = fast / self.spec.rate + (len - fast) / self.spec.rate_past;
        self.free = begin + seconds * 1e9;
        begin
    }
}

/// How warm a device is.
#[derive(Debug)]
struct Warming {
    spec: HeatSpec,
    temperature: f64,
    /// When that was.
    at: f64,
    /// When the rate that was cut lets the next command begin.
    free: f64,
    is_cut: bool,
}

impl Pacer for Warming {
    fn begin(&mut self, now: f64, command: &Command) -> f64 {
        let spec = &self.spec;
        let begin = now.max(self.free);
        let left = (-(begin - self.at) / spec.cooling).exp();
        self.temperature = spec.ambient + (self.temperature - spec.ambient) * left;
        self.at = begin;
        self.is_cut = match self.is_cut {
            true => self.temperature > spec.below,
            false => self.temperature >= spec.limit,
        };
        self.temperature += command.len as f64 * spec.byte;
        let seconds = match self.is_cut {
            true => command.len as f64 / spec.rate,
            false => 0.0,
        };
        self.free = begin + seconds * 1e9;
        begin
    }
}
