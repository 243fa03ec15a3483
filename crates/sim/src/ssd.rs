//! Temporary speed of a consumer SSD: a cache of single-bit flash cells (SLC), and a low
//! temperature.
//!
//! Four-bit cells (QLC) are slow to write, so some are used with one bit each, and emptied into the
//! others when idle. Until that cache is full, writes run at its rate, afterwards at the rate of
//! the others. Heat: each byte warms the device, which cools towards its surroundings with a time
//! constant, T' = k rate - (T - ambient) / tau. At one temperature its rate is throttled, at a
//! lower one restored. From cold, a rate r is throttled after -tau ln(1 - (limit - ambient) / (k r
//! tau)).

use units::{Bytes, format_duration_ns};

use crate::burst::BurstLimits;
use crate::device::{Action, Command, Device};
use crate::paced::{PacedDevice, Pacer};
use crate::shingled::{ShingledDisk, ShinglesSpec};

/// The SLC write cache of a consumer SSD. Rates are bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct SlcCacheSpec {
    pub bytes: u64,
    /// Write rate of the cache.
    pub rate: f64,
    /// Write rate beyond the cache.
    pub rate_past: f64,
    /// Rate at which it is emptied.
    pub emptying: f64,
    /// Time without writes before it is emptied, nanoseconds.
    pub idle: u64,
}

/// Heating and throttling of a device. Temperatures are degrees Celsius.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatSpec {
    pub ambient: f64,
    /// Degrees per byte.
    pub byte: f64,
    /// Time constant of cooling, nanoseconds.
    pub cooling: f64,
    /// Temperature at which the rate is throttled.
    pub limit: f64,
    /// Temperature at which it is restored.
    pub below: f64,
    /// Throttled rate, bytes per second.
    pub rate: f64,
}

/// Limits of a device besides its own times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceLimits {
    pub shingles: Option<ShinglesSpec>,
    pub burst: BurstLimits,
    pub slc: Option<SlcCacheSpec>,
    pub heat: Option<HeatSpec>,
}

impl DeviceLimits {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Wraps the device in all limits.
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

    /// Derived facts.
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
    /// The rate whose steady-state temperature is the limit.
    fn sustainable(&self) -> f64 {
        (self.limit - self.ambient) * 1e9 / self.cooling / self.byte
    }
}

/// State of the SLC cache, which only writes use.
#[derive(Debug)]
struct SlcWriting {
    spec: SlcCacheSpec,
    used: f64,
    /// When the last write has been accepted.
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

/// Temperature state of a device.
#[derive(Debug)]
struct Warming {
    spec: HeatSpec,
    temperature: f64,
    /// Time of that temperature.
    at: f64,
    /// When the throttled rate allows the next command to start.
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
