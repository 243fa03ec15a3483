//! Buckets of S3 servers, in a build without them.

use std::path::Path;

use units::LeftOut;

use super::place::MeasureError;
use super::store::Store;

const LEFT_OUT: LeftOut = LeftOut {
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
