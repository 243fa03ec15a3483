//! One file over FTP (RFC 959), passive and binary.

mod control;
pub(crate) mod reply;
mod transfer;

pub use transfer::{FtpDirection, FtpOutcome, FtpPlan, transfer};
