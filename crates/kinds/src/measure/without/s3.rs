//! Buckets of S3 servers, in a build without them.

use std::path::Path;

use units::LeftOut;

use super::place::{MeasureError, Result};
use super::store::{LeftPrefix, Store};

pub(super) const LEFT_OUT: LeftOut = LeftOut {
    ability: "S3 buckets",
    feature: "s3",
};

/// Refuse.
///
/// # Errors
/// Always.
pub fn open_bucket(_: &str, _: Option<&Path>, _: u64) -> Result<Box<dyn Store>> {
    Err(MeasureError::Usage(LEFT_OUT.to_string()))
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
    pub fn look(_: &str, _: Option<&Path>) -> Result<Self> {
        Err(MeasureError::Usage(LEFT_OUT.to_string()))
    }

    /// Refuse.
    ///
    /// # Errors
    /// Always.
    pub fn remove(&self, _: &LeftPrefix) -> Result<()> {
        Err(MeasureError::Usage(LEFT_OUT.to_string()))
    }
}
