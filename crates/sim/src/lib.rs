//! Storage in virtual time: queues with known answers, and models of hardware old and new, behind
//! the same seam as real storage.

mod catalogue;
mod cdrom;
mod definition;
mod device;
mod disk;
mod drive;
mod driver;
mod facts;
mod faults;
mod flash;
mod host;
mod link;
mod machine;
mod processor;
mod queue;
mod raid;
mod spec;
mod station;
mod tape;

pub use catalogue::{names as device_names, text as device_text};
pub use cdrom::{Cd, CdSpec};
pub use definition::{
    ArrayPart, Definition, DefinitionError, DefinitionFault, Kind, LocatedFault, Parameter,
    is_file, read as read_definition,
};
pub use device::{Action, Answer, CacheReads, Calendar, Command, Device};
pub use disk::{
    BufferSpec, Disk, DiskSpec, Layout, Order, SeekCurve, SeekInterference, Shape, ZoneSpec,
};
pub use drive::DriveLaw;
pub use driver::SimDriver;
pub use facts::Fact;
pub use faults::{Faults, Trigger};
pub use flash::{Cleaning, Content, Flash, FlashSpec, fifo_write_amplification};
pub use host::{Host, HostSpec, Waiting, WritePolicy};
pub use link::{Link, LinkSpec};
pub use machine::{DeviceSpec, MachineSpec};
pub use processor::Processors;
pub use queue::{MODELS, Model, list_models};
pub use raid::{
    Array, ArrayActivity, ArrayLayout, ArrayMode, ArraySpec, ArrayState, Level, Operations,
};
pub use spec::{SIM_PREFIX, SimError, SimSpec};
pub use station::{ServiceLaw, Station};
pub use tape::{Tape, TapeSpec};
