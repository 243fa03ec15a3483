//! The measurements of a study: small programs whose figures are repeated, varied and compared.
//!
//! A [`Measurement`] is made from a table of settings and measures one replicate at a time. It
//! knows nothing about factors, orders or statistics. Its files lie in a work directory of their
//! own, which is removed when the replicate ends, however it ends; `seekstone clean` finds what a
//! killed program left.

pub mod archive;
pub mod backup;
pub mod backup_simulated;
pub mod cache;
pub mod command;
pub mod copy;
pub mod copy_simulated;
pub mod fill;
pub mod fill_simulated;
pub mod ftp;
pub mod http;
pub mod kind;
pub mod made;
mod mount_guard;
pub mod net;
pub mod place;
pub mod positioning;
pub mod records;
mod s3_signature;
pub mod settings;
pub mod simulated;
pub mod store;
mod store_s3;
pub mod streams;
pub mod streams_simulated;
pub mod tcp;
pub mod transfer;

use results::Reading;

use archive::Direction;
use host::interrupt::Interrupt;
pub use kind::{Default, Kind, Setting};
pub use place::{MeasureError, Place, measured_paths};
pub use settings::{SettingFault, Settings};

/// Raised when a measurement is to end: it removes what it made, and gives no reading.
pub type Stop = Interrupt;

/// What a study measures, with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// A command of the user's.
    Command(command::Command),
    /// Writing and reading one file.
    Transfer(transfer::Transfer),
    /// Copying one file.
    Copy(copy::Copy),
    /// Opening files in a random order.
    Positioning(positioning::Positioning),
    /// Writing or reading several files at once.
    Streams(streams::Streams),
    /// Putting files into a store.
    Archive(archive::Archive),
    /// Getting files from a store.
    Retrieve(archive::Archive),
    /// Saving a tree or an image to a stream.
    Backup(backup::Backup),
    /// Writing a file system full.
    Fill(fill::Fill),
    /// Reading what may be in memory.
    Cache(cache::Cache),
    /// Pages of a web server.
    Http(http::Http),
    /// A file of an FTP server.
    Ftp(ftp::Ftp),
    /// A stream of bytes over TCP.
    Tcp(tcp::Tcp),
}

/// All kinds, in the order of their documentation.
const KINDS: &[Kind] = &[
    command::KIND,
    transfer::KIND,
    copy::KIND,
    positioning::KIND,
    streams::KIND,
    archive::ARCHIVE,
    archive::RETRIEVE,
    backup::KIND,
    fill::KIND,
    cache::KIND,
    http::KIND,
    ftp::KIND,
    tcp::KIND,
];

/// The same for whichever measurement it is.
macro_rules! each {
    ($measurement:expr, $it:ident => $what:expr) => {
        match $measurement {
            Self::Command($it) => $what,
            Self::Transfer($it) => $what,
            Self::Copy($it) => $what,
            Self::Positioning($it) => $what,
            Self::Streams($it) => $what,
            Self::Archive($it) | Self::Retrieve($it) => $what,
            Self::Backup($it) => $what,
            Self::Fill($it) => $what,
            Self::Cache($it) => $what,
            Self::Http($it) => $what,
            Self::Ftp($it) => $what,
            Self::Tcp($it) => $what,
        }
    };
}

impl Measurement {
    /// What can be measured.
    #[must_use]
    pub const fn kinds() -> &'static [Kind] {
        KINDS
    }

    /// The measurement of that kind with these settings.
    ///
    /// # Errors
    /// When there is no such kind, or a setting is unknown, missing, or has no such value.
    pub fn from_table(kind: &str, settings: &toml::Table) -> Result<Self, SettingFault> {
        let known = KINDS.iter().find(|known| known.name == kind);
        let known = known.ok_or_else(|| SettingFault::unknown_kind(kind, KINDS))?;
        let settings = &Settings::of(known, settings)?;
        Ok(match known.name {
            "command" => Self::Command(command::Command::from_settings(settings)?),
            "transfer" => Self::Transfer(transfer::Transfer::from_settings(settings)?),
            "copy" => Self::Copy(copy::Copy::from_settings(settings)?),
            "positioning" => Self::Positioning(positioning::Positioning::from_settings(settings)?),
            "streams" => Self::Streams(streams::Streams::from_settings(settings)?),
            "archive" => Self::Archive(archive::Archive::from_settings(Direction::Put, settings)?),
            "retrieve" => {
                Self::Retrieve(archive::Archive::from_settings(Direction::Get, settings)?)
            }
            "backup" => Self::Backup(backup::Backup::from_settings(settings)?),
            "fill" => Self::Fill(fill::Fill::from_settings(settings)?),
            "cache" => Self::Cache(cache::Cache::from_settings(settings)?),
            "http" => Self::Http(http::Http::from_settings(settings)?),
            "ftp" => Self::Ftp(ftp::Ftp::from_settings(settings)?),
            "tcp" => Self::Tcp(tcp::Tcp::from_settings(settings)?),
            other => unreachable!("the kind {other} has no measurement"),
        })
    }

    /// Say whether it can be measured at that place, before anything is done there.
    ///
    /// # Errors
    /// When the place does not exist, or is of the wrong kind.
    pub fn check(&self, place: &Place) -> Result<(), MeasureError> {
        each!(self, it => it.check(place))
    }

    /// Measure one replicate.
    ///
    /// # Errors
    /// When the storage or the command fails, the settings do not fit the place, or somebody
    /// stopped it. There are no readings then, and nothing of ours is left.
    pub fn measure(&self, place: &Place, stop: &Stop) -> Result<Vec<Reading>, MeasureError> {
        each!(self, it => it.measure(place, stop))
    }
}
