//! A complete machine: host around link around server around array around devices.

use random::{Purpose, Stream};

use crate::cdrom::{Cd, CdSpec};
use crate::controller::{Controller, ControllerSpec};
use crate::definition::ArrayPart;
use crate::device::Device;
use crate::disk::{Disk, DiskSpec};
use crate::flash::{Flash, FlashSpec};
use crate::host::{Host, HostSpec};
use crate::link::{Link, LinkSpec, Wire};
use crate::memory::{MemoryDevice, MemorySpec};
use crate::raid::Array;
use crate::rt11::Rt11Spec;
use crate::site::{Port, ServedSite};
use crate::ssd::DeviceLimits;
use crate::tape::{Tape, TapeSpec};
use crate::volume::{Volume, VolumeSpec};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// The storage device.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceSpec {
    /// A disk drive, or a floppy.
    Disk(DiskSpec),
    /// Flash memory.
    Flash(FlashSpec),
    /// A CD-ROM drive.
    Cd(CdSpec),
    /// A tape drive.
    Tape(TapeSpec),
    /// A memory disk.
    Memory(MemorySpec),
    /// A cloud volume.
    Volume(VolumeSpec),
}

/// Parameters of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineSpec {
    /// The host, if its processors and memory are modelled.
    pub host: Option<HostSpec>,
    /// The link to a server.
    pub link: Option<LinkSpec>,
    /// The server's processors and memory.
    pub server: Option<HostSpec>,
    /// Number of devices, and their array.
    pub array: ArrayPart,
    /// A controller with a cache in front of the devices.
    pub controller: Option<ControllerSpec>,
    pub device: DeviceSpec,
    /// Limits of each device, with credits.
    pub limits: DeviceLimits,
    /// The first byte of the target on the storage.
    pub start: u64,
    /// The file system, if programs that use files are simulated.
    pub file_system: Option<Rt11Spec>,
}

impl DeviceSpec {
    /// The idle device; `stream` determines the angle of its platters.
    fn build(&self, slowness: Option<f64>, stream: &mut Stream) -> Box<dyn Device> {
        let drawn = match self {
            Self::Disk(spec) => stream.below(spec.layout.period.max(1)),
            Self::Volume(_) => stream.next_u64(),
            _ => 0,
        };
        match slowness.map_or_else(|| self.clone(), |factor| self.slowed(factor)) {
            Self::Disk(spec) => Box::new(Disk::new(spec, drawn)),
            Self::Flash(spec) => Box::new(Flash::new(spec)),
            Self::Cd(spec) => Box::new(Cd::new(spec)),
            Self::Tape(spec) => Box::new(Tape::new(spec)),
            Self::Memory(spec) => Box::new(MemoryDevice::new(spec)),
            Self::Volume(spec) => Box::new(Volume::new(spec, drawn)),
        }
    }

    /// The same with all times `factor` times as long.
    fn slowed(&self, factor: f64) -> Self {
        let mut slow = self.clone();
        let (times, rate) = match &mut slow {
            Self::Disk(spec) => return Self::Disk(spec.slowed(factor)),
            Self::Flash(it) => (
                vec![
                    &mut it.read,
                    &mut it.program,
                    &mut it.erase,
                    &mut it.overhead,
                ],
                Some(&mut it.channel_rate),
            ),
            Self::Cd(it) => (
                vec![&mut it.seek_short, &mut it.seek_full],
                Some(&mut it.rate),
            ),
            Self::Tape(it) => (vec![&mut it.search], Some(&mut it.rate)),
            Self::Memory(it) => (vec![&mut it.access], Some(&mut it.rate)),
            Self::Volume(it) => (vec![&mut it.least, &mut it.latency], None),
        };
        for time in times {
            *time = (*time as f64 * factor).round() as u64;
        }
        if let Some(rate) = rate {
            *rate /= factor;
        }
        slow
    }

    /// Size of one device, bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Disk(spec) => spec.capacity,
            Self::Flash(spec) => spec.size(),
            Self::Cd(spec) => spec.blocks * 2048,
            Self::Tape(spec) => spec.size(),
            Self::Memory(spec) => spec.size,
            Self::Volume(spec) => spec.size,
        }
    }
}

impl MachineSpec {
    /// Size of the storage, bytes.
    pub fn size(&self) -> u64 {
        let device = self.device.size();
        let array = self.array.array.as_ref();
        array.map_or(device, |array| array.layout.size(device))
    }

    /// Size of file caches, the controller's cache, and the buffers of all disks, bytes.
    pub fn cache_bytes(&self) -> u64 {
        let hosts = self.host.iter().chain(&self.server);
        let file_caches: u64 = hosts.map(|host| host.room(host.cache_max, 0)).sum();
        let controller = self.controller.as_ref().map_or(0, |spec| spec.cache);
        let disks = self
            .array
            .array
            .as_ref()
            .map_or(1, |array| array.layout.disks as u64);
        let buffer = match &self.device {
            DeviceSpec::Disk(disk) => disk.buffer.as_ref(),
            _ => None,
        };
        let buffer = buffer.map_or(0, |it| u64::from(it.segments) * it.segment_sectors * SECTOR);
        file_caches + controller + buffer * disks
    }

    /// Whether processors are modelled.
    pub const fn has_host(&self) -> bool {
        self.host.is_some()
    }

    /// The idle machine with empty caches; `seed` determines the angle of platters.
    pub fn build(&self, seed: u64) -> Box<dyn Device> {
        self.around(self.server_at_rest(seed), &Wire::default())
    }

    /// The same with `clients` clients, each with its own host and link, at one server. None if the
    /// machine has no server.
    pub fn build_site(&self, seed: u64, clients: usize) -> Option<Box<dyn Device>> {
        self.server.as_ref()?;
        let server = self.server_at_rest(seed);
        let wire = Wire::default();
        let clients = (0..clients)
            .map(|_| self.around(Box::new(Port::new(server.size())), &wire))
            .collect();
        Some(Box::new(ServedSite::new(server, clients)))
    }

    /// Link and host of a client around its storage.
    fn around(&self, mut device: Box<dyn Device>, wire: &Wire) -> Box<dyn Device> {
        if let Some(link) = &self.link {
            let server_byte = self.server.as_ref().map_or(0.0, |it| it.cpu_byte_sent);
            device = Box::new(Link::new(link.clone(), device, server_byte, wire.clone()));
        }
        if let Some(host) = &self.host {
            device = Box::new(Host::new(host.clone(), device));
        }
        device
    }

    /// The storage, with the server in front of it if there is one.
    fn server_at_rest(&self, seed: u64) -> Box<dyn Device> {
        let mut stream = Stream::new(seed, 0, Purpose::Device);
        let slowness = |index| {
            let slow = self.array.slow;
            slow.filter(|&(disk, _)| disk == index)
                .map(|(_, factor)| factor)
        };
        let mut limited = |index| {
            let device = self.device.build(slowness(index), &mut stream);
            self.limits.around(device)
        };
        let mut device = match &self.array.array {
            Some(array) => {
                let disks = (0..array.layout.disks).map(limited).collect();
                Box::new(Array::new(array, disks))
            }
            None => limited(0),
        };
        if let Some(controller) = &self.controller {
            device = Box::new(Controller::new(controller.clone(), device));
        }
        if let Some(server) = &self.server {
            device = Box::new(Host::new(server.clone(), device));
        }
        device
    }
}
