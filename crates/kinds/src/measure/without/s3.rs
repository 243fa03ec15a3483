//! Buckets of S3 servers, in a build without them.

use std::path::Path;

use units::LeftOut;

use super::place::MeasureError;
use super::store::Store;

pub(super) const LEFT_OUT: LeftOut = LeftOut {
    ability: "S3 buckets",
    feature: "s3",
};

/// Refuse.
///
/// # Errors
/// Always.
pub fn open_bucket(_: &str, _: Option<&Path>, _: u64) -> Result<Box<dyn Store>, MeasureError> {
    Err(MeasureError::Usage(LEFT_OUT.to_string()))
}

/// A prefix that a run has left: there is none.
#[derive(Debug)]
pub struct LeftPrefix {
    pub name: String,
    pub host: String,
    pub pid: u32,
    pub objects: u64,
    pub bytes: u64,
    pub used_by: Option<String>,
}

/// The prefixes of ours in a bucket.
pub struct BucketLeftovers {
    pub found: Vec<LeftPrefix>,
}

impl BucketLeftovers {
    /// Refuse.
    ///
    /// # Errors
    /// Always.
    pub fn look(_: &str, _: Option<&Path>) -> Result<Self, MeasureError> {
        Err(MeasureError::Usage(LEFT_OUT.to_string()))
    }

    /// Refuse.
    ///
    /// # Errors
    /// Always.
    pub fn remove(&self, _: &LeftPrefix) -> Result<(), MeasureError> {
        Err(MeasureError::Usage(LEFT_OUT.to_string()))
    }
}
