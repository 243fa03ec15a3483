//! Operations on test files between trials.

use drivers::Checking;
use units::Bytes;

use super::wire::HostStep;
use crate::laboratory::LaboratoryError;
use crate::storage::StorageLaboratory;

/// Takes a step on this host.
///
/// # Errors
/// If there is no space, or the system refuses.
pub(crate) fn take_step(
    local: &mut StorageLaboratory,
    step: HostStep,
) -> Result<(), LaboratoryError> {
    match step {
        HostStep::LayOut { size, cached } => local.lay_out(Bytes(size), Bytes(cached))?,
        HostStep::VerifyFromNow => local.verify_from_now(),
        HostStep::WriteRecords => local.write_for(Checking::Record),
        HostStep::ReadUnchecked => local.check_reads(None),
        HostStep::Settle => local.settle_main()?,
    }
    Ok(())
}
