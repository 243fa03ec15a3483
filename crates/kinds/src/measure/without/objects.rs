//! Object stores, in a build without buckets.

use super::ObjectsMeasurement;
use crate::measure::Stop;
use crate::measure::kind::Measured;
use crate::measure::place::{MeasureError, ReplicateContext, Result};
use crate::measure::s3::LEFT_OUT;

/// Refuse.
///
/// # Errors
/// Always.
pub(super) fn check(_: &ObjectsMeasurement, _: &ReplicateContext) -> Result<()> {
    Err(MeasureError::Usage(LEFT_OUT.to_string()))
}

/// Refuse.
///
/// # Errors
/// Always.
pub(super) fn measured(
    objects: &ObjectsMeasurement,
    place: &ReplicateContext,
    _: &Stop,
) -> Result<Measured> {
    check(objects, place).map(|()| Measured::default())
}
