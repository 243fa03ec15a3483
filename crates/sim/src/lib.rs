//! Storage in virtual time: queues with known answers, and models of old and new hardware, behind
//! the same interface as real storage.

mod burst;
mod catalogue;
mod cdrom;
mod controller;
mod definition;
mod device;
mod disk;
mod done;
mod drive;
mod driver;
mod due;
mod event_loops;
mod facts;
mod faults;
mod flash;
mod group;
mod host;
mod laws;
mod link;
mod machine;
mod memory;
mod pace;
mod paced;
mod processor;
mod queue;
mod raid;
mod rt11;
mod shingled;
mod site;
mod spec;
mod ssd;
mod station;
mod tape;
mod transport;
mod volume;

pub use burst::{BurstLimit, BurstLimits};
pub use catalogue::{names as device_names, text as device_text};
pub use cdrom::{Cd, CdSpec};
pub use controller::{Controller, ControllerSpec};
pub use definition::{
    ArrayPart, DefinitionKind, DeviceDefinition, Parameter, is_file, read as read_definition,
};
pub use device::{Action, Answer, CacheReads, Calendar, Command, Device};
pub use disk::{
    BufferSpec, Disk, DiskLayout, DiskSpec, MeasuredSeekCurve, QueueDiscipline, SeekCurve,
    SeekInterference, Split, ZoneSpec,
};
pub use drive::DriveLaw;
pub use driver::SimDriver;
pub use event_loops::{group_loop, model_loop};
pub use facts::Fact;
pub use faults::{Faults, Trigger};
pub use flash::{Cleaning, Flash, FlashContent, FlashSpec, fifo_write_amplification};
pub use group::SimGroup;
pub use host::{Host, HostSpec, IoWait, WritePolicy};
pub use laws::{QueueAnswer, QueueLoad};
pub use link::{Link, LinkSpec, Wire};
pub use machine::{DeviceSpec, MachineSpec};
pub use memory::{MemoryDevice, MemorySpec};
pub use pace::{ServiceTimeChange, ServiceTimeScaling};
pub use processor::Processors;
pub use queue::{MODELS, Model, PARAMETERS_OF_ALL, formula};
pub use raid::{
    Array, ArrayActivity, ArrayLayout, ArrayMode, ArraySpec, ArrayState, Operations, RaidLevel,
};
pub use rt11::{
    Allocation, ENTRIES_MAX, Rt11, Rt11Spec, Rt11Work, SEGMENTS_MAX, VOLUME_BLOCKS_MAX,
    default_segments,
};
pub use shingled::{ShingledDisk, ShinglesSpec, Shingling};
pub use spec::{FileSystemSpec, SimError, SimSpec};
pub use ssd::{DeviceLimits, HeatSpec, SlcCacheSpec};
pub use station::{Served, ServiceLaw, Station};
pub use tape::{Tape, TapeSpec};
pub use transport::{
    Between, CommandSource, Transport, TransportCommand, TransportCommands, Transported,
};
pub use volume::{Volume, VolumeSpec};
