//! The driver seam, the event loop above it, and the recorder.
//!
//! Time and storage live behind [`Driver`]: everything here and below it is pure.

mod driver;
mod engine;
mod event_loop;
mod files;
mod follow;
mod null;
mod recorder;
mod rows;
mod stonewall;

pub use driver::{Activity, Clock, Driver, DriverError, OwnWork};
pub use engine::{BACKLOG_MAX, Engine, EngineOptions, EngineState, OnError, Outstanding};
pub use event_loop::EventLoop;
pub use files::{FileDriver, PlayEnd, Played, ProcessorTime, WRONG_DATA, play};
pub use follow::Follower;
pub use null::NullDriver;
pub use recorder::{KindRecord, KindSet, Record, Recorder, RecorderOptions, RoomWaits, Unfinished};
pub use rows::{Membership, PriorityRecord, RowKey, RowRecord, RowTimes, WINDOW};
pub use stonewall::{AtTheWall, WallPart, WalledWork};
