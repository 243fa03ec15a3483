//! Virtual clients: the operations they request, and when.
//!
//! A client's stream of operations depends on the seed and its number only: not on the driver, the
//! number of workers, or timing.

mod access_zones;
mod address;
pub mod advice;
mod bandwidth;
mod block_map;
mod client;
mod content;
mod control;
mod decus;
mod definition;
mod file_op;
mod files;
mod group;
mod job_floor;
mod job_flow;
mod job_priority;
mod job_rate;
mod job_script;
mod job_spec;
mod job_terms;
mod job_walk;
mod job_zones;
mod jobs;
mod metadata;
mod mix;
mod op;
mod own;
mod threads;
mod users;

pub use access_zones::{AccessZone, ZoneSpan};
pub use address::{
    AddressError, AddressSpec, Addresses, Partition, Pattern, Region, THETA_MIN, WalkStart,
};
pub use advice::{Advice, AdviceCode, advise, advise_on_durations};
pub use bandwidth::{BandwidthPhase, BandwidthSpec, FilesShape, TransferOrder};
pub use client::{Agenda, Client, Event, UnitOfWork};
pub use content::{CHUNK_BYTES_USUAL, Content, Fill, Freshness, PATTERN_BYTES_MAX};
pub use control::{ControlSpec, ControlThread, Placement, ThreadType};
pub use decus::{
    CHUNK_BYTES, DEVICE_BLOCKS_MAX, DecusGroup, DecusOrder, DecusTest, Spacing, device_bytes_read,
    read_device, stand_in_for_device,
};
pub use definition::{BUILT_IN_WORKLOADS, WorkloadDefinition, WorkloadGroup, parse_profiles};
pub use file_op::{
    BLOCK_BYTES, DirectoryNumber, FileName, FileOp, FileOpKind, FileScript, OpenFor,
};
pub use files::{FilesClient, FilesPhase, FilesSpec};
pub use group::{AnyClient, ClientSpec, JobsSpec};
pub use job_floor::{FloorSpec, RateMiss};
pub use job_flow::{FlowSpec, JobGates};
pub use job_priority::PriorityShare;
pub use job_rate::JobRate;
pub use job_script::JobScript;
pub use job_spec::JobSpec;
pub use job_terms::{FileEnd, JobPattern, NextFile, ReadOrderHint, Trims};
pub use job_zones::StridedZones;
pub use jobs::JobClient;
pub use metadata::{DIRECTORIES_MAX, DirectoryUse, MetadataClient, MetadataPhase, MetadataSpec};
pub use mix::{FileSet, Gap, GapShape, Mix, MixClient, MixSpec, OperationSize, Pacing};
pub use op::{
    ClientId, Completion, Durability, Errno, IoPriority, Op, OpKind, Request, TargetId, Wanted,
    WriteOut,
};
pub use own::{MakeClient, OwnCounts, OwnSpec};
pub use threads::{
    ConstraintError, IO_BYTES_MAX, IOS_PER_MESSAGE_MAX, THREADS_MAX, ThreadParameters,
    check_threads,
};
pub use users::{
    CPU_UNIT_NS, LoadFactor, ProfileError, Records, USERS_MAX, UserClient, UserProfile, UsersSpec,
    check_profiles,
};
