//! The measurements of a study: small programs whose figures are repeated, varied and compared.
//!
//! A [`Measuring`] is made from a table of settings and measures one replicate at a time. It
//! knows nothing about factors, orders or statistics. Its files lie in a work directory of their
//! own, which is removed when the replicate ends, however it ends; `seekstone clean` finds what a
//! killed program left.

mod applies;
pub mod archive;
pub mod backup;
pub mod cache;
mod client_load;
pub mod command;
pub mod copy;
pub mod fill;
pub mod form;
pub mod ftp;
pub mod http;
pub mod kind;
pub mod made;
pub mod mail;
mod models;
mod mount_guard;
pub mod net;
pub mod objects;
pub mod place;
pub mod records;
#[cfg_attr(not(feature = "s3"), path = "without/s3.rs")]
pub mod s3;
pub mod settings;
mod steps;
pub mod store;
pub mod streams;
pub mod targets;
pub mod tcp;
pub mod wal;

pub use applies::Applies;
pub use form::ValueForm;
use host::interrupt::Interrupt;
pub use kind::{Default, Kind, Measured, Measuring, Setting};
pub use place::{MeasureError, ReplicateContext, measured_paths};
pub use settings::{SettingFault, Settings};
pub use targets::{TargetUse, Targets, WritePermission};

/// Raised when a measurement is to end: it removes what it made, and gives no reading.
pub type Stop = Interrupt;

/// All kinds, in the order of their documentation.
pub const KINDS: &[Kind] = &[
    command::KIND,
    crate::transfer::KIND,
    copy::KIND,
    crate::positioning::KIND,
    streams::KIND,
    archive::ARCHIVE,
    archive::RETRIEVE,
    backup::KIND,
    fill::KIND,
    cache::KIND,
    http::KIND,
    ftp::KIND,
    tcp::KIND,
    objects::KIND,
    wal::KIND,
    mail::KIND,
];

/// The kind of that name.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|known| known.name == name)
}

/// The measurement of that kind with these settings.
///
/// # Errors
/// When there is no such kind, or a setting is unknown, missing, or has no such value.
pub fn measuring(kind: &str, settings: &toml::Table) -> kind::Made {
    let known = kind_named(kind).ok_or_else(|| SettingFault::unknown_kind(kind, KINDS))?;
    let settings = Settings::of(known, settings)?;
    applies::fitted((known.make)(&settings), &settings)
}
